#include "../../microbench/bench.cuh"
#include "plan.hpp"

namespace ladder {

namespace {

bool clustered(const Geometry& geometry) { return geometry.cluster.x != 0; }

}  // namespace

void Plan::allow(const void* function, const Geometry& geometry) {
  CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(geometry.dynamic_smem_bytes)));
  if (clustered(geometry)) CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
}

void Plan::launch(const void* function, const Geometry& geometry, void** args, cudaStream_t stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = geometry.grid;
  config.blockDim = geometry.block;
  config.dynamicSmemBytes = geometry.dynamic_smem_bytes;
  config.stream = stream;
  cudaLaunchAttribute attribute[1];
  if (clustered(geometry)) {
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = geometry.cluster.x;
    attribute[0].val.clusterDim.y = geometry.cluster.y;
    attribute[0].val.clusterDim.z = geometry.cluster.z;
    config.attrs = attribute;
    config.numAttrs = 1;
  }
  CHECK(cudaLaunchKernelExC(&config, function, args));
}

}  // namespace ladder

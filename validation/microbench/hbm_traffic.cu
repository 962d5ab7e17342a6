// How many bytes does the memory really move? Single launches meant for ncu, in row order: 32 bytes out of every
// stride (fetch granularity), writes of F bytes into a clean L2 (dirty data that stays), reads of F bytes twice.
#include "bench.cuh"

using namespace bench;

__global__ void trafficStride(const char* p, size_t n, size_t stride, unsigned never, void* out) {
  uint4 acc = make_uint4(0, 0, 0, 0);
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n * 2; i += size_t(gridDim.x) * blockDim.x) {
    uint4 v = __ldcs(reinterpret_cast<const uint4*>(p + (i / 2) * stride + i % 2 * 16));
    acc.x ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  sink(acc, never, out);
}
// `sectors` bits choose which 32-byte sectors of each line are written.
__global__ void trafficWrite(char* p, size_t bytes, unsigned sectors) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < bytes / 16; i += size_t(gridDim.x) * blockDim.x)
    if (sectors >> (i / 2 % 4) & 1) *reinterpret_cast<uint4*>(p + i * 16) = make_uint4(1, 2, 3, unsigned(i));
}
__global__ void trafficRead(const char* p, size_t bytes, unsigned never, void* out) {
  uint4 acc = make_uint4(0, 0, 0, 0);
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < bytes / 16; i += size_t(gridDim.x) * blockDim.x) {
    uint4 v = *reinterpret_cast<const uint4*>(p + i * 16);
    acc.x ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  sink(acc, never, out);
}
__global__ void clean(const char* p, size_t bytes, unsigned never, void* out) {
  uint4 acc = make_uint4(0, 0, 0, 0);
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < bytes / 16; i += size_t(gridDim.x) * blockDim.x) {
    uint4 v = *reinterpret_cast<const uint4*>(p + i * 16);
    acc.x ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  sink(acc, never, out);
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "hbm_traffic");
  char* data = nullptr;
  CHECK(cudaMalloc(&data, 4 * GiB));
  char* other = data + 3 * GiB;
  const int grid = smCount() * 4;
  auto done = [&](const std::string& series, double x, const char* unit, double bytes) {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    r.add(series, x, unit, {bytes}, "B asked", 1);
  };
  auto wash = [&] {  // 512 MiB read: everything dirty has left
    clean<<<grid, 512>>>(other, 512 * MiB, 0, other);
    CHECK(cudaGetLastError());
  };
  for (size_t stride : {32, 64, 96, 128, 160, 192, 256, 512, 1024, 2048, 4096, 8192}) {
    wash();
    size_t n = std::min<size_t>(2 * GiB / stride, 2 * MiB);
    trafficStride<<<grid, 512>>>(data, n, stride, 0, other);
    done("stride", double(stride), "B", double(n) * 32);
  }
  for (size_t mib : {1, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 256}) {
    wash();
    trafficWrite<<<grid, 512>>>(data, mib * MiB, 15);
    done("write_clean", double(mib), "MiB", double(mib * MiB));
  }
  for (unsigned sectors : {1, 3, 5, 7}) {
    wash();
    trafficWrite<<<grid, 512>>>(data, 256 * MiB, sectors);
    done("write_sectors_mask", sectors, "mask", 64.0 * MiB * __builtin_popcount(sectors));
  }
  for (size_t mib : {4, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56, 64, 96}) {
    wash();
    trafficRead<<<grid, 512>>>(data, mib * MiB, 0, other);
    done("read_first", double(mib), "MiB", double(mib * MiB));
    trafficRead<<<grid, 512>>>(data, mib * MiB, 0, other);
    done("read_second", double(mib), "MiB", double(mib * MiB));
    trafficRead<<<grid, 512>>>(data, mib * MiB, 0, other);
    done("read_third", double(mib), "MiB", double(mib * MiB));
  }
  CHECK(cudaFree(data));
  return 0;
}

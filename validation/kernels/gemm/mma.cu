// Rung 4: mma.sync fed by a ring of cp.async stages: what the best kernels before Hopper do.
//
// Teaches: deep asynchronous copies, swizzled shared memory and ldmatrix. The mainloop is in mma_tile.cuh.
#include "gemm.hpp"
#include "layout.hpp"
#include "mma_tile.cuh"
#include "problem.hpp"

namespace ladder {

namespace {

using mma_tile::kTile;

template <class Layout, class T>
__device__ __forceinline__ void gemm_mma(const GemmArgs<T, T>& p) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const int m0 = blockIdx.y * kTile, n0 = blockIdx.x * kTile;
  mma_tile::Sums sum;
  mma_tile::multiply_tile<Layout, T>(
      sum, {p.a, p.b, Layout::kAKContiguous ? p.k : p.m, Layout::kBKContiguous ? p.k : p.n, m0, n0, p.m, p.n, 0, p.k},
      shared_address(shared));
  mma_tile::store_tile<T>(sum, {p.d, p.c, p.n, m0, n0, p.m, p.n, p.alpha, p.beta}, shared);
}

}  // namespace

#define MMA(suffix, Layout, type, T)                                      \
  extern "C" __global__ void __launch_bounds__(mma_tile::kThreads, 2)     \
      strata_gemm_mma_128x128x64_3s_##type##_##suffix(GemmArgs<T, T> p) { \
    gemm_mma<Layout, T>(p);                                               \
  }
STRATA_FOR_LAYOUTS(MMA, f16, __half)
STRATA_FOR_LAYOUTS(MMA, bf16, __nv_bfloat16)

void add_gemm_mma(Catalogue& catalogue) {
  GemmKind kind;
  kind.align = 8;
  kind.teaches = "mma.sync fed by three stages of cp.async through swizzled shared memory";
#define ADD(suffix, Layout, type, T)                                                              \
  kind.layout = Layout::kName;                                                                    \
  kind.add_launches = [](const Shape&, const GemmCase& c, Problem& problem) {                     \
    const dim3 grid(ceil_div(int(c.n), kTile), ceil_div(int(c.m), kTile));                        \
    require(grid.y < 65536, "too many rows of tiles for a grid");                                 \
    STRATA_ADD(problem.plan, strata_gemm_mma_128x128x64_3s_##type##_##suffix,                     \
               Geometry{grid, dim3(mma_tile::kThreads), mma_tile::kSharedBytes}, c.args<T, T>()); \
  };                                                                                              \
  catalogue.push_back(gemm_kernel("strata_gemm_mma_128x128x64_3s_" #type "_" #suffix, kind));
  kind.input = kind.output = Type::f16;
  STRATA_FOR_LAYOUTS(ADD, f16, __half)
  kind.input = kind.output = Type::bf16;
  STRATA_FOR_LAYOUTS(ADD, bf16, __nv_bfloat16)
#undef ADD
}

}  // namespace ladder

// Rung 0: one thread per element of D, operands straight from global memory.
//
// Teaches: what coalescing is worth. In `naive` the 16 threads of a half-warp take neighbouring columns; in
// `naive_strided` neighbouring rows, so that every store and one of the two loads touches a sector per thread.
#include "gemm.hpp"
#include "layout.hpp"
#include "problem.hpp"

namespace ladder {

namespace {

constexpr int kSide = 16;

template <class Layout, bool COALESCED>
__device__ __forceinline__ void gemm_naive(const GemmArgs<float, float>& p) {
  const int x = blockIdx.x * kSide + threadIdx.x, y = blockIdx.y * kSide + threadIdx.y;
  const int row = COALESCED ? y : x, col = COALESCED ? x : y;
  if (row >= p.m || col >= p.n) return;
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < p.k; ++k) {
    const float a = Layout::kAKContiguous ? p.a[size_t(row) * p.k + k] : p.a[size_t(k) * p.m + row];
    const float b = Layout::kBKContiguous ? p.b[size_t(col) * p.k + k] : p.b[size_t(k) * p.n + col];
    sum += a * b;
  }
  const size_t i = size_t(row) * p.n + col;
  p.d[i] = p.alpha * sum + (p.beta != 0 ? p.beta * p.c[i] : 0.0f);
}

}  // namespace

#define NAIVE(suffix, Layout, variant, coalesced)                            \
  extern "C" __global__ void __launch_bounds__(kSide* kSide)                 \
      strata_gemm_##variant##_16x16_f32_##suffix(GemmArgs<float, float> p) { \
    gemm_naive<Layout, coalesced>(p);                                        \
  }
STRATA_FOR_LAYOUTS(NAIVE, naive, true)
STRATA_FOR_LAYOUTS(NAIVE, naive_strided, false)

void add_gemm_naive(Catalogue& catalogue) {
  GemmKind kind;
#define ADD(suffix, Layout, variant, coalesced)                                                              \
  kind.layout = Layout::kName;                                                                               \
  kind.add_launches = [](const Shape&, const GemmCase& c, Problem& problem) {                                \
    const int rows = ceil_div(int(c.m), kSide), cols = ceil_div(int(c.n), kSide);                            \
    const dim3 grid = coalesced ? dim3(cols, rows) : dim3(rows, cols);                                       \
    require(grid.y < 65536, "too many rows of tiles for a grid");                                            \
    STRATA_ADD(problem.plan, strata_gemm_##variant##_16x16_f32_##suffix, Geometry{grid, dim3(kSide, kSide)}, \
               c.args<float, float>());                                                                      \
  };                                                                                                         \
  catalogue.push_back(gemm_kernel("strata_gemm_" #variant "_16x16_f32_" #suffix, kind));
  kind.teaches = "one thread per element, neighbouring threads in neighbouring rows: a sector per thread";
  STRATA_FOR_LAYOUTS(ADD, naive_strided, false)
  kind.teaches = "one thread per element, neighbouring threads in neighbouring columns";
  STRATA_FOR_LAYOUTS(ADD, naive, true)
#undef ADD
}

}  // namespace ladder

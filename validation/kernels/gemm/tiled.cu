// Rung 1: 32 x 32 tiles of both operands in shared memory, one thread per element of D.
//
// Teaches: reuse. Each element comes from global memory once per 32 uses; both loads are coalesced in every layout
// because the tile is turned on its way into shared memory. `p1` pads the rows by one word, `p0` does not: where a tile
// is turned, its stores then hit one bank 32 times.
#include "gemm.hpp"
#include "layout.hpp"
#include "problem.hpp"

namespace ladder {

namespace {

constexpr int kSide = 32;

/// Stores element (threadIdx.y, threadIdx.x) of a tile of `matrix`, zero beyond the edge. The matrix has `rows` rows of
/// `cols` contiguous elements; `turn` swaps the two tile indices.
template <bool TURN, int PITCH>
__device__ __forceinline__ void load_tile(float (&tile)[kSide][PITCH], const float* matrix, int rows, int cols,
                                          int row0, int col0) {
  const int row = row0 + threadIdx.y, col = col0 + threadIdx.x;
  const float value = row < rows && col < cols ? matrix[size_t(row) * cols + col] : 0.0f;
  if (TURN)
    tile[threadIdx.x][threadIdx.y] = value;
  else
    tile[threadIdx.y][threadIdx.x] = value;
}

template <class Layout, int PAD>
__device__ __forceinline__ void gemm_tiled(const GemmArgs<float, float>& p) {
  __shared__ float a[kSide][kSide + PAD];  // [m][k]
  __shared__ float b[kSide][kSide + PAD];  // [k][n]
  const int m0 = blockIdx.y * kSide, n0 = blockIdx.x * kSide;
  float sum = 0;
  for (int k0 = 0; k0 < p.k; k0 += kSide) {
    if constexpr (Layout::kAKContiguous)
      load_tile<false>(a, p.a, p.m, p.k, m0, k0);
    else
      load_tile<true>(a, p.a, p.k, p.m, k0, m0);
    if constexpr (Layout::kBKContiguous)
      load_tile<true>(b, p.b, p.n, p.k, n0, k0);
    else
      load_tile<false>(b, p.b, p.k, p.n, k0, n0);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kSide; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
    __syncthreads();
  }
  const int row = m0 + threadIdx.y, col = n0 + threadIdx.x;
  if (row >= p.m || col >= p.n) return;
  const size_t i = size_t(row) * p.n + col;
  p.d[i] = p.alpha * sum + (p.beta != 0 ? p.beta * p.c[i] : 0.0f);
}

}  // namespace

#define TILED(suffix, Layout, pad)                                                 \
  extern "C" __global__ void __launch_bounds__(kSide* kSide)                       \
      strata_gemm_tiled_32x32x32_p##pad##_f32_##suffix(GemmArgs<float, float> p) { \
    gemm_tiled<Layout, pad>(p);                                                    \
  }
STRATA_FOR_LAYOUTS(TILED, 0)
STRATA_FOR_LAYOUTS(TILED, 1)

void add_gemm_tiled(Catalogue& catalogue) {
  GemmKind kind;
#define ADD(suffix, Layout, pad)                                                                                   \
  kind.layout = Layout::kName;                                                                                     \
  kind.add_launches = [](const Shape&, const GemmCase& c, Problem& problem) {                                      \
    const dim3 grid(ceil_div(int(c.n), kSide), ceil_div(int(c.m), kSide));                                         \
    require(grid.y < 65536, "too many rows of tiles for a grid");                                                  \
    STRATA_ADD(problem.plan, strata_gemm_tiled_32x32x32_p##pad##_f32_##suffix, Geometry{grid, dim3(kSide, kSide)}, \
               c.args<float, float>());                                                                            \
  };                                                                                                               \
  catalogue.push_back(gemm_kernel("strata_gemm_tiled_32x32x32_p" #pad "_f32_" #suffix, kind));
  kind.teaches = "32x32 tiles in shared memory, unpadded: a turned tile is stored with 32-way bank conflicts";
  STRATA_FOR_LAYOUTS(ADD, 0)
  kind.teaches = "32x32 tiles in shared memory, rows padded by a word: no bank conflicts";
  STRATA_FOR_LAYOUTS(ADD, 1)
#undef ADD
}

}  // namespace ladder

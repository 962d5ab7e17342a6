// Rung 2: 128 x 128 x 32 tiles, 8 x 8 elements of D in each thread's registers, fp32.
//
// Teaches: register tiling (16 words read from shared memory feed 64 multiply-adds) and double buffering: `sb` waits
// for each tile, `db` copies the next tile while it computes on this one. Copies are cp.async, so they need no
// registers.
//
// A warp computes 32 x 64: lane (y, x) = (lane / 8, lane % 8) holds rows 4 y + {0..3} and 16 more, columns 4 x + {0..3}
// and 32 more. Tiles lie in shared memory as [k][m] and [k][n], rows padded by 4 words to 132: fragments are read 16
// bytes at a time, and an operand with K contiguous is turned without conflicts (8 k x 4 m a warp: banks 4 k + m).
// al4: an operand whose M or N is contiguous is copied 16 bytes at a time; al1: 4 bytes, any size. An operand with K
// contiguous is always copied 4 bytes at a time, as it is turned.
#include "../common/async_copy.cuh"
#include "gemm.hpp"
#include "layout.hpp"
#include "problem.hpp"

namespace ladder {

namespace {

constexpr int kTile = 128, kDepth = 32, kThreads = 256;
constexpr int kPitch = kTile + 4;               // words
constexpr int kOperandWords = kDepth * kPitch;  // one operand, one buffer
constexpr int kLanesK = 8, kLanesMn = 4;        // of a warp that turns a tile
constexpr int kBufferBytes = 2 * kOperandWords * int(sizeof(float));

/// Copies a 32 (k) x 128 tile into [k][mn]. `mn_count` and `k_count` are the matrix's; beyond them zeros are written.
/// WHOLE: the tile ends before k_count, so that only rows or columns need a test, the same for every tile.
template <bool K_CONTIGUOUS, int ALIGN, bool WHOLE>
__device__ __forceinline__ void copy_tile(uint32_t dst, const float* matrix, int mn_count, int k_count, int mn0,
                                          int k0) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  auto copy = [&](auto bytes, const float* from, int k, int mn, bool inside) {
    const bool valid = inside && (WHOLE || k0 + k < k_count);
    copy_async<decltype(bytes)::value>(dst + uint32_t(k * kPitch + mn) * 4, WHOLE || valid ? from : matrix, valid);
  };
  if constexpr (K_CONTIGUOUS) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int mn = warp * 16 + i * kLanesMn + lane / kLanesK, k = lane % kLanesK;
      const bool inside = mn0 + mn < mn_count;
      const float* from = matrix + size_t(inside ? mn0 + mn : 0) * k_count + k0 + k;
#pragma unroll
      for (int j = 0; j < kDepth / kLanesK; ++j)
        copy(std::integral_constant<int, 4>(), from + j * kLanesK, k + j * kLanesK, mn, inside);
    }
  } else {
    constexpr int kWarpsARow = ALIGN == 4 ? 1 : 4, kRowsAtOnce = kThreads / 32 / kWarpsARow;
    const int mn = (warp % kWarpsARow * 32 + lane) * ALIGN, k = warp / kWarpsARow;
    const bool inside = mn0 + mn < mn_count;
    const float* from = matrix + size_t(k0 + k) * mn_count + (inside ? mn0 + mn : 0);
#pragma unroll
    for (int i = 0; i < kDepth / kRowsAtOnce; ++i)
      copy(std::integral_constant<int, 4 * ALIGN>(), from + size_t(i * kRowsAtOnce) * mn_count, k + i * kRowsAtOnce, mn,
           inside);
  }
}

struct Fragment {
  float v[8];
};

/// Four words at `row` and four at `row + apart`.
__device__ __forceinline__ Fragment read_fragment(const float* row, int apart) {
  Fragment f;
  *reinterpret_cast<float4*>(f.v) = *reinterpret_cast<const float4*>(row);
  *reinterpret_cast<float4*>(f.v + 4) = *reinterpret_cast<const float4*>(row + apart);
  return f;
}

__device__ __forceinline__ void multiply_tile(float (&sum)[8][8], const float* a, const float* b) {
#pragma unroll 8
  for (int k = 0; k < kDepth; ++k) {
    const Fragment fa = read_fragment(a + k * kPitch, 16), fb = read_fragment(b + k * kPitch, 32);
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j) sum[i][j] += fa.v[i] * fb.v[j];
  }
}

__device__ __forceinline__ void store_four(const GemmArgs<float, float>& p, int row, int col, const float* sum) {
  const size_t at = size_t(row) * p.n + col;
  if (p.n % 4 == 0) {
    float4 v = make_float4(p.alpha * sum[0], p.alpha * sum[1], p.alpha * sum[2], p.alpha * sum[3]);
    if (p.beta != 0) {
      const float4 c = *reinterpret_cast<const float4*>(p.c + at);
      v = make_float4(v.x + p.beta * c.x, v.y + p.beta * c.y, v.z + p.beta * c.z, v.w + p.beta * c.w);
    }
    *reinterpret_cast<float4*>(p.d + at) = v;
    return;
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (col + j < p.n) p.d[at + j] = p.alpha * sum[j] + (p.beta != 0 ? p.beta * p.c[at + j] : 0.0f);
}

template <class Layout, bool DOUBLE, int ALIGN>
__device__ __forceinline__ void gemm_simt(const GemmArgs<float, float>& p) {
  extern __shared__ float4 shared[];
  float* buffers = reinterpret_cast<float*>(shared);
  const int m0 = blockIdx.y * kTile, n0 = blockIdx.x * kTile;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = warp / 2 * 32 + lane / 8 * 4, col = warp % 2 * 64 + lane % 8 * 4;
  const int tiles = ceil_div(p.k, kDepth);

  auto copy = [&](int tile) {
    const uint32_t a = shared_address(buffers + (DOUBLE ? tile % 2 : 0) * 2 * kOperandWords), b = a + kOperandWords * 4;
    const int k0 = tile * kDepth;
    if (k0 + kDepth <= p.k) {
      copy_tile<Layout::kAKContiguous, ALIGN, true>(a, p.a, p.m, p.k, m0, k0);
      copy_tile<Layout::kBKContiguous, ALIGN, true>(b, p.b, p.n, p.k, n0, k0);
    } else {
      copy_tile<Layout::kAKContiguous, ALIGN, false>(a, p.a, p.m, p.k, m0, k0);
      copy_tile<Layout::kBKContiguous, ALIGN, false>(b, p.b, p.n, p.k, n0, k0);
    }
    copy_commit();
  };

  float sum[8][8] = {};
  copy(0);
  for (int tile = 0; tile < tiles; ++tile) {
    copy_wait<0>();
    __syncthreads();  // the tile is there, and everyone has left the buffer that the next copy overwrites
    if (DOUBLE && tile + 1 < tiles) copy(tile + 1);
    const float* a = buffers + (DOUBLE ? tile % 2 : 0) * 2 * kOperandWords;
    multiply_tile(sum, a + row, a + kOperandWords + col);
    if (!DOUBLE && tile + 1 < tiles) {
      __syncthreads();
      copy(tile + 1);
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int r = m0 + row + i / 4 * 16 + i % 4;
    if (r >= p.m) continue;
#pragma unroll
    for (int j = 0; j < 2; ++j)
      if (n0 + col + j * 32 < p.n) store_four(p, r, n0 + col + j * 32, &sum[i][j * 4]);
  }
}

}  // namespace

#define SIMT(suffix, Layout, buffer, twice, align)                                                    \
  extern "C" __global__ void __launch_bounds__(kThreads, 2)                                           \
      strata_gemm_simt_128x128x32_8x8_##buffer##_al##align##_f32_##suffix(GemmArgs<float, float> p) { \
    gemm_simt<Layout, twice, align>(p);                                                               \
  }
// TN turns both operands, so it has no 16-byte copies to align.
#define SIMT_ALIGNED(X, buffer, twice) \
  X(nn, LayoutNn, buffer, twice, 4) X(nt, LayoutNt, buffer, twice, 4) X(tt, LayoutTt, buffer, twice, 4)
SIMT_ALIGNED(SIMT, sb, false)
SIMT_ALIGNED(SIMT, db, true)
STRATA_FOR_LAYOUTS(SIMT, sb, false, 1)
STRATA_FOR_LAYOUTS(SIMT, db, true, 1)

void add_gemm_simt(Catalogue& catalogue) {
  GemmKind kind;
#define ADD(suffix, Layout, buffer, twice, alignment)                                                           \
  kind.layout = Layout::kName;                                                                                  \
  kind.align = alignment;                                                                                       \
  kind.align_d = false;                                                                                         \
  kind.add_launches = [](const Shape&, const GemmCase& c, Problem& problem) {                                   \
    const dim3 grid(ceil_div(int(c.n), kTile), ceil_div(int(c.m), kTile));                                      \
    require(grid.y < 65536, "too many rows of tiles for a grid");                                               \
    STRATA_ADD(problem.plan, strata_gemm_simt_128x128x32_8x8_##buffer##_al##alignment##_f32_##suffix,           \
               Geometry{grid, dim3(kThreads), size_t(kBufferBytes) * (twice ? 2 : 1)}, c.args<float, float>()); \
  };                                                                                                            \
  catalogue.push_back(gemm_kernel("strata_gemm_simt_128x128x32_8x8_" #buffer "_al" #alignment "_f32_" #suffix, kind));
  kind.teaches = "8x8 elements a thread, one buffer: the copy of a tile and the work on it take turns";
  SIMT_ALIGNED(ADD, sb, false)
  STRATA_FOR_LAYOUTS(ADD, sb, false, 1)
  kind.teaches = "8x8 elements a thread, two buffers: the next tile is copied while this one is worked on";
  SIMT_ALIGNED(ADD, db, true)
  STRATA_FOR_LAYOUTS(ADD, db, true, 1)
#undef ADD
}

}  // namespace ladder

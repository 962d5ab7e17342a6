// Rung 3: the WMMA interface to the tensor cores, fp16 and bf16 (fp32 sums) and int8 (int32 sums).
//
// Teaches: tensor cores with a portable interface. 128 x 128 tiles, depth 32 (int8: 64), eight warps of 32 x 64, that
// is 2 x 4 fragments of 16 x 16. The next tile waits in registers while this one is multiplied. Rows in shared memory
// are padded by 16 bytes. Sums leave through a 16 x 16 patch in shared memory, because a fragment's layout is not
// defined.
#include <mma.h>

#include "../common/convert.cuh"
#include "gemm.hpp"
#include "layout.hpp"
#include "problem.hpp"

namespace ladder {

namespace {

using nvcuda::wmma::fragment;

constexpr int kTile = 128, kThreads = 256, kSide = 16, kPatchPitch = kSide + 4;

template <class In>
constexpr int kDepth = 64 / int(sizeof(In));  // 64-byte rows: 32 or 64
template <class In>
constexpr int kLanes = 16 / int(sizeof(In));  // elements in 16 bytes

/// One operand's tile in shared memory: rows of the contiguous dimension, padded by 16 bytes.
template <class In, bool K_CONTIGUOUS>
struct TileShape {
  static constexpr int kRows = K_CONTIGUOUS ? kTile : kDepth<In>;
  static constexpr int kCols = K_CONTIGUOUS ? kDepth<In> : kTile;
  static constexpr int kPitch = kCols + kLanes<In>;
  static constexpr int kVectorsPerRow = kCols / kLanes<In>;
  static constexpr int kVectors = kRows * kVectorsPerRow / kThreads;  // of one thread
};

template <class In, bool K_CONTIGUOUS>
struct Prefetch {
  using Tile = TileShape<In, K_CONTIGUOUS>;
  uint4 v[Tile::kVectors];

  __device__ __forceinline__ void load(const In* matrix, int rows, int cols, int row0, int col0) {
#pragma unroll
    for (int i = 0; i < Tile::kVectors; ++i) {
      const int at = i * kThreads + threadIdx.x;
      const int row = row0 + at / Tile::kVectorsPerRow, col = col0 + at % Tile::kVectorsPerRow * kLanes<In>;
      v[i] = row < rows && col < cols ? *reinterpret_cast<const uint4*>(matrix + size_t(row) * cols + col) : uint4{};
    }
  }
  __device__ __forceinline__ void store(In* tile) const {
#pragma unroll
    for (int i = 0; i < Tile::kVectors; ++i) {
      const int at = i * kThreads + threadIdx.x;
      *reinterpret_cast<uint4*>(tile + at / Tile::kVectorsPerRow * Tile::kPitch +
                                at % Tile::kVectorsPerRow * kLanes<In>) = v[i];
    }
  }
};

/// Eight sums of a patch's row to global memory, converted.
template <class In, class Out, class Sum>
__device__ __forceinline__ void store_eight(const GemmArgs<In, Out>& p, int row, int col, const Sum* sum) {
  if (row >= p.m || col >= p.n) return;
  const size_t at = size_t(row) * p.n + col;
  constexpr int kWide = 16 / int(sizeof(Out));
#pragma unroll
  for (int part = 0; part < 8 / kWide; ++part) {
    Vector<Out, kWide> out;
    Vector<Out, kWide> c = {};
    if constexpr (!std::is_same_v<Out, int32_t>)
      if (p.beta != 0) c = *reinterpret_cast<const Vector<Out, kWide>*>(p.c + at + part * kWide);
#pragma unroll
    for (int i = 0; i < kWide; ++i) {
      if constexpr (std::is_same_v<Out, int32_t>)
        out.v[i] = sum[part * kWide + i];
      else
        out.v[i] = from_float<Out>(p.alpha * sum[part * kWide + i] + p.beta * to_float(c.v[i]));
    }
    *reinterpret_cast<Vector<Out, kWide>*>(p.d + at + part * kWide) = out;
  }
}

template <class Layout, class In, class Out, class Sum>
__device__ __forceinline__ void gemm_wmma(const GemmArgs<In, Out>& p) {
  using TileA = TileShape<In, Layout::kAKContiguous>;
  using TileB = TileShape<In, Layout::kBKContiguous>;
  using OrderA = std::conditional_t<Layout::kAKContiguous, nvcuda::wmma::row_major, nvcuda::wmma::col_major>;
  using OrderB = std::conditional_t<Layout::kBKContiguous, nvcuda::wmma::col_major, nvcuda::wmma::row_major>;
  __shared__ __align__(128) In a[TileA::kRows * TileA::kPitch];
  __shared__ __align__(128) In b[TileB::kRows * TileB::kPitch];
  __shared__ __align__(128) Sum patches[kThreads / 32][kSide * kPatchPitch];
  const int m0 = blockIdx.y * kTile, n0 = blockIdx.x * kTile;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_m = warp / 2 * 32, warp_n = warp % 2 * 64;

  Prefetch<In, Layout::kAKContiguous> next_a;
  Prefetch<In, Layout::kBKContiguous> next_b;
  auto load = [&](int k0) {
    if constexpr (Layout::kAKContiguous)
      next_a.load(p.a, p.m, p.k, m0, k0);
    else
      next_a.load(p.a, p.k, p.m, k0, m0);
    if constexpr (Layout::kBKContiguous)
      next_b.load(p.b, p.n, p.k, n0, k0);
    else
      next_b.load(p.b, p.k, p.n, k0, n0);
  };

  fragment<nvcuda::wmma::accumulator, kSide, kSide, kSide, Sum> sum[2][4];
#pragma unroll
  for (auto& row : sum)
#pragma unroll
    for (auto& f : row) nvcuda::wmma::fill_fragment(f, Sum(0));

  load(0);
  for (int k0 = 0; k0 < p.k; k0 += kDepth<In>) {
    next_a.store(a);
    next_b.store(b);
    __syncthreads();
    if (k0 + kDepth<In> < p.k) load(k0 + kDepth<In>);
#pragma unroll
    for (int k = 0; k < kDepth<In>; k += kSide) {
      fragment<nvcuda::wmma::matrix_a, kSide, kSide, kSide, In, OrderA> fa[2];
      fragment<nvcuda::wmma::matrix_b, kSide, kSide, kSide, In, OrderB> fb[4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int m = warp_m + i * kSide;
        nvcuda::wmma::load_matrix_sync(
            fa[i], a + (Layout::kAKContiguous ? m * TileA::kPitch + k : k * TileA::kPitch + m), TileA::kPitch);
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int n = warp_n + j * kSide;
        nvcuda::wmma::load_matrix_sync(
            fb[j], b + (Layout::kBKContiguous ? n * TileB::kPitch + k : k * TileB::kPitch + n), TileB::kPitch);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) nvcuda::wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      nvcuda::wmma::store_matrix_sync(patches[warp], sum[i][j], kPatchPitch, nvcuda::wmma::mem_row_major);
      __syncwarp();
      store_eight(p, m0 + warp_m + i * kSide + lane / 2, n0 + warp_n + j * kSide + lane % 2 * 8,
                  patches[warp] + lane / 2 * kPatchPitch + lane % 2 * 8);
      __syncwarp();
    }
}

}  // namespace

#define WMMA(suffix, Layout, depth, type, In, Out, Sum)                           \
  extern "C" __global__ void __launch_bounds__(kThreads, 2)                       \
      strata_gemm_wmma_128x128x##depth##_##type##_##suffix(GemmArgs<In, Out> p) { \
    gemm_wmma<Layout, In, Out, Sum>(p);                                           \
  }
STRATA_FOR_LAYOUTS(WMMA, 32, f16, __half, __half, float)
STRATA_FOR_LAYOUTS(WMMA, 32, bf16, __nv_bfloat16, __nv_bfloat16, float)
STRATA_FOR_LAYOUTS(WMMA, 64, s8, signed char, int32_t, int32_t)

void add_gemm_wmma(Catalogue& catalogue) {
  GemmKind kind;
#define ADD(suffix, Layout, depth, type, In, Out, Sum)                                                             \
  kind.layout = Layout::kName;                                                                                     \
  kind.add_launches = [](const Shape&, const GemmCase& c, Problem& problem) {                                      \
    const dim3 grid(ceil_div(int(c.n), kTile), ceil_div(int(c.m), kTile));                                         \
    require(grid.y < 65536, "too many rows of tiles for a grid");                                                  \
    STRATA_ADD(problem.plan, strata_gemm_wmma_128x128x##depth##_##type##_##suffix, Geometry{grid, dim3(kThreads)}, \
               c.args<In, Out>());                                                                                 \
  };                                                                                                               \
  catalogue.push_back(gemm_kernel("strata_gemm_wmma_128x128x" #depth "_" #type "_" #suffix, kind));
  kind.align = 8;
  kind.teaches = "tensor cores through WMMA fragments of 16x16x16";
  kind.input = kind.output = Type::f16;
  STRATA_FOR_LAYOUTS(ADD, 32, f16, __half, __half, float)
  kind.input = kind.output = Type::bf16;
  STRATA_FOR_LAYOUTS(ADD, 32, bf16, __nv_bfloat16, __nv_bfloat16, float)
  kind.align = 16;
  kind.takes_alpha_beta = false;
  kind.teaches = "8-bit integers through WMMA: half the bytes, exact sums";
  kind.input = Type::s8;
  kind.output = Type::s32;
  STRATA_FOR_LAYOUTS(ADD, 64, s8, signed char, int32_t, int32_t)
#undef ADD
}

}  // namespace ladder

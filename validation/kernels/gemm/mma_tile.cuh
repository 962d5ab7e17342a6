// The mainloop that the mma.sync rungs share: one 128 x 128 tile, depth 64, three stages of cp.async.
//
// Eight warps of 64 x 32. Operands lie in shared memory as they do in global memory, in rows of 128 bytes (K
// contiguous: [mn][64 k]) or 256 bytes ([64 k][128 mn]); 16-byte piece c of row r is kept at c ^ (r % 8), so that
// cp.async writes and ldmatrix reads are free of conflicts. ldmatrix turns an operand whose M or N is contiguous.
#pragma once

#include "../common/async_copy.cuh"
#include "../common/convert.cuh"
#include "args.cuh"

namespace ladder::mma_tile {

constexpr int kTile = 128, kDepth = 64, kStages = 3, kThreads = 256, kPiece = 8;  // a piece: 8 elements, 16 bytes
constexpr int kOperandBytes = kTile * kDepth * 2, kStageBytes = 2 * kOperandBytes, kSharedBytes = kStages * kStageBytes;
constexpr int kWarpM = 64, kWarpN = 32, kFragmentsM = kWarpM / 16, kFragmentsN = kWarpN / 8;

template <bool K_CONTIGUOUS>
__device__ __forceinline__ uint32_t piece_offset(int row, int piece) {
  constexpr int kRowBytes = K_CONTIGUOUS ? kDepth * 2 : kTile * 2;
  return uint32_t(row) * kRowBytes + uint32_t(piece ^ (row & 7)) * 16;
}

/// Copies one operand's tile; `mn_end` and `k_end` bound it, beyond them zeros are written. `pitch` = elements a row.
template <bool K_CONTIGUOUS, class T>
__device__ __forceinline__ void copy_operand(uint32_t dst, const T* matrix, int pitch, int mn_end, int k_end, int mn0,
                                             int k0) {
  constexpr int kPieces = (K_CONTIGUOUS ? kDepth : kTile) / kPiece;  // of a row
  const int row0 = K_CONTIGUOUS ? mn0 : k0, col0 = K_CONTIGUOUS ? k0 : mn0;
  const int row_end = K_CONTIGUOUS ? mn_end : k_end, col_end = K_CONTIGUOUS ? k_end : mn_end;
#pragma unroll
  for (int i = 0; i < kTile * kDepth / kPiece / kThreads; ++i) {
    const int at = i * kThreads + threadIdx.x, row = at / kPieces, piece = at % kPieces;
    const bool valid = row0 + row < row_end && col0 + piece * kPiece < col_end;
    const T* src = valid ? matrix + size_t(row0 + row) * pitch + col0 + piece * kPiece : matrix;
    copy_async<16>(dst + piece_offset<K_CONTIGUOUS>(row, piece), src, valid);
  }
}

template <bool TURN>
__device__ __forceinline__ void load_matrices(uint32_t (&r)[4], uint32_t address) {
  if constexpr (TURN) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
  }
}

/// A fragment of 16 (m) x 16 (k): matrices in the order (m, k) (m + 8, k) (m, k + 8) (m + 8, k + 8).
template <bool K_CONTIGUOUS>
__device__ __forceinline__ void load_a(uint32_t (&r)[4], uint32_t tile, int m, int k, int lane) {
  if constexpr (K_CONTIGUOUS)
    load_matrices<false>(r, tile + piece_offset<true>(m + lane % 16, k / 8 + lane / 16));
  else
    load_matrices<true>(r, tile + piece_offset<false>(k + lane / 16 * 8 + lane % 8, m / 8 + lane / 8 % 2));
}

/// Two fragments of 16 (k) x 8 (n): matrices in the order (n, k) (n, k + 8) (n + 8, k) (n + 8, k + 8).
template <bool K_CONTIGUOUS>
__device__ __forceinline__ void load_b(uint32_t (&r)[4], uint32_t tile, int n, int k, int lane) {
  if constexpr (K_CONTIGUOUS)
    load_matrices<false>(r, tile + piece_offset<true>(n + lane / 16 * 8 + lane % 8, k / 8 + lane / 8 % 2));
  else
    load_matrices<true>(r, tile + piece_offset<false>(k + lane / 8 % 2 * 8 + lane % 8, n / 8 + lane / 16));
}

template <class T>
__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  if constexpr (std::is_same_v<T, __half>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

/// The warp's sums: fragment (i, j) covers rows warp_m + 16 i and columns warp_n + 8 j.
struct Sums {
  float v[kFragmentsM][kFragmentsN][4];
};

/// Where a warp's part of the tile begins.
__device__ __forceinline__ int warp_m() { return int(threadIdx.x) / 32 % 2 * kWarpM; }
__device__ __forceinline__ int warp_n() { return int(threadIdx.x) / 64 * kWarpN; }

/// The operands of one tile: A's rows m0.. of `m_end`, B's columns n0.. of `n_end`, depth k_begin to k_end.
template <class T>
struct Operands {
  const T *a, *b;
  int a_pitch, b_pitch;
  int m0, n0, m_end, n_end, k_begin, k_end;
};

/// sum = A B over [k_begin, k_end). All of the CTA calls it; every copy has arrived and every read is done at the
/// return.
template <class Layout, class T>
__device__ __forceinline__ void multiply_tile(Sums& sum, const Operands<T>& p, uint32_t shared) {
  const int lane = threadIdx.x % 32, tiles = ceil_div(p.k_end - p.k_begin, kDepth);
  auto copy = [&](int tile) {
    if (tile < tiles) {
      const uint32_t dst = shared + uint32_t(tile % kStages) * kStageBytes;
      const int k0 = p.k_begin + tile * kDepth;
      copy_operand<Layout::kAKContiguous>(dst, p.a, p.a_pitch, p.m_end, p.k_end, p.m0, k0);
      copy_operand<Layout::kBKContiguous>(dst + kOperandBytes, p.b, p.b_pitch, p.n_end, p.k_end, p.n0, k0);
    }
    copy_commit();  // an empty group where nothing is left, so that the wait below keeps counting
  };
#pragma unroll
  for (int i = 0; i < kFragmentsM; ++i)
#pragma unroll
    for (int j = 0; j < kFragmentsN; ++j)
#pragma unroll
      for (float& x : sum.v[i][j]) x = 0;

#pragma unroll
  for (int tile = 0; tile < kStages - 1; ++tile) copy(tile);
  for (int tile = 0; tile < tiles; ++tile) {
    copy_wait<kStages - 2>();
    __syncthreads();  // this tile is there, and the stage that the next copy fills has been read by all
    copy(tile + kStages - 1);
    const uint32_t a = shared + uint32_t(tile % kStages) * kStageBytes, b = a + kOperandBytes;
#pragma unroll
    for (int k = 0; k < kDepth; k += 16) {
      uint32_t fa[kFragmentsM][4], fb[kFragmentsN / 2][4];
#pragma unroll
      for (int i = 0; i < kFragmentsM; ++i) load_a<Layout::kAKContiguous>(fa[i], a, warp_m() + i * 16, k, lane);
#pragma unroll
      for (int j = 0; j < kFragmentsN / 2; ++j) load_b<Layout::kBKContiguous>(fb[j], b, warp_n() + j * 16, k, lane);
#pragma unroll
      for (int i = 0; i < kFragmentsM; ++i)
#pragma unroll
        for (int j = 0; j < kFragmentsN; ++j)
          multiply<T>(sum.v[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }
  }
  copy_wait<0>();
  __syncthreads();
}

/// Where a tile's sums go: rows from m0 below m_end, columns from n0 below n_end, `pitch` elements a row.
template <class T>
struct Destination {
  T* d;
  const T* c;
  int pitch, m0, n0, m_end, n_end;
  float alpha, beta;
};

/// Stores alpha sum + beta c. The tile passes through shared memory, so that global stores are whole 16-byte pieces.
template <class T>
__device__ __forceinline__ void store_tile(const Sums& sum, const Destination<T>& p, unsigned char* shared) {
  constexpr int kPitch = kTile + kPiece;
  T* tile = reinterpret_cast<T*>(shared);
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < kFragmentsM; ++i)
#pragma unroll
    for (int j = 0; j < kFragmentsN; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = warp_m() + i * 16 + half * 8 + lane / 4, col = warp_n() + j * 8 + lane % 4 * 2;
        *reinterpret_cast<uint32_t*>(tile + row * kPitch + col) =
            pack_two<T>(p.alpha * sum.v[i][j][half * 2], p.alpha * sum.v[i][j][half * 2 + 1]);
      }
  __syncthreads();
  constexpr int kPieces = kTile / kPiece;
#pragma unroll
  for (int i = 0; i < kTile * kPieces / kThreads; ++i) {
    const int at = i * kThreads + threadIdx.x, row = at / kPieces, col = at % kPieces * kPiece;
    if (p.m0 + row >= p.m_end || p.n0 + col >= p.n_end) continue;
    using Piece = Vector<T, kPiece>;
    Piece out = *reinterpret_cast<const Piece*>(tile + row * kPitch + col);
    const size_t to = size_t(p.m0 + row) * p.pitch + p.n0 + col;
    if (p.beta != 0) {
      const Piece c = *reinterpret_cast<const Piece*>(p.c + to);
#pragma unroll
      for (int e = 0; e < kPiece; ++e) out.v[e] = from_float<T>(to_float(out.v[e]) + p.beta * to_float(c.v[e]));
    }
    *reinterpret_cast<Piece*>(p.d + to) = out;
  }
}

}  // namespace ladder::mma_tile

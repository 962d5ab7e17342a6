// wgmma with fp32 sums as attention needs it: Q K^T with both operands in shared memory, weights * V with the weights in
// registers and V stored row by row (N-major). Register lists and fences come from the microbenchmarks.
#pragma once

#include "../../microbench/wgmma_ops.cuh"
#include "device.cuh"

namespace ladder::attention {

#define ATT_F4(b) "+f"(d[b]), "+f"(d[(b) + 1]), "+f"(d[(b) + 2]), "+f"(d[(b) + 3])
#define ATT_F16(b) ATT_F4(b), ATT_F4((b) + 4), ATT_F4((b) + 8), ATT_F4((b) + 12)
#define ATT_D16 ATT_F16(0)
#define ATT_D32 ATT_D16, ATT_F16(16)
#define ATT_D64 ATT_D32, ATT_F16(32), ATT_F16(48)

// R: registers of the sums; I..: operand numbers after them. A false `accumulate` overwrites the sums.
#define ATT_WGMMA_SS(R, N, TYPES, I0, I1, I2)                                                                \
  asm volatile("{.reg .pred p; setp.ne.b32 p, %" #I2 ", 0; wgmma.mma_async.sync.aligned.m64n" #N "k16.f32."  \
               TYPES " {" WG_R##R "}, %" #I0 ", %" #I1 ", p, 1, 1, 0, 0;}"                                   \
               : ATT_D##R : "l"(left), "l"(right), "n"(ACCUMULATE ? 1 : 0))
#define ATT_WGMMA_RS(R, N, TYPES, I0, I1, I2, I3, I4)                                                        \
  asm volatile("{wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPES " {" WG_R##R "}, {%" #I0 ",%" #I1    \
               ",%" #I2 ",%" #I3 "}, %" #I4 ", 1, 1, 1, 1;}"                                                 \
               : ATT_D##R : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "l"(right))

/// 64 x 128 scores: d (+)= left * right^T, both K-major.
template <class T, bool ACCUMULATE>
__device__ __forceinline__ void wgmmaScores(float (&d)[64], uint64_t left, uint64_t right) {
  if constexpr (std::is_same_v<T, bf16>) ATT_WGMMA_SS(64, 128, "bf16.bf16", 64, 65, 66);
  else ATT_WGMMA_SS(64, 128, "f16.f16", 64, 65, 66);
}

/// 64 x D outputs: d += left * right, 16 keys, right N-major.
template <class T>
__device__ __forceinline__ void wgmmaValues(float (&d)[16], const uint32_t (&left)[4], uint64_t right) {
  if constexpr (std::is_same_v<T, bf16>) ATT_WGMMA_RS(16, 32, "bf16.bf16", 16, 17, 18, 19, 20);
  else ATT_WGMMA_RS(16, 32, "f16.f16", 16, 17, 18, 19, 20);
}
template <class T>
__device__ __forceinline__ void wgmmaValues(float (&d)[32], const uint32_t (&left)[4], uint64_t right) {
  if constexpr (std::is_same_v<T, bf16>) ATT_WGMMA_RS(32, 64, "bf16.bf16", 32, 33, 34, 35, 36);
  else ATT_WGMMA_RS(32, 64, "f16.f16", 32, 33, 34, 35, 36);
}
template <class T>
__device__ __forceinline__ void wgmmaValues(float (&d)[64], const uint32_t (&left)[4], uint64_t right) {
  if constexpr (std::is_same_v<T, bf16>) ATT_WGMMA_RS(64, 128, "bf16.bf16", 64, 65, 66, 67, 68);
  else ATT_WGMMA_RS(64, 128, "f16.f16", 64, 65, 66, 67, 68);
}

#undef ATT_WGMMA_RS
#undef ATT_WGMMA_SS
#undef ATT_D64
#undef ATT_D32
#undef ATT_D16
#undef ATT_F16
#undef ATT_F4

/// Keeps the compiler from moving uses of the registers across this point: wgmma reads and writes them later than it says.
template <int N>
__device__ __forceinline__ void holdRegisters(float (&x)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(x[i])::"memory");
}

/// Descriptor of a tile of 128-byte (64-byte) rows with the swizzle of that width; eight rows follow each other.
/// @param box_bytes  N-major tiles wider than a row: bytes from one box of columns to the next. K-major ones ignore it.
template <int ROW_BYTES>
__device__ __forceinline__ uint64_t tileDescriptor(uint32_t address, uint32_t box_bytes) {
  constexpr uint64_t kSwizzle = ROW_BYTES == 128 ? 1 : 2;
  return uint64_t((address & 0x3ffff) >> 4) | (uint64_t(box_bytes >> 4) << 16) |
         (uint64_t(8 * ROW_BYTES >> 4) << 32) | (kSwizzle << 62);
}

/// Four 8x8 matrices of 16-bit pairs to shared memory: lane 8 * i + j gives the address of row j of matrix i.
__device__ __forceinline__ void storeMatrices(uint32_t address, const uint32_t (&x)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(address), "r"(x[0]), "r"(x[1]),
               "r"(x[2]), "r"(x[3])
               : "memory");
}

/// Waits for the phase of an mbarrier. Without a watchdog: a trap on the way keeps the compiler from giving the consumers
/// the registers that setmaxnreg brings.
__device__ __forceinline__ void waitFor(uint32_t bar, unsigned parity) {
  while (!bench::mbarTry(bar, parity)) {
  }
}

/// Registers of this warpgroup's threads, a multiple of 8; the CTA's total must fit.
template <int COUNT>
__device__ __forceinline__ void growRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}
template <int COUNT>
__device__ __forceinline__ void shrinkRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}

// ---- tensor copies: column, row and head of a [heads, rows, d] tensor ----

__device__ __forceinline__ void loadBox(uint32_t to, const CUtensorMap& map, int column, int row, int head, uint32_t bar) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2,%3,%4}], [%5];"
      ::"r"(to), "l"(&map), "r"(column), "r"(row), "r"(head), "r"(bar) : "memory");
}
__device__ __forceinline__ void storeBox(const CUtensorMap& map, int column, int row, int head, uint32_t from) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1,%2,%3}], [%4];"
      ::"l"(&map), "r"(column), "r"(row), "r"(head), "r"(from) : "memory");
}

}  // namespace ladder::attention

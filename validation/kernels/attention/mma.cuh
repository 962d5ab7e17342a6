// mma.sync, ldmatrix and swizzled rows of 16-bit elements.
#pragma once

#include "device.cuh"

namespace ladder::attention {

/// Byte offset of 16-byte chunk `chunk` of row `row` in a tile of rows of D 16-bit elements: eight rows read at the same
/// chunk fall on 32 different banks.
template <int D>
__device__ __forceinline__ uint32_t swizzled(int row, int chunk) {
  const int mixed = D < 64 ? chunk ^ (row / 2 % 4) : chunk ^ (row % 8);
  return uint32_t(row * D * 2 + mixed * 16);
}

/// Moves an address of chunk 0 or 1 to the chunks 2 * pair and 2 * pair + 1 of the same row.
template <int D>
__device__ __forceinline__ uint32_t chunkPair(uint32_t address, int pair) {
  constexpr int kPairs = D < 64 ? 2 : 4;  // that the swizzle mixes
  return (address ^ (pair % kPairs * 32)) + pair / kPairs * 128;
}

/// Four 8x8 matrices: lane 8 * i + j gives the address of row j of matrix i.
__device__ __forceinline__ void loadMatrices(uint32_t (&x)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ void loadMatricesTransposed(uint32_t (&x)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(address)
               : "memory");
}

/// d += a * b, m16n8k16 with fp32 sums.
__device__ __forceinline__ void multiplyAdd(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, bf16) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiplyAdd(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, f16) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void storeShared(uint32_t address, uint32_t x) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(x) : "memory");
}
__device__ __forceinline__ uint4 loadShared16(uint32_t address) {
  uint4 x;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w) : "r"(address) : "memory");
  return x;
}

}  // namespace ladder::attention

// Device-side pieces that more than one attention rung uses.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "../common/async_copy.cuh"
#include "../common/convert.cuh"
#include "../common/reduce.cuh"
#include "arguments.hpp"

namespace ladder::attention {

using bf16 = __nv_bfloat16;
using f16 = __half;

constexpr float kMinusInfinity = -INFINITY;

/// Base-2 exponential, one MUFU instruction; denormal results become zero.
__device__ __forceinline__ float exp2Fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Maximum and sum over groups of `LANES` neighbouring lanes, a power of two.
template <int LANES>
__device__ __forceinline__ float maxOver(float x) {
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, step));
  return x;
}
template <int LANES>
__device__ __forceinline__ float sumOver(float x) {
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2) x += __shfl_xor_sync(0xffffffff, x, step);
  return x;
}

/// Where the CTA's head starts in Q and O, and its keys and values in K and V: rows of d elements.
/// Grid: x = query tile (or row, or split), y = head, z = batch.
struct HeadRows {
  int64_t q, kv;
};
__device__ __forceinline__ HeadRows headRows(const AttentionArguments& a) {
  const int64_t head = int64_t(blockIdx.z) * a.heads + blockIdx.y;
  const int64_t kvHead = int64_t(blockIdx.z) * a.kv_heads + blockIdx.y / (a.heads / a.kv_heads);
  return {head * a.q_len, kvHead * a.kv_len};
}

/// First query row of the CTA's tile. Causal tiles start with the last, which sees most keys: the short ones fill the end.
template <bool CAUSAL, int ROWS>
__device__ __forceinline__ int firstRowOfTile() {
  return (CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * ROWS;
}

/// Keys that rows before `endRow` may see: all, or up to the diagonal, which ends in the lower right corner.
template <bool CAUSAL>
__device__ __forceinline__ int visibleKeys(const AttentionArguments& a, int endRow) {
  return CAUSAL ? min(a.kv_len, endRow + a.kv_len - a.q_len) : a.kv_len;
}

/// Two 16-bit values of one register: the lower half first.
__device__ __forceinline__ float2 unpack(uint32_t pair, bf16) {
  return __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(pair));
}
__device__ __forceinline__ float2 unpack(uint32_t pair, f16) {
  return __half22float2(reinterpret_cast<const __half2&>(pair));
}

}  // namespace ladder::attention

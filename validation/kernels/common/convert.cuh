// Conversions between fp32 and the storage types, and vectors of 16 bytes.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace ladder {

template <class T>
__device__ __forceinline__ float to_float(T x) {
  return static_cast<float>(x);
}

template <class T>
__device__ __forceinline__ T from_float(float x) {
  if constexpr (std::is_same_v<T, __half>)
    return __float2half_rn(x);
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __float2bfloat16_rn(x);
  else
    return static_cast<T>(x);
}

/// Two values as one register: the lower address in the lower half.
template <class T>
__device__ __forceinline__ uint32_t pack_two(float low, float high) {
  uint32_t bits;
  if constexpr (std::is_same_v<T, __half>) {
    const __half2 v = __floats2half2_rn(low, high);
    bits = reinterpret_cast<const uint32_t&>(v);
  } else {
    const __nv_bfloat162 v = __floats2bfloat162_rn(low, high);
    bits = reinterpret_cast<const uint32_t&>(v);
  }
  return bits;
}

/// N values that move together; N * sizeof(T) is at most 16.
template <class T, int N>
struct alignas(N * sizeof(T)) Vector {
  T v[N];
};

}  // namespace ladder

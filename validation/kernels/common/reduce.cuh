// Sums and maxima over a warp and over a CTA.
#pragma once

#include <cuda_runtime.h>

namespace ladder {

struct Add {
  static constexpr float kNeutral = 0.0f;
  __device__ __forceinline__ static float apply(float a, float b) { return a + b; }
};
struct Max {
  static constexpr float kNeutral = -3.402823466e38f;
  __device__ __forceinline__ static float apply(float a, float b) { return fmaxf(a, b); }
};

/// @return the result over the warp's lanes, in every lane.
template <class Op>
__device__ __forceinline__ float reduce_warp(float x) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) x = Op::apply(x, __shfl_xor_sync(0xffffffffu, x, distance));
  return x;
}

/// @return the result over the CTA's threads, in every thread. `scratch` holds a word for each warp; the leading
/// barrier lets one scratch serve several reductions.
template <class Op, int THREADS>
__device__ __forceinline__ float reduce_cta(float x, float (&scratch)[THREADS / 32]) {
  x = reduce_warp<Op>(x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  __syncthreads();
  x = scratch[0];
#pragma unroll
  for (int warp = 1; warp < THREADS / 32; ++warp) x = Op::apply(x, scratch[warp]);
  return x;
}

}  // namespace ladder

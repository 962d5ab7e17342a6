// cp.async: copies from global to shared memory that pass no register; `valid` false writes zeros instead.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

/// @param dst  shared-memory address; @param src  a readable address even when not valid.
template <int BYTES>
__device__ __forceinline__ void copy_async(uint32_t dst, const void* src, bool valid) {
  const int bytes = valid ? BYTES : 0;
  if constexpr (BYTES == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(src), "r"(bytes) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(dst), "l"(src), "n"(BYTES), "r"(bytes)
                 : "memory");
  }
}
__device__ __forceinline__ void copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until at most `PENDING` of this thread's groups are unfinished.
template <int PENDING>
__device__ __forceinline__ void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

}  // namespace ladder

/// Allocator for the simulator's large tables: asks the kernel for 2 MiB pages, since random look-ups in megabytes of
/// 4 KiB pages spend much of their time on address translation.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace strata {

/// Behaves as std::allocator below 256 KiB and where the kernel declines.
template <typename T>
struct HugePageAllocator {
  using value_type = T;
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;
  static constexpr std::size_t kSmallest = std::size_t{256} << 10;

  HugePageAllocator() = default;
  template <typename U>
  explicit HugePageAllocator(const HugePageAllocator<U>&) {}

  [[nodiscard]] T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    if (bytes < kSmallest) {
      return static_cast<T*>(::operator new (bytes, std::align_val_t{alignment()}));
    }
    const std::size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    void* p = ::operator new (rounded, std::align_val_t{kHugePage});
    static_cast<void>(madvise(p, rounded, MADV_HUGEPAGE));  // advice: a refusal costs speed alone
    return static_cast<T*>(p);
  }
  void deallocate(T* p, std::size_t n) noexcept {
    const std::size_t bytes = n * sizeof(T);
    ::operator delete (p, std::align_val_t{bytes < kSmallest ? alignment() : kHugePage});
  }
  template <typename U>
  bool operator==(const HugePageAllocator<U>&) const {
    return true;
  }

 private:
  static constexpr std::size_t alignment() {
    return alignof(T) > alignof(std::max_align_t) ? alignof(T) : alignof(std::max_align_t);
  }
};

}  // namespace strata

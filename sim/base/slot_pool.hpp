/// Fixed-type pool with 32-bit handles and a free list: the payload of events lives here.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/prefetch.hpp"

namespace strata {

/// Cost: O(1) acquire and release; grows by doubling until the steady state, then never allocates.
template <typename T>
class SlotPool {
 public:
  [[nodiscard]] std::uint32_t acquire() {
    if (free_.empty()) {
      items_.emplace_back();
      ++live_;
      return static_cast<std::uint32_t>(items_.size() - 1);
    }
    const std::uint32_t handle = free_.back();
    free_.pop_back();
    if (!free_.empty()) {
      prefetch_line(&items_[free_.back()]);  // whoever acquires once soon acquires again
    }
    ++live_;
    return handle;
  }
  void release(std::uint32_t handle) {
    assert(live_ > 0);
    --live_;
    free_.push_back(handle);
  }
  [[nodiscard]] T& operator[](std::uint32_t handle) { return items_[handle]; }
  [[nodiscard]] const T& operator[](std::uint32_t handle) const { return items_[handle]; }
  [[nodiscard]] std::size_t live() const { return live_; }
  void reserve(std::size_t n) {
    items_.reserve(n);
    free_.reserve(n);
  }

 private:
  std::vector<T> items_;
  std::vector<std::uint32_t> free_;
  std::size_t live_ = 0;
};

}  // namespace strata

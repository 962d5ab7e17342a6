/// Finite things (queue entries, outstanding requests): take a credit or wait in line for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata {

/// Counted credits with a first-come wait list. The owner decides what a waiter's 32-bit id means.
class Credits {
 public:
  Credits() = default;
  explicit Credits(std::int64_t capacity) : available_(capacity), capacity_(capacity) {}

  /// Takes `n` credits if they are there and nobody waits before; false leaves the state unchanged.
  bool take(std::int64_t n = 1) {
    if (available_ < n || head_ < waiters_.size()) {
      return false;
    }
    available_ -= n;
    return true;
  }
  void wait(std::uint32_t id) { waiters_.push_back(id); }
  void give(std::int64_t n = 1) { available_ += n; }
  /// Next waiter to retry after give(); false when nobody waits. The waiter must take() again.
  bool pop_waiter(std::uint32_t& id) {
    if (head_ == waiters_.size()) {
      return false;
    }
    id = waiters_[head_++];
    if (head_ == waiters_.size()) {
      waiters_.clear();
      head_ = 0;
    }
    return true;
  }
  [[nodiscard]] bool has_waiters() const { return head_ < waiters_.size(); }
  [[nodiscard]] std::int64_t available() const { return available_; }
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }

 private:
  std::int64_t available_ = 0;
  std::int64_t capacity_ = 0;
  std::vector<std::uint32_t> waiters_;
  std::size_t head_ = 0;
};

}  // namespace strata

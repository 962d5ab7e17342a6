/// Set-associative tags with sector valid and dirty masks, LRU replacement and fills in flight.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/hw/common/chunk.hpp"

namespace strata {

/// Not modelled: replacement other than LRU, way partitioning.
/// Cost: a look-up compares the set's packed 32-bit tags (one host cache line for 16 ways).
class TagArray {
 public:
  static constexpr std::uint32_t kInvalidTag = 0xffffffffU;

  TagArray() = default;
  TagArray(std::uint32_t sets, std::uint32_t ways)
      : sets_(std::max(1U, sets)),
        ways_(std::max(1U, ways)),
        tag_(std::size_t{sets_} * ways_, kInvalidTag),
        stamp_(tag_.size(), 0),
        state_(tag_.size()) {}

  /// State of one line.
  struct State {
    std::uint8_t valid = 0;    ///< sectors present
    std::uint8_t dirty = 0;    ///< sectors to write back
    std::uint8_t pending = 0;  ///< sectors being filled
    std::uint8_t evict_first = 0;
    std::uint32_t filler = kNoHandle;  ///< chunk that fills the pending sectors
  };

  struct Victim {
    std::uint32_t line = kInvalidTag;
    std::uint8_t dirty = 0;
  };

  static constexpr std::uint32_t kMiss = 0xffffffffU;

  /// Index of the line's way, or kMiss. Does not touch the LRU order.
  [[nodiscard]] std::uint32_t find(std::uint32_t set, std::uint32_t line) const {
    const std::uint32_t* t = &tag_[std::size_t{set} * ways_];
    for (std::uint32_t w = 0; w < ways_; ++w) {
      if (t[w] == line) {
        return set * ways_ + w;
      }
    }
    return kMiss;
  }
  void prefetch(std::uint32_t set) const { __builtin_prefetch(&tag_[std::size_t{set} * ways_]); }
  void touch(std::uint32_t index) { stamp_[index] = ++clock_; }
  [[nodiscard]] State& state(std::uint32_t index) { return state_[index]; }
  [[nodiscard]] const State& state(std::uint32_t index) const { return state_[index]; }
  [[nodiscard]] std::uint32_t line_at(std::uint32_t index) const { return tag_[index]; }

  /// Replaces the least recently used line that is not being filled; kMiss when the whole set is in flight.
  std::uint32_t allocate(std::uint32_t set, std::uint32_t line, Victim& victim) {
    const std::size_t base = std::size_t{set} * ways_;
    std::uint32_t best = kMiss;
    std::uint32_t best_age = 0;
    for (std::uint32_t w = 0; w < ways_; ++w) {
      const std::size_t i = base + w;
      if (tag_[i] == kInvalidTag) {
        best = static_cast<std::uint32_t>(i);
        break;
      }
      if (state_[i].pending != 0) {
        continue;
      }
      // The clock may wrap: compare ages, not stamps.
      const std::uint32_t age = state_[i].evict_first != 0 ? 0xffffffffU : clock_ - stamp_[i];
      if (best == kMiss || age > best_age) {
        best = static_cast<std::uint32_t>(i);
        best_age = age;
      }
    }
    victim = Victim{};
    if (best == kMiss) {
      return kMiss;
    }
    if (tag_[best] != kInvalidTag) {
      victim = Victim{tag_[best], state_[best].dirty};
    }
    tag_[best] = line;
    state_[best] = State{};
    touch(best);
    return best;
  }
  void invalidate(std::uint32_t index) {
    tag_[index] = kInvalidTag;
    state_[index] = State{};
  }
  [[nodiscard]] std::uint32_t sets() const { return sets_; }
  [[nodiscard]] std::uint32_t ways() const { return ways_; }

 private:
  std::uint32_t sets_ = 1;
  std::uint32_t ways_ = 1;
  std::uint32_t clock_ = 0;
  std::vector<std::uint32_t> tag_;
  std::vector<std::uint32_t> stamp_;
  std::vector<State> state_;
};

}  // namespace strata

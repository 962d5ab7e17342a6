/// Set-associative tags with sector valid and dirty masks, LRU replacement and fills in flight.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/hw/common/chunk.hpp"
#include "sim/base/huge_page_allocator.hpp"

namespace strata {

/// At most 16 ways, so that a set is two host cache lines: the packed tags, then masks, the LRU order as sixteen 4-bit
/// way numbers, most recent first, and who fills each way.
/// Not modelled: replacement other than LRU, way partitioning.
/// Cost: a look-up touches one or two host cache lines; prefetch() hides their latency.
class TagArray {
 public:
  static constexpr std::uint32_t kInvalidTag = 0xffffffffU;
  static constexpr std::uint32_t kMaxWays = 16;
  static constexpr std::uint32_t kMiss = 0xffffffffU;

  TagArray() = default;
  TagArray(std::uint32_t sets, std::uint32_t ways) : ways_(std::clamp(ways, 1U, kMaxWays)), sets_(std::max(1U, sets)) {
    for (Set& s : sets_) {
      s.tag.fill(kInvalidTag);
    }
  }

  struct Victim {
    std::uint32_t line = kInvalidTag;
    std::uint8_t dirty = 0;
  };

  void prefetch(std::uint32_t set) const {
    __builtin_prefetch(&sets_[set]);
    __builtin_prefetch(&sets_[set].state);
  }

  /// Index of the line's way, or kMiss. Does not touch the LRU order.
  [[nodiscard]] std::uint32_t find(std::uint32_t set, std::uint32_t line) const {
    const auto& t = sets_[set].tag;
    std::uint32_t match = 0;
    for (std::uint32_t w = 0; w < kMaxWays; ++w) {
      match |= static_cast<std::uint32_t>(t[w] == line) << w;
    }
    return match == 0 ? kMiss : set * kMaxWays + static_cast<std::uint32_t>(std::countr_zero(match));
  }

  void touch(std::uint32_t index) { to_front(sets_[index / kMaxWays], index % kMaxWays); }

  [[nodiscard]] std::uint8_t valid(std::uint32_t index) const {
    return sets_[index / kMaxWays].state[index % kMaxWays] & 0xfU;
  }
  void add_valid(std::uint32_t index, std::uint32_t mask) {
    std::uint8_t& state = sets_[index / kMaxWays].state[index % kMaxWays];
    state = static_cast<std::uint8_t>(state | (mask & 0xfU));
  }
  /// Sectors being filled.
  [[nodiscard]] std::uint8_t pending(std::uint32_t index) const {
    return static_cast<std::uint8_t>(sets_[index / kMaxWays].state[index % kMaxWays] >> 4);
  }
  [[nodiscard]] std::uint8_t dirty(std::uint32_t index) const {
    return static_cast<std::uint8_t>(sets_[index / kMaxWays].dirty >> (4 * (index % kMaxWays)) & 0xfU);
  }
  void set_dirty(std::uint32_t index, std::uint32_t mask) {
    set_nibble(sets_[index / kMaxWays].dirty, index % kMaxWays, mask);
  }
  /// The chunk that fills the pending sectors, or kNoHandle when its handle was too large to note.
  [[nodiscard]] std::uint32_t filler(std::uint32_t index) const {
    const std::uint16_t f = sets_[index / kMaxWays].filler[index % kMaxWays];
    return f == kUnknownFiller ? kNoHandle : f;
  }
  /// False when the filler's handle cannot be noted; the line is then fetched without being announced.
  bool set_pending(std::uint32_t index, std::uint8_t mask, std::uint32_t chunk) {
    if (chunk >= kUnknownFiller) {
      return false;
    }
    Set& s = sets_[index / kMaxWays];
    std::uint8_t& state = s.state[index % kMaxWays];
    state = static_cast<std::uint8_t>((state & 0xfU) | mask << 4);
    s.filler[index % kMaxWays] = static_cast<std::uint16_t>(chunk);
    return true;
  }
  [[nodiscard]] bool holds(std::uint32_t index, std::uint32_t line) const {
    return sets_[index / kMaxWays].tag[index % kMaxWays] == line;
  }
  /// The data of `chunk` is here: its pending sectors become valid; others of `mask` too, unless someone else fetches
  /// them.
  void fill(std::uint32_t index, std::uint32_t chunk, std::uint8_t mask) {
    Set& s = sets_[index / kMaxWays];
    std::uint8_t& state = s.state[index % kMaxWays];
    const std::uint32_t valid = state & 0xfU;
    const std::uint32_t pending = state >> 4;
    if (pending != 0 && s.filler[index % kMaxWays] == chunk) {
      state = static_cast<std::uint8_t>(valid | pending);
    } else {
      state = static_cast<std::uint8_t>(valid | (mask & ~pending) | pending << 4);
    }
  }

  /// Replaces the least recently used line that is not being filled; kMiss when the whole set is in flight.
  std::uint32_t allocate(std::uint32_t set, std::uint32_t line, Victim& victim) {
    Set& s = sets_[set];
    victim = Victim{};
    for (std::uint32_t p = ways_; p-- > 0;) {
      const auto w = static_cast<std::uint32_t>(s.order >> (4 * p) & 0xf);
      if (s.state[w] >> 4 != 0) {
        continue;
      }
      victim = Victim{s.tag[w], static_cast<std::uint8_t>(s.dirty >> (4 * w) & 0xfU)};
      s.tag[w] = line;
      s.state[w] = 0;
      set_nibble(s.dirty, w, 0);
      to_front(s, w);
      return set * kMaxWays + w;
    }
    return kMiss;
  }
  [[nodiscard]] std::uint32_t sets() const { return static_cast<std::uint32_t>(sets_.size()); }
  [[nodiscard]] std::uint32_t ways() const { return ways_; }

 private:
  static constexpr std::uint16_t kUnknownFiller = 0xffff;

  struct alignas(64) Set {
    std::array<std::uint32_t, kMaxWays> tag{};
    std::array<std::uint8_t, kMaxWays> state{};   ///< sectors present, and in the upper half sectors being filled
    std::uint64_t dirty = 0;                      ///< sectors to write back, 4 bits a way
    std::uint64_t order = 0xfedcba9876543210ULL;  ///< way numbers, most recent in the lowest 4 bits
    std::array<std::uint16_t, kMaxWays> filler{};
  };
  static_assert(sizeof(Set) == 128);

  static void set_nibble(std::uint64_t& word, std::uint32_t way, std::uint32_t value) {
    word = (word & ~(std::uint64_t{0xf} << (4 * way))) | std::uint64_t{value & 0xfU} << (4 * way);
  }

  static void to_front(Set& s, std::uint32_t way) {
    constexpr std::uint64_t kOnes = 0x1111111111111111ULL;
    const std::uint64_t x = s.order ^ (kOnes * way);
    // The lowest 4-bit group of x that is zero holds the way.
    const std::uint64_t zero = (x - kOnes) & ~x & (kOnes << 3);
    const auto shift = static_cast<std::uint32_t>(std::countr_zero(zero)) & 60U;
    const std::uint64_t below = s.order & ((1ULL << shift) - 1);
    const std::uint64_t through = shift == 60 ? ~0ULL : (1ULL << (shift + 4)) - 1;
    s.order = (s.order & ~through) | below << 4 | way;
  }

  std::uint32_t ways_ = 1;
  std::vector<Set, HugePageAllocator<Set>> sets_;
};

}  // namespace strata

/// Set-associative tags with sector valid and dirty masks, LRU replacement and fills in flight.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "models/hw/common/chunk.hpp"
#include "sim/base/prefetch.hpp"

namespace strata {

/// At most 16 ways. What a hit needs (24 bits of the tags, valid sectors, LRU order) is one host cache line; what only
/// misses and stores need is another. Tags are names of lines within their set. One whose lower 24 bits are all ones is
/// never cached: that name marks an empty way.
/// Not modelled: other replacement, way partitioning.
class TagArray {
 public:
  static constexpr std::uint32_t kMaxWays = 16;
  static constexpr std::uint32_t kMiss = 0xffffffffU;
  static constexpr std::uint32_t kEmpty = 0xffffffU;  ///< lower 24 bits of an empty way's tag

  TagArray() = default;
  TagArray(std::uint32_t sets, std::uint32_t ways)
      : ways_(std::clamp(ways, 1U, kMaxWays)), sets_(std::max(1U, sets)), rare_(std::max(1U, sets)) {
    for (Set& s : sets_) {
      s.low.fill(0xffff);
      s.middle.fill(0xff);
    }
  }

  struct Victim {
    std::uint32_t tag = kEmpty;  ///< kEmpty: the way held nothing
    std::uint8_t dirty = 0;
  };

  void prefetch(std::uint32_t set) const { prefetch_line(&sets_[set]); }
  /// What misses and stores need.
  void prefetch_rare(std::uint32_t set) const { prefetch_line(&rare_[set]); }

  /// Index of the line's way, or kMiss. Does not touch the LRU order.
  [[nodiscard]] std::uint32_t find(std::uint32_t set, std::uint32_t tag) const {
    if ((tag & kEmpty) == kEmpty) {
      return kMiss;
    }
    for (std::uint32_t match = matches(sets_[set], tag); match != 0; match &= match - 1) {
      const auto w = static_cast<std::uint32_t>(std::countr_zero(match));
      if (wide_ ? rare_[set].top[w] == tag >> 24 : tag >> 24 == 0) {
        return set * kMaxWays + w;
      }
    }
    return kMiss;
  }

  void touch(std::uint32_t index) {
    Set& s = sets_[index / kMaxWays];
    to_front(s, place_of(s, index % kMaxWays));
  }

  [[nodiscard]] std::uint8_t valid(std::uint32_t index) const {
    return nibble(sets_[index / kMaxWays].valid, index % kMaxWays);
  }
  void add_valid(std::uint32_t index, std::uint32_t mask) {
    sets_[index / kMaxWays].valid |= std::uint64_t{mask & 0xfU} << (4 * (index % kMaxWays));
  }
  /// What a store leaves: valid, but for sectors that are being filled anyway.
  void add_stored(std::uint32_t index, std::uint32_t mask) {
    if ((mask & ~std::uint32_t{valid(index)}) != 0) {
      add_valid(index, mask & ~std::uint32_t{pending(index)});
    }
  }
  /// The sectors of `mask` are out of date.
  void drop(std::uint32_t index, std::uint32_t mask) {
    sets_[index / kMaxWays].valid &= ~(std::uint64_t{mask & 0xfU} << (4 * (index % kMaxWays)));
  }
  /// Sectors being filled.
  [[nodiscard]] std::uint8_t pending(std::uint32_t index) const {
    return nibble(rare_[index / kMaxWays].pending, index % kMaxWays);
  }
  [[nodiscard]] std::uint8_t dirty(std::uint32_t index) const {
    return nibble(rare_[index / kMaxWays].dirty, index % kMaxWays);
  }
  void set_dirty(std::uint32_t index, std::uint32_t mask) {
    set_nibble(rare_[index / kMaxWays].dirty, index % kMaxWays, mask);
  }
  /// The chunk that last asked for pending sectors; it is under way as long as any is pending.
  [[nodiscard]] std::uint32_t filler(std::uint32_t index) const {
    return rare_[index / kMaxWays].filler[index % kMaxWays];
  }
  /// False when the filler's handle is too large to be noted; the line is then fetched without being announced.
  bool set_pending(std::uint32_t index, std::uint8_t mask, std::uint32_t chunk) {
    if (chunk > 0xffff) {
      return false;
    }
    Rare& r = rare_[index / kMaxWays];
    r.pending |= std::uint64_t{mask & 0xfU} << (4 * (index % kMaxWays));
    r.filler[index % kMaxWays] = static_cast<std::uint16_t>(chunk);
    return true;
  }
  /// The sectors of `mask`, which `chunk` asked for, are here. Several chunks may fetch sectors of one line: the last
  /// that asked ends the wait for all of them, since only it is known.
  void fill(std::uint32_t index, std::uint32_t chunk, std::uint8_t mask) {
    Rare& r = rare_[index / kMaxWays];
    const std::uint32_t waiting = nibble(r.pending, index % kMaxWays);
    const bool last = r.filler[index % kMaxWays] == chunk;
    set_nibble(r.pending, index % kMaxWays, last ? 0U : waiting & ~std::uint32_t{mask});
    add_valid(index, last ? waiting | mask : mask);
  }

  /// Replaces the least recently used line that is not being filled; kMiss when the whole set is in flight.
  std::uint32_t allocate(std::uint32_t set, std::uint32_t tag, Victim& victim) {
    victim = Victim{};
    if ((tag & kEmpty) == kEmpty) {
      return kMiss;
    }
    wide_ = wide_ || tag >> 24 != 0;
    Set& s = sets_[set];
    Rare& r = rare_[set];
    for (std::uint32_t p = ways_; p-- > 0;) {
      const auto w = static_cast<std::uint32_t>(s.order >> (4 * p) & 0xf);
      if (nibble(r.pending, w) != 0) {
        continue;
      }
      victim.tag = std::uint32_t{r.top[w]} << 24 | std::uint32_t{s.middle[w]} << 16 | s.low[w];
      victim.dirty = nibble(r.dirty, w);
      if ((victim.tag & kEmpty) == kEmpty) {
        victim.tag = kEmpty;
      }
      s.low[w] = static_cast<std::uint16_t>(tag);
      s.middle[w] = static_cast<std::uint8_t>(tag >> 16);
      r.top[w] = static_cast<std::uint8_t>(tag >> 24);
      set_nibble(s.valid, w, 0);
      set_nibble(r.dirty, w, 0);
      to_front(s, 4 * p);
      return set * kMaxWays + w;
    }
    return kMiss;
  }

 private:
  struct alignas(64) Set {
    std::array<std::uint16_t, kMaxWays> low{};    ///< bits 0 to 15 of each way's tag
    std::array<std::uint8_t, kMaxWays> middle{};  ///< bits 16 to 23
    std::uint64_t valid = 0;                      ///< sectors held, 4 bits a way
    std::uint64_t order = 0xfedcba9876543210ULL;  ///< way numbers, most recent in the lowest 4 bits
  };
  static_assert(sizeof(Set) == 64);
  struct alignas(64) Rare {
    std::uint64_t dirty = 0;    ///< sectors to write back, 4 bits a way
    std::uint64_t pending = 0;  ///< sectors being filled, 4 bits a way
    std::array<std::uint16_t, kMaxWays> filler{};
    std::array<std::uint8_t, kMaxWays> top{};  ///< bits 24 to 31 of each way's tag
  };
  static_assert(sizeof(Rare) == 64);

  /// Bit w: the lower 24 bits of way w's tag are those of `tag`.
  [[nodiscard]] static std::uint32_t matches(const Set& s, std::uint32_t tag) {
#ifdef __SSE2__
    const __m128i low = _mm_set1_epi16(static_cast<short>(tag));
    const auto* lows = reinterpret_cast<const __m128i*>(s.low.data());
    const __m128i low_equal =
        _mm_packs_epi16(_mm_cmpeq_epi16(_mm_load_si128(lows), low), _mm_cmpeq_epi16(_mm_load_si128(lows + 1), low));
    const __m128i middle_equal = _mm_cmpeq_epi8(_mm_load_si128(reinterpret_cast<const __m128i*>(s.middle.data())),
                                                _mm_set1_epi8(static_cast<char>(tag >> 16)));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_and_si128(low_equal, middle_equal)));
#else
    std::uint32_t match = 0;
    for (std::uint32_t w = 0; w < kMaxWays; ++w) {
      const bool same = s.low[w] == (tag & 0xffffU) && s.middle[w] == (tag >> 16 & 0xffU);
      match |= std::uint32_t{same} << w;
    }
    return match;
#endif
  }
  [[nodiscard]] static std::uint8_t nibble(std::uint64_t word, std::uint32_t way) {
    return static_cast<std::uint8_t>(word >> (4 * way) & 0xfU);
  }
  static void set_nibble(std::uint64_t& word, std::uint32_t way, std::uint32_t value) {
    word = (word & ~(std::uint64_t{0xf} << (4 * way))) | std::uint64_t{value & 0xfU} << (4 * way);
  }

  /// Bits of the order below a way's.
  [[nodiscard]] static std::uint32_t place_of(const Set& s, std::uint32_t way) {
    constexpr std::uint64_t kOnes = 0x1111111111111111ULL;
    const std::uint64_t x = s.order ^ (kOnes * way);
    // The lowest 4-bit group of x that is zero holds the way.
    const std::uint64_t zero = (x - kOnes) & ~x & (kOnes << 3);
    return static_cast<std::uint32_t>(std::countr_zero(zero)) & 60U;
  }

  /// The way at `shift` bits of the order becomes the most recent one.
  static void to_front(Set& s, std::uint32_t shift) {
    const std::uint64_t way = s.order >> shift & 0xfU;
    const std::uint64_t below = s.order & ((1ULL << shift) - 1);
    const std::uint64_t through = shift == 60 ? ~0ULL : (1ULL << (shift + 4)) - 1;
    s.order = (s.order & ~through) | below << 4 | way;
  }

  std::uint32_t ways_ = 1;
  bool wide_ = false;  ///< some line has had a tag of more than 24 bits
  std::vector<Set> sets_;
  std::vector<Rare> rare_;
};

}  // namespace strata

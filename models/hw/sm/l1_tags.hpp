/// Tags of an L1: eight ways, sector valid masks and fills in flight, one line of the host's cache a set.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "sim/base/prefetch.hpp"

namespace strata {

/// A line that was used again is kept for longer than lines used once, however recent those are, until every line of
/// the set was used again: lines read, stored and read again stay as with six to eight ways (measured on an H200, page
/// l1). Nothing is dirty: stores are written through. Tags are names of lines within their set.
class L1Tags {
 public:
  static constexpr std::uint32_t kWays = 8;
  static constexpr std::uint32_t kMiss = 0xffffffffU;

  explicit L1Tags(std::uint32_t sets = 1) : sets_(std::max(1U, sets)) {}

  /// Brings a set into the host's cache.
  void prefetch(std::uint32_t set) const { prefetch_line(&sets_[set]); }

  /// Index of the line's way, or kMiss. Does not touch the order of use.
  [[nodiscard]] std::uint32_t find(std::uint32_t set, std::uint32_t tag) const {
    const std::uint32_t match = matches(sets_[set], tag);
    return match == 0 || tag == kEmpty ? kMiss : set * kWays + static_cast<std::uint32_t>(std::countr_zero(match));
  }
  /// The line is used again.
  void touch(std::uint32_t index) {
    Set& s = sets_[index / kWays];
    const std::uint32_t place = place_of(s.order, index % kWays);
    if (place >= s.reused) {
      s.reused = s.reused + 1 == kWays ? 0 : s.reused + 1;
    }
    move(s.order, place, 0);
  }

  /// Sectors held.
  [[nodiscard]] std::uint8_t valid(std::uint32_t index) const { return nibble(sets_[index / kWays].valid, index); }
  /// Sectors being filled.
  [[nodiscard]] std::uint8_t pending(std::uint32_t index) const { return nibble(sets_[index / kWays].pending, index); }
  /// The chunk that asked for sectors last.
  [[nodiscard]] std::uint32_t filler(std::uint32_t index) const { return sets_[index / kWays].filler[index % kWays]; }

  /// What a store leaves: valid, but for sectors that are being filled anyway.
  void add_stored(std::uint32_t index, std::uint32_t mask) {
    Set& s = sets_[index / kWays];
    add(s.valid, index, mask & ~std::uint32_t{nibble(s.pending, index)});
  }
  /// Nothing is noted when the filler's handle is too large; the line is then fetched without being announced.
  void set_pending(std::uint32_t index, std::uint32_t mask, std::uint32_t chunk) {
    if (chunk <= UINT16_MAX) {
      Set& s = sets_[index / kWays];
      add(s.pending, index, mask);
      s.filler[index % kWays] = static_cast<std::uint16_t>(chunk);
    }
  }
  /// The sectors of `mask`, which `chunk` asked for, are here. Several chunks may fetch sectors of one line: the last
  /// that asked ends the wait for all of them, since only it is known.
  void fill(std::uint32_t index, std::uint32_t chunk, std::uint32_t mask) {
    Set& s = sets_[index / kWays];
    const std::uint32_t ended = s.filler[index % kWays] == chunk ? mask | nibble(s.pending, index) : mask;
    s.pending &= ~(ended << shift_of(index));
    add(s.valid, index, ended);
  }

  /// Replaces a line that is not being filled, of those used once, or of all where none is, the least recent; the index
  /// of its way, or kMiss when the whole set is in flight.
  std::uint32_t allocate(std::uint32_t set, std::uint32_t tag) {
    Set& s = sets_[set];
    if (tag == kEmpty) {
      return kMiss;
    }
    for (std::uint32_t place = kWays; place-- > 0;) {
      const std::uint32_t way = nibble(s.order, place);
      if (nibble(s.pending, way) != 0) {
        continue;
      }
      s.tag[way] = tag;
      s.valid &= ~(0xfU << shift_of(way));
      s.reused -= place < s.reused ? 1U : 0U;
      move(s.order, place, s.reused);
      return set * kWays + way;
    }
    return kMiss;
  }

 private:
  static constexpr std::uint32_t kEmpty = 0xffffffffU;  ///< name that marks an empty way

  struct alignas(64) Set {
    Set() { tag.fill(kEmpty); }
    std::array<std::uint32_t, kWays> tag;
    std::array<std::uint16_t, kWays> filler{};
    std::uint32_t valid = 0;           ///< 4 bits a way
    std::uint32_t pending = 0;         ///< likewise
    std::uint32_t order = 0x76543210;  ///< way numbers, those used again first, each kind the most recent first
    std::uint32_t reused = 0;          ///< how many were used again
  };
  static_assert(sizeof(Set) == 64);

  /// Bit w: way w's tag is `tag`.
  [[nodiscard]] static std::uint32_t matches(const Set& s, std::uint32_t tag) {
#ifdef __SSE2__
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
    const auto* tags = reinterpret_cast<const __m128i*>(s.tag.data());
    const __m128i equal = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(tags), wanted),
                                          _mm_cmpeq_epi32(_mm_load_si128(tags + 1), wanted));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128())));
#else
    std::uint32_t match = 0;
    for (std::uint32_t w = 0; w < kWays; ++w) {
      match |= std::uint32_t{s.tag[w] == tag} << w;
    }
    return match;
#endif
  }
  [[nodiscard]] static std::uint32_t shift_of(std::uint32_t way) { return 4 * (way % kWays); }
  [[nodiscard]] static std::uint8_t nibble(std::uint32_t word, std::uint32_t way) {
    return static_cast<std::uint8_t>(word >> shift_of(way) & 0xfU);
  }
  static void add(std::uint32_t& word, std::uint32_t way, std::uint32_t mask) { word |= mask << shift_of(way); }

  /// Where a way stands in an order.
  [[nodiscard]] static std::uint32_t place_of(std::uint32_t order, std::uint32_t way) {
    constexpr std::uint32_t kOnes = 0x11111111U;
    const std::uint32_t x = order ^ (kOnes * way);
    // The lowest 4-bit group of x that is zero holds the way.
    const std::uint32_t zero = (x - kOnes) & ~x & (kOnes << 3);
    return static_cast<std::uint32_t>(std::countr_zero(zero)) / 4;
  }
  /// The way at one place of an order goes to another.
  static void move(std::uint32_t& order, std::uint32_t from, std::uint32_t to) {
    const auto below = [](std::uint32_t place) {
      return static_cast<std::uint32_t>((std::uint64_t{1} << (4 * place)) - 1);
    };
    const std::uint32_t way = nibble(order, from);
    const std::uint32_t rest = (order & below(from)) | (order >> 4 & ~below(from));  // seven places
    order = (rest & below(to)) | way << (4 * to) | (rest & ~below(to)) << 4;
  }

  std::vector<Set> sets_;
};

}  // namespace strata

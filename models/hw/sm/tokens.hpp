/// Phase counters that streams wait for: mbarriers, named barriers, scoreboards, async groups.
#pragma once

#include <array>
#include <cstdint>

#include "models/hw/common/chunk.hpp"
#include "workloads/spec/operation.hpp"

namespace strata {

inline constexpr std::uint16_t kNoStream = 0xffff;

/// A token shared by the streams of a CTA.
struct Token {
  std::uint32_t phase = 0;    ///< completed phases
  std::uint16_t arrived = 0;  ///< arrivals of the current phase
  std::uint16_t expected = 0;
  std::uint16_t waiter = kNoStream;  ///< first waiting stream; the list goes on in the streams
  Tick ready = 0;                    ///< when the last completed phase is seen by those who wait for it

  /// Adds arrivals; true when at least one phase completed.
  bool arrive(std::uint32_t n) {
    if (expected == 0) {
      return false;
    }
    const std::uint32_t total = arrived + n;
    phase += total / expected;
    arrived = static_cast<std::uint16_t>(total % expected);
    return total >= expected;
  }
};

/// What an operation signals once its result is there, packed so that it travels in 64 bits.
struct PackedSignal {
  static std::uint64_t pack(const Signal& s, std::uint16_t stream) {
    return 1ULL | std::uint64_t{static_cast<std::uint8_t>(s.cls)} << 1 | std::uint64_t{s.slot} << 8 |
           std::uint64_t{s.arrivals} << 16 | std::uint64_t{s.cta_mask} << 24 | std::uint64_t{stream} << 40 |
           std::uint64_t{static_cast<std::uint8_t>(s.at)} << 56;
  }
  /// What a signal is to the CTA of one rank, if it comes from that CTA itself; 0 = nothing.
  static std::uint64_t at_rank(std::uint64_t p, std::uint32_t rank) {
    const std::uint16_t mask = cta_mask(p);
    return mask == 0 || (mask >> rank & 1) != 0 ? p & ~(std::uint64_t{0xffff} << 24) : 0;
  }
  static bool valid(std::uint64_t p) { return (p & 1) != 0; }
  static TokenClass cls(std::uint64_t p) { return static_cast<TokenClass>((p >> 1) & 0x7f); }
  static std::uint8_t slot(std::uint64_t p) { return static_cast<std::uint8_t>(p >> 8); }
  static std::uint8_t arrivals(std::uint64_t p) { return static_cast<std::uint8_t>(p >> 16); }
  static std::uint16_t cta_mask(std::uint64_t p) { return static_cast<std::uint16_t>(p >> 24); }
  static std::uint16_t stream(std::uint64_t p) { return static_cast<std::uint16_t>(p >> 40); }
  static SignalAt at(std::uint64_t p) { return static_cast<SignalAt>((p >> 56) & 0x7f); }
};

/// The same, as the two words of an event.
struct SignalEvent {
  static std::uint32_t a(std::uint32_t cta_slot, std::uint32_t stream) { return cta_slot << 16 | stream; }
  static std::uint32_t b(std::uint64_t packed, std::uint32_t reason) {
    return static_cast<std::uint32_t>(PackedSignal::cls(packed)) | std::uint32_t{PackedSignal::slot(packed)} << 4 |
           std::uint32_t{PackedSignal::arrivals(packed)} << 12 | reason << 20;
  }
  static std::uint32_t cta_slot(std::uint32_t a) { return a >> 16; }
  static std::uint32_t stream(std::uint32_t a) { return a & 0xffffU; }
  static TokenClass cls(std::uint32_t b) { return static_cast<TokenClass>(b & 0xfU); }
  static std::uint8_t slot(std::uint32_t b) { return static_cast<std::uint8_t>(b >> 4); }
  static std::uint32_t arrivals(std::uint32_t b) { return (b >> 12) & 0xffU; }
  static std::uint32_t reason(std::uint32_t b) { return b >> 20; }
};

}  // namespace strata

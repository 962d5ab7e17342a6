/// Reservations: the one way a shared unit spends time.
///
/// A unit is reserved at the event of arrival, never ahead of time, so requests are served in arrival order.
#pragma once

#include <cstdint>

#include "sim/base/time.hpp"

namespace strata {

/// A serial unit (port, bus, pipe) that moves `per_cycle` units of work in `period` ticks. Fractions of a tick are
/// carried to the next reservation, so a long stream runs at exactly the configured rate.
class Resource {
 public:
  Resource() = default;
  /// @param period ticks per cycle of the unit's clock
  /// @param per_cycle work done per cycle (bytes, sectors, instructions), scaled by the caller to an integer; >= 1
  Resource(Tick period, std::int64_t per_cycle) : period_(period), per_cycle_(per_cycle > 0 ? per_cycle : 1) {
    reciprocal_ = ~std::uint64_t{0} / static_cast<std::uint64_t>(per_cycle_);
    if ((per_cycle_ & (per_cycle_ - 1)) == 0) {
      shift_ = static_cast<std::int8_t>(__builtin_ctzll(static_cast<unsigned long long>(per_cycle_)));
    }
  }

  /// Takes the unit for `work` from `arrival` on or from when it is free; returns the tick at which it is done.
  Tick reserve(Tick arrival, std::int64_t work) {
    if (arrival > next_free_) {
      next_free_ = arrival;
      remainder_ = 0;
    }
    const std::int64_t scaled = work * period_ + remainder_;
    const Tick ticks = shift_ >= 0 ? scaled >> shift_ : divide(scaled);
    remainder_ = scaled - ticks * per_cycle_;
    next_free_ += ticks;
    busy_ += ticks;
    return next_free_;
  }
  /// Holds the unit for a fixed time.
  Tick hold(Tick arrival, Tick ticks) {
    if (arrival > next_free_) {
      next_free_ = arrival;
    }
    next_free_ += ticks;
    busy_ += ticks;
    return next_free_;
  }
  [[nodiscard]] Tick next_free() const { return next_free_; }
  [[nodiscard]] Tick busy() const { return busy_; }  ///< total ticks held

 private:
  /// scaled / per_cycle_ by multiplication with the reciprocal, put right by at most one.
  [[nodiscard]] Tick divide(std::int64_t scaled) const {
    auto q = static_cast<Tick>((static_cast<Wide>(scaled) * reciprocal_) >> 64);
    if (scaled - q * per_cycle_ >= per_cycle_) {
      ++q;
    }
    return q;
  }
  __extension__ using Wide = unsigned __int128;

  Tick period_ = 1;
  std::int64_t per_cycle_ = 1;
  Tick next_free_ = 0;
  std::int64_t remainder_ = 0;
  Tick busy_ = 0;
  std::uint64_t reciprocal_ = 0;
  std::int8_t shift_ = -1;  ///< log2 of per_cycle_ when it is a power of two: the common case needs no division
};

}  // namespace strata

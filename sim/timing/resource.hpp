/// Reservations: the one way a shared unit spends time.
///
/// A unit is reserved at the event of arrival, never ahead of time, so requests are served in arrival order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/base/time.hpp"

namespace strata {

/// A serial unit (port, bus, pipe) that moves `per_cycle` units of work in `period` ticks. Fractions of a tick are
/// carried to the next reservation, so a long stream runs at exactly the configured rate.
class Resource {
 public:
  Resource() = default;
  /// @param period ticks per cycle of the unit's clock, below 2^31 (TimeBase: at most 1.6e7)
  /// @param per_cycle work done per cycle (bytes, sectors, instructions), scaled by the caller to an integer; 1..2^31-1
  Resource(Tick period, std::int64_t per_cycle)
      : period_(static_cast<std::int32_t>(period)),
        per_cycle_(static_cast<std::int32_t>(std::clamp<std::int64_t>(per_cycle, 1, INT32_MAX))) {
    const auto rate = static_cast<std::uint32_t>(per_cycle_);
    if (std::has_single_bit(rate)) {
      shift_ = static_cast<std::int8_t>(std::countr_zero(rate));
    }
  }

  /// Takes the unit for `work` from `arrival` on or from when it is free; returns the tick at which it is done.
  Tick reserve(Tick arrival, std::int64_t work) {
    if (arrival > next_free_) {
      next_free_ = arrival;
      remainder_ = 0;
    }
    const std::int64_t scaled = work * period_ + remainder_;
    const Tick ticks = shift_ >= 0 ? scaled >> shift_ : scaled / per_cycle_;
    remainder_ = static_cast<std::int32_t>(scaled - ticks * per_cycle_);
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
  Tick next_free_ = 0;
  Tick busy_ = 0;
  std::int32_t period_ = 1;
  std::int32_t per_cycle_ = 1;
  std::int32_t remainder_ = 0;
  std::int8_t shift_ = -1;  ///< log2 of per_cycle_ when it is a power of two: the common case needs no division
};
static_assert(sizeof(Resource) == 32);  // two to a line of the host's cache

}  // namespace strata

/// Many serial units that are alike, such as the data ports of all slices of a cache.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/time.hpp"

namespace strata {

/// What a number of Resources of one rate do, with the division made once for a piece of work that many of them take,
/// and with what a reservation needs in 16 bytes, four to a line of the host's cache.
class PortBank {
 public:
  /// An amount of work as time: `ticks` and a fraction of one more.
  struct Work {
    Tick ticks = 0;
    std::int64_t fraction = 0;  ///< in 1 / per_cycle of a tick
  };

  PortBank() = default;
  /// @param period ticks per cycle of the units' clock
  /// @param per_cycle work that each does per cycle, at least 1
  PortBank(std::size_t units, Tick period, std::int64_t per_cycle)
      : period_(period), per_cycle_(std::max<std::int64_t>(1, per_cycle)), units_(units) {}

  [[nodiscard]] Work work(std::int64_t amount) const {
    const std::int64_t scaled = amount * period_;
    return {scaled / per_cycle_, scaled % per_cycle_};
  }
  /// Takes a unit from `arrival` on or from when it is free; returns the tick at which it is done. Fractions of a tick
  /// are carried to the unit's next reservation if that follows without a gap.
  Tick reserve(std::size_t unit, Tick arrival, const Work& work) {
    fractions_ = fractions_ || work.fraction != 0;
    return take(units_[unit], per_cycle_, arrival, work, busy_);
  }
  /// Takes the unit `unit_of[i]` for every bit i of `mask`, each for the same work; returns when the last one is done.
  template <std::size_t N>
  Tick reserve_each(std::uint32_t mask, const std::array<std::uint8_t, N>& unit_of, Tick arrival, const Work& work) {
    fractions_ = fractions_ || work.fraction != 0;
    if (!fractions_) {
      return reserve_whole(mask, unit_of, arrival, work.ticks);
    }
    Tick held = 0;
    Tick done = arrival;
    for (; mask != 0; mask &= mask - 1) {
      Unit& u = units_[unit_of[static_cast<std::size_t>(std::countr_zero(mask))]];
      done = std::max(done, take(u, per_cycle_, arrival, work, held));
    }
    busy_ += held;
    return done;
  }
  [[nodiscard]] Tick busy() const { return busy_; }  ///< total ticks held, summed over the units
  [[nodiscard]] std::size_t size() const { return units_.size(); }

 private:
  struct Unit {
    Tick next_free = 0;
    std::int64_t fraction = 0;
  };
  /// Without jumps: whether a unit is free, and whether its fractions make a tick, is as good as random.
  static Tick take(Unit& u, std::int64_t per_cycle, Tick arrival, const Work& work, Tick& held) {
    const std::int64_t follows = -static_cast<std::int64_t>(arrival <= u.next_free);  // all ones or none
    const std::int64_t beyond = work.fraction + (u.fraction & follows) - per_cycle;
    const std::int64_t below = beyond >> 63;
    const Tick ticks = work.ticks + 1 + below;
    u.fraction = beyond + (per_cycle & below);
    u.next_free = std::max(arrival, u.next_free) + ticks;
    held += ticks;
    return u.next_free;
  }

  /// reserve_each() where no unit has a fraction of a tick to carry.
  template <std::size_t N>
  Tick reserve_whole(std::uint32_t mask, const std::array<std::uint8_t, N>& unit_of, Tick arrival, Tick ticks) {
    busy_ += ticks * std::popcount(mask);
    Unit* units = units_.data();
    Tick last = arrival - ticks;  // start of the last one
    for (; mask != 0; mask &= mask - 1) {
      Unit& u = units[unit_of[static_cast<std::size_t>(std::countr_zero(mask))]];
      const Tick start = std::max(arrival, u.next_free);
      u.next_free = start + ticks;
      last = std::max(last, start);
    }
    return last + ticks;
  }

  Tick period_ = 1;
  std::int64_t per_cycle_ = 1;
  Tick busy_ = 0;
  bool fractions_ = false;  ///< some work was no whole number of ticks
  std::vector<Unit> units_;
};

}  // namespace strata

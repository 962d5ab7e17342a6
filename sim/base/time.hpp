/// Integer time over the clock domains of one GPU, without drift.
///
/// One tick is 1 / lcm(f_sm, f_l2, f_hbm) of a second, so a cycle of every domain is a whole number of ticks and no
/// edge is ever rounded. With whole-MHz clocks below 4 GHz the lcm stays under 6.4e10 MHz and 64 bits last for at
/// least two minutes of simulated time.
#pragma once

#include <cstdint>

namespace strata {

using Tick = std::int64_t;    ///< engine time; see TimeBase for its length
using Cycles = std::int64_t;  ///< cycles of a named clock

inline constexpr Tick kNever = INT64_MAX;

/// Whole-MHz clocks and the tick length that makes every period exact.
class TimeBase {
 public:
  TimeBase() = default;
  /// Clocks in MHz, each 1..3999. Throws InputError outside that range.
  TimeBase(int sm_mhz, int l2_mhz, int hbm_mhz);

  Tick sm = 1;   ///< ticks per SM cycle
  Tick l2 = 1;   ///< ticks per L2 cycle
  Tick hbm = 1;  ///< ticks per HBM clock cycle
  std::int64_t ticks_per_us = 1;
  int sm_mhz = 1;
  int l2_mhz = 1;
  int hbm_mhz = 1;

  [[nodiscard]] double microseconds(Tick t) const { return static_cast<double>(t) / static_cast<double>(ticks_per_us); }
  [[nodiscard]] double sm_cycles(Tick t) const { return static_cast<double>(t) / static_cast<double>(sm); }
  /// Nanoseconds (a rational, rounded to the nearest tick once) as ticks.
  [[nodiscard]] Tick from_ns(double ns) const {
    return static_cast<Tick>(ns * static_cast<double>(ticks_per_us) / 1000.0 + 0.5);
  }
};

}  // namespace strata

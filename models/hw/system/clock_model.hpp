/// The SM clock when none is given: power makes it fall as the tensor cores and HBM get busier.
#pragma once

#include <string>

#include "sim/config/gpu_config.hpp"
#include "workloads/spec/launch.hpp"

namespace strata {

struct ClockChoice {
  int sm_mhz = 0;
  std::string how;
};

/// A given clock is rounded to whole MHz and clamped to the part's maximum. Without one, the clock lies between the
/// part's maximum, its clock under full tensor load and its clock with HBM saturated, by the roofline's estimate of how
/// busy both would be. Source: SM clocks of the calibration launches (docs/model/clock.md).
[[nodiscard]] ClockChoice choose_clock(const GpuConfig& gpu, const WorkTotals& work, double given_mhz);

}  // namespace strata

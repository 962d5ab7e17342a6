/// Short runs on a GPU with a fixed SM clock, and differences between two of them: a difference has neither launch
/// cost nor cold start in it.
#pragma once

#include <string>
#include <vector>

#include "models/hw/system/simulator.hpp"
#include "sim/config/gpu_description.hpp"
#include "tests/support/h100.hpp"

namespace strata::test {

inline constexpr double kClockMhz = 1980;

inline GpuConfig h100_with(const std::vector<std::string>& overrides) {
  return load_gpu("h100-sxm5-80gb", overrides).config;
}

inline Result run(const GpuConfig& gpu, const TraceSource& source) {
  return simulate(gpu, source, SimulationOptions{kClockMhz, {}});
}

inline double count(const Result& r, Counter c) { return static_cast<double>(r.counters[c]); }

}  // namespace strata::test

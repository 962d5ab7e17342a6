/// Runs one microbenchmark trace and keeps what its stamps say.
#pragma once

#include <vector>

#include "sim/base/time.hpp"
#include "sim/config/gpu_config.hpp"
#include "sim/result/result.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata::app {

/// The span of one stamp (workloads/kernels/microbench/program.hpp), in ticks.
struct StampSpan {
  Tick begin = 0;
  Tick end = 0;
};

struct MicrobenchRun {
  Result result;
  TimeBase time;
  std::vector<std::vector<StampSpan>> stamps;  ///< by SM, in order of time; empty where nothing was stamped

  /// Clocks from the first stamp of an SM to its last; 0 when it has fewer than two.
  [[nodiscard]] double cycles(std::size_t sm) const;
  [[nodiscard]] double slowest_cycles() const;
  /// From the first stamp of any SM to the last one.
  [[nodiscard]] double span_ns() const;
  /// From the mean of the SMs' first stamps to the mean of their last ones: the window of a steady rate.
  [[nodiscard]] double mean_window_ns() const;
};

/// Throws InputError where the launch cannot run on `gpu`, or would never end: its CTAs wait for one another and not
/// all of them are there at once. Simulates nothing.
void check_launch(const GpuConfig& gpu, const Launch& launch);
/// Throws what simulate() throws. @param sm_clock_mhz  the clock of the measurement.
[[nodiscard]] MicrobenchRun run_microbench(const GpuConfig& gpu, const TraceSource& source, double sm_clock_mhz);

}  // namespace strata::app

/// Builds a GPU from a configuration and runs a trace source to a Result.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "sim/config/gpu_config.hpp"
#include "sim/observe/observer.hpp"
#include "sim/result/result.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

struct SimulationOptions {
  double sm_clock_mhz = 0;  ///< 0 = the clock model chooses; above the part's maximum it is clamped and noted
  /// Called about every 2^20 events with the share of CTAs that have finished and the SM cycles so far, which grow
  /// while a CTA runs on; may be empty.
  std::function<void(double done_share, double sm_cycles)> progress;
  /// Long launches that repeat themselves are simulated in part (sampling.hpp). Not together with an observer.
  bool sample = false;
  ObserverSink* observer = nullptr;  ///< told what each SM did and when; not owned, may be null
};

/// Runs one launch, cold (L2, TLB, instruction cache and descriptors empty).
/// Throws InputError when the launch cannot be resident (tile too large, grid of zero), ModelBug when a unit breaks an
/// invariant, and StalledError when nothing can make progress.
[[nodiscard]] Result simulate(const GpuConfig& gpu, const TraceSource& source, const SimulationOptions& options = {});

/// A launch that cannot make progress; the text lists the waiting units. sim/app exits with 1.
class StalledError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace strata

#include "models/hw/system/simulator.hpp"

#include <algorithm>
#include <chrono>

#include "models/hw/system/clock_model.hpp"
#include "models/hw/system/gpu.hpp"
#include "sim/base/error.hpp"

namespace strata {

Result simulate(const GpuConfig& gpu, const TraceSource& source, const SimulationOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const Launch& launch = source.launch();
  if (launch.cluster_size() > 1 && gpu.chip.architecture == "ampere") {
    throw UnsupportedError(gpu.chip.name + " has no thread-block clusters");
  }
  const ClockChoice clock = choose_clock(gpu, launch.work, options.sm_clock_mhz);
  Gpu machine(gpu, source, clock.sm_mhz);
  machine.run(options);
  Result r = machine.result();
  r.sm_clock_source = clock.how;
  r.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return r;
}

}  // namespace strata

#include "models/hw/system/simulator.hpp"

#include <fmt/format.h>

#include <chrono>

#include "models/hw/system/clock_model.hpp"
#include "models/hw/system/gpu.hpp"
#include "sim/base/error.hpp"
#include "sim/result/bottleneck.hpp"

namespace strata {

namespace {

Result run_whole(const GpuConfig& gpu, const TraceSource& source, int sm_mhz, const SimulationOptions& options) {
  Gpu machine(gpu, source, sm_mhz);
  machine.run(options);
  return machine.result();
}

Result run_shortened(const GpuConfig& gpu, const TraceSource& source, int sm_mhz, const SimulationOptions& options,
                     const SamplingPlan& plan) {
  const std::unique_ptr<TraceSource> shortened = source.without(plan.first, plan.count);
  Gpu machine(gpu, *shortened, sm_mhz);
  Result r = machine.run_sampled(options, plan, source.repetition().marks > 0);
  r.grid_ctas = source.launch().num_ctas();
  return r;
}

/// Each byte of the operands is read from HBM at least once: a window that shows fewer was no fair sample. It is none
/// of persistent CTAs that have a few K tiles a piece, whose copies run several pieces ahead.
bool reads_enough(const Result& r, const GpuConfig& gpu) {
  constexpr double kAll = 0.97;
  const double compulsory = r.work.compulsory_read_bytes;
  return compulsory < static_cast<double>(gpu.l2.size_bytes) || r.dram_read_bytes() >= kAll * compulsory;
}

}  // namespace

Result simulate(const GpuConfig& gpu, const TraceSource& source, const SimulationOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const Launch& launch = source.launch();
  if (launch.cluster_size() > 1 && gpu.chip.architecture == "ampere") {
    throw UnsupportedError(gpu.chip.name + " has no thread-block clusters");
  }
  const Dim3& grid = launch.grid;
  const Dim3& cluster = launch.cluster;
  if (cluster.count() == 0 || cluster.count() > kMaxClusterSize || grid.x % cluster.x != 0 || grid.y % cluster.y != 0 ||
      grid.z % cluster.z != 0) {
    throw InputError(Diagnostic{{},
                                0,
                                0,
                                "cluster",
                                fmt::format("{}x{}x{} CTAs of a grid of {}x{}x{}: expected at most {} CTAs and a size "
                                            "that divides the grid in each dimension",
                                            cluster.x, cluster.y, cluster.z, grid.x, grid.y, grid.z, kMaxClusterSize)});
  }
  const ClockChoice clock = choose_clock(gpu, launch.work, options.sm_clock_mhz);
  const std::optional<SamplingPlan> plan = options.sample ? plan_sampling(gpu, source) : std::nullopt;
  Result r =
      plan ? run_shortened(gpu, source, clock.sm_mhz, options, *plan) : run_whole(gpu, source, clock.sm_mhz, options);
  if (plan && !reads_enough(r, gpu)) {
    r = run_whole(gpu, source, clock.sm_mhz, options);
  }
  r.sm_clock_source = clock.how;
  decide_bottleneck(r);
  r.host_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return r;
}

}  // namespace strata

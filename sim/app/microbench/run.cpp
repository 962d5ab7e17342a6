#include "sim/app/microbench/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "models/hw/sm/occupancy.hpp"
#include "models/hw/system/simulator.hpp"
#include "sim/base/error.hpp"

namespace strata::app {

namespace {

/// Collects the spans that stamps leave on the timeline: waits and control of stream 0.
class StampSink final : public ObserverSink {
 public:
  explicit StampSink(std::size_t sms) : stamps(sms) {}
  void on_span(const Span& span) override {
    if (span.sm < stamps.size() && std::string_view(span.lane) == "stream 0" &&
        std::string_view(span.name) == "barrier or control") {
      stamps[span.sm].push_back(StampSpan{span.begin, span.end});
    }
  }
  std::vector<std::vector<StampSpan>> stamps;
};

}  // namespace

double MicrobenchRun::cycles(std::size_t sm) const {
  const auto& s = stamps[sm];
  return s.size() < 2 ? 0.0 : time.sm_cycles(s.back().begin - s.front().end);
}

double MicrobenchRun::slowest_cycles() const {
  double most = 0;
  for (std::size_t sm = 0; sm < stamps.size(); ++sm) {
    most = std::max(most, cycles(sm));
  }
  return most;
}

double MicrobenchRun::span_ns() const {
  Tick first = std::numeric_limits<Tick>::max();
  Tick last = 0;
  for (const auto& s : stamps) {
    if (s.size() >= 2) {
      first = std::min(first, s.front().end);
      last = std::max(last, s.back().begin);
    }
  }
  return last > first ? 1000.0 * time.microseconds(last - first) : 0.0;
}

double MicrobenchRun::mean_window_ns() const {
  double sum = 0;
  double sms = 0;
  for (const auto& s : stamps) {
    // Each CTA of the SM left two stamps: the openings come first.
    if (s.size() < 2) {
      continue;
    }
    const std::size_t half = s.size() / 2;
    double window = 0;
    for (std::size_t i = 0; i < half; ++i) {
      window += 1000.0 * time.microseconds(s[half + i].begin - s[i].end);
    }
    sum += window / static_cast<double>(half);
    sms += 1;
  }
  return sms > 0 ? sum / sms : 0.0;
}

void check_launch(const GpuConfig& gpu, const Launch& launch) {
  const SmOccupancy of_sm = occupancy(gpu, launch);
  const std::uint64_t resident = std::uint64_t{of_sm.ctas} * static_cast<std::uint64_t>(gpu.num_sms());
  if (launch.global_counters > 0 && launch.num_ctas() > resident) {
    throw InputError(Diagnostic{{},
                                0,
                                0,
                                "grid",
                                fmt::format("{} CTAs that wait for one another; {} holds {} of them at once",
                                            launch.num_ctas(), gpu.chip.name, resident)});
  }
  if (launch.cluster_size() == 1) {
    return;
  }
  const std::vector<int>& gpcs = gpu.topology.gpc_cluster_sms;
  const int largest = gpcs.empty() ? 0 : *std::max_element(gpcs.begin(), gpcs.end());
  const std::uint64_t most = std::uint64_t{of_sm.ctas} * static_cast<std::uint64_t>(largest);
  if (launch.num_ctas() % launch.cluster_size() != 0 || launch.cluster_size() > most) {
    throw InputError(Diagnostic{{},
                                0,
                                0,
                                "cluster",
                                fmt::format("clusters of {} CTAs in a grid of {}: expected a size that divides the "
                                            "grid and at most {}, which a GPC of {} holds",
                                            launch.cluster_size(), launch.num_ctas(), most, gpu.chip.name)});
  }
}

MicrobenchRun run_microbench(const GpuConfig& gpu, const TraceSource& source, double sm_clock_mhz) {
  StampSink sink(static_cast<std::size_t>(gpu.num_sms()));
  SimulationOptions options;
  options.sm_clock_mhz = sm_clock_mhz;
  options.observer = &sink;
  MicrobenchRun run;
  run.result = simulate(gpu, source, options);
  run.time = TimeBase(run.result.sm_clock_mhz, run.result.l2_clock_mhz, run.result.hbm_clock_mhz);
  run.stamps = std::move(sink.stamps);
  for (auto& s : run.stamps) {
    std::sort(s.begin(), s.end(), [](const StampSpan& a, const StampSpan& b) { return a.begin < b.begin; });
  }
  return run;
}

}  // namespace strata::app

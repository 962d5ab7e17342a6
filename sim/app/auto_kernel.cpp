#include "sim/app/auto_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "models/hw/system/sampling.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/base/error.hpp"

namespace strata::app {

namespace {

/// The part of a launch that is simulated, the rest of which is added by proportion.
double simulated_share(const GpuConfig& gpu, const TraceSource& source) {
  const auto plan = plan_sampling(gpu, source);
  return plan ? static_cast<double>(plan->pieces - plan->count) / static_cast<double>(plan->pieces) : 1;
}

/// How many candidates are simulated: as many as take seconds. A product of 4096^3 takes about one, and time goes with
/// the work, and with what passes through the caches meanwhile, about a gigabyte a second: long and thin products do
/// little work for their loads, and no sample shortens a loop along K. Throws UnsupportedError where one takes too
/// long.
std::size_t affordable(const std::vector<KernelCandidate>& all, const GpuConfig& gpu, const TargetFacts& target) {
  constexpr double kFlopsInAll = 1.6e12;
  constexpr double kBytesInAll = 60e9;
  constexpr double kBytesOfOne = 120e9;  // a product of 32768^3 has 70e9
  constexpr double kFewest = 3;
  constexpr double kMost = 12;
  const WorkTotals work = resolve_launch(all.front().launches.front(), target).source->launch().work;
  const double flops = std::max(1.0, work.tensor_flops + work.fp32_flops);
  const double by_flops = std::clamp(std::floor(kFlopsInAll / flops), kFewest, kMost);
  const KernelCandidate& candidate = *std::min_element(
      all.begin(), all.end(), [](const auto& a, const auto& b) { return a.estimated_cycles < b.estimated_cycles; });
  if (candidate.fill_bytes * by_flops <= kBytesInAll) {
    return static_cast<std::size_t>(by_flops);  // even where all of it is simulated
  }
  const BuiltKernel best = resolve_launch(candidate.launches.front(), target);
  const double bytes = std::max(1.0, candidate.fill_bytes * simulated_share(gpu, *best.source));
  if (bytes > kBytesOfOne) {
    throw UnsupportedError(
        fmt::format("too large to choose its kernel: {:.0f} GB have to pass through the simulated caches for each "
                    "candidate, at most {:.0f} do; name a kernel, which may take many minutes",
                    bytes / 1e9, kBytesOfOne / 1e9));
  }
  return static_cast<std::size_t>(std::clamp(std::floor(kBytesInAll / bytes), 1.0, by_flops));
}

/// Pruned candidates, or the reason why there are none.
AutoChoice begin_choice(const LaunchRow& row, const GpuConfig& gpu, const TargetFacts& target) {
  AutoChoice out;
  try {
    std::vector<KernelCandidate> all = kernel_candidates(row, target);
    out.considered = all.size();
    const std::size_t most = affordable(all, gpu, target);
    for (KernelCandidate& candidate : promising_candidates(std::move(all), most)) {
      out.simulated.push_back({std::move(candidate), {}});
    }
  } catch (const UnsupportedError& error) {
    out.reason = error.what();
  } catch (const InputError& error) {
    out.reason = error.what();
  }
  return out;
}

void sort_by_time(AutoChoice& choice) {
  std::stable_sort(choice.simulated.begin(), choice.simulated.end(),
                   [](const SimulatedCandidate& a, const SimulatedCandidate& b) {
                     if (a.ok() != b.ok()) return a.ok();
                     return a.ok() && a.duration_us() < b.duration_us();
                   });
  if (choice.reason.empty() && !choice.simulated.front().ok()) {
    for (const auto& launch : choice.simulated.front().launches) {
      choice.reason = choice.reason.empty() ? launch->reason : choice.reason;
    }
  }
}

void add_to(Result& sum, const Result& launch) {
  sum.sm_cycles += launch.sm_cycles;
  sum.sm_active_cycles_avg += launch.sm_active_cycles_avg;
  sum.duration_us += launch.duration_us;
  for (std::size_t i = 0; i < kNumCounters; ++i) {
    sum.counters.value[i] += launch.counters.value[i];
  }
}

/// Columns of a launch whose kernel is to be chosen are another kernel's: which one the chosen kernel overrules.
std::string overruled_columns(const LaunchRow& row) {
  std::vector<const char*> columns;
  if (row.grid) columns.push_back("grid_dim");
  if (row.block) columns.push_back("block_dim");
  if (row.cluster) columns.push_back("cluster_dim");
  if (row.registers) columns.push_back("regs");
  if (row.smem_dynamic) columns.push_back("smem_dyn");
  if (row.smem_static) columns.push_back("smem_static");
  if (columns.empty()) return {};
  return fmt::format("a kernel to choose beside {} of another; the chosen kernel's own are simulated",
                     fmt::join(columns, ", "));
}

Prediction prediction_of(const AutoChoice& choice) {
  Prediction out;
  out.reason = choice.reason;
  for (const SimulatedCandidate& candidate : choice.simulated) {
    for (const auto& launch : candidate.launches) {
      out.host_seconds += launch->host_seconds;
      out.model_bug = out.model_bug || (!choice.ok() && launch->model_bug);
    }
  }
  if (!choice.ok()) {
    return out;
  }
  const SimulatedCandidate& best = choice.simulated.front();
  out.ok = true;
  out.kernel = best.name();
  out.family = best.launches.front()->family;
  out.result = best.launches.front()->result;
  for (std::size_t i = 1; i < best.launches.size(); ++i) {
    add_to(out.result, best.launches[i]->result);
  }
  return out;
}

}  // namespace

bool SimulatedCandidate::ok() const {
  return std::all_of(launches.begin(), launches.end(), [](const auto& launch) { return launch->ok; });
}

double SimulatedCandidate::duration_us() const {
  double sum = 0;
  for (const auto& launch : launches) {
    sum += launch->result.duration_us;
  }
  return sum;
}

std::string SimulatedCandidate::name() const {
  std::string out = candidate.launches.front().kernel;
  for (std::size_t i = 1; i < candidate.launches.size(); ++i) {
    const std::string canonical = canonical_kernel_name(candidate.launches[i].kernel);
    out += " + " + canonical.substr(0, canonical.find('<'));
  }
  return out;
}

bool leaves_kernel_open(const LaunchRow& row) { return row.kernel.empty() || row.kernel == "auto"; }

std::vector<AutoChoice> choose_kernels(LaunchPredictor& predictor, std::span<const LaunchJob> jobs) {
  const TargetFacts target = target_facts(predictor.gpu());
  std::vector<AutoChoice> choices;
  std::vector<LaunchJob> launches;
  for (const LaunchJob& job : jobs) {
    choices.push_back(begin_choice(job.row, predictor.gpu(), target));
    for (const SimulatedCandidate& candidate : choices.back().simulated) {
      for (const LaunchRow& row : candidate.candidate.launches) {
        launches.push_back({row, job.sm_clock_mhz});
      }
    }
  }
  const auto predictions = predictor.predict(launches);
  std::size_t next = 0;
  for (AutoChoice& choice : choices) {
    for (SimulatedCandidate& candidate : choice.simulated) {
      for (std::size_t i = 0; i < candidate.candidate.launches.size(); ++i) {
        candidate.launches.push_back(predictions[next++]);
      }
    }
    sort_by_time(choice);
  }
  return choices;
}

std::vector<std::shared_ptr<const Prediction>> predict_or_choose(LaunchPredictor& predictor,
                                                                 std::span<const LaunchJob> jobs) {
  std::vector<LaunchJob> open;
  std::vector<LaunchJob> named;
  for (const LaunchJob& job : jobs) {
    (leaves_kernel_open(job.row) ? open : named).push_back(job);
  }
  const std::vector<AutoChoice> choices = choose_kernels(predictor, open);
  const auto predictions = predictor.predict(named);
  std::vector<std::shared_ptr<const Prediction>> out;
  out.reserve(jobs.size());
  std::size_t next_open = 0;
  std::size_t next_named = 0;
  for (const LaunchJob& job : jobs) {
    if (leaves_kernel_open(job.row)) {
      Prediction prediction = prediction_of(choices[next_open++]);
      prediction.warning = overruled_columns(job.row);
      out.push_back(std::make_shared<const Prediction>(std::move(prediction)));
    } else {
      out.push_back(predictions[next_named++]);
    }
  }
  return out;
}

std::vector<std::string> notes_of(const AutoChoice& choice, bool all) {
  std::vector<std::string> notes{fmt::format("chose {}, the fastest of {} simulated and {} possible kernels",
                                             choice.simulated.front().name(), choice.simulated.size(),
                                             choice.considered)};
  for (const SimulatedCandidate& candidate : choice.simulated) {
    if (all && candidate.ok()) {
      notes.push_back(fmt::format("candidate {}: {:.2f} us, estimated {:.0f} cycles", candidate.name(),
                                  candidate.duration_us(), candidate.candidate.estimated_cycles));
    }
  }
  return notes;
}

}  // namespace strata::app

#include "sim/app/kernel_comparison.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "sim/app/prediction_csv.hpp"
#include "sim/app/predictor.hpp"
#include "sim/result/roofline.hpp"

namespace strata::app {

namespace {

QuantityValues times(const RooflineEstimate& time) {
  QuantityValues out;
  out[Quantity::kSmCycles] = time.sm_cycles;
  out[Quantity::kDurationUs] = time.duration_us;
  return out;
}

/// @param fixed    the launch at the clock that was measured: cycles and traffic are scored on it.
/// @param modelled the same launch at the clock model's clock: durations are scored on it; may be null.
ComparedRow compare(const MeasuredLaunch& launch, const GpuConfig& gpu, const Prediction& fixed,
                    const Prediction* modelled) {
  ComparedRow row;
  row.case_name = launch.job.row.case_name;
  row.seq = launch.job.row.seq;
  row.kernel = launch.job.row.kernel;
  row.family = family_of(launch.job.row.kernel);
  row.split = launch.split;
  row.measured = launch.measured;
  row.supported = fixed.ok;
  row.reason = fixed.reason;
  if (!fixed.ok) {
    return row;
  }
  const auto predicted = [&row](strata::Predictor p) -> QuantityValues& {
    return row.predicted[static_cast<std::size_t>(p)];
  };
  row.bottleneck = to_string(fixed.result.bottleneck);
  predicted(strata::Predictor::kSimulator) = quantities_of(fixed.result);
  predicted(strata::Predictor::kRoofline) = times(roofline(gpu, fixed.result.work, fixed.result.sm_clock_mhz));
  predicted(strata::Predictor::kBound) = times(bound(gpu, fixed.result.work, fixed.result.sm_clock_mhz));
  QuantityValues& compulsory = predicted(strata::Predictor::kCompulsory);
  compulsory[Quantity::kDramReadBytes] = fixed.result.work.compulsory_read_bytes;
  compulsory[Quantity::kDramWriteBytes] = fixed.result.work.compulsory_write_bytes;
  compulsory[Quantity::kDramBytes] = fixed.result.work.compulsory_read_bytes + fixed.result.work.compulsory_write_bytes;
  for (const strata::Predictor p :
       {strata::Predictor::kSimulator, strata::Predictor::kRoofline, strata::Predictor::kBound}) {
    predicted(p)[Quantity::kDurationUs].reset();
  }
  if (modelled != nullptr && modelled->ok) {
    predicted(strata::Predictor::kSimulator)[Quantity::kDurationUs] = modelled->result.duration_us;
    predicted(strata::Predictor::kRoofline)[Quantity::kDurationUs] =
        roofline(gpu, modelled->result.work, modelled->result.sm_clock_mhz).duration_us;
    predicted(strata::Predictor::kBound)[Quantity::kDurationUs] =
        bound(gpu, modelled->result.work, modelled->result.sm_clock_mhz).duration_us;
  }
  return row;
}

/// Launches predicted at once: their whole results are in memory only so long.
constexpr std::size_t kChunkRows = 8192;

/// The launches at the measured clock, then all of them at the clock model's.
std::vector<LaunchJob> jobs_of(std::span<const MeasuredLaunch> launches, bool cycles_only) {
  std::vector<LaunchJob> jobs;
  for (const MeasuredLaunch& launch : launches) {
    jobs.push_back(launch.job);
  }
  for (std::size_t i = 0; !cycles_only && i < launches.size(); ++i) {
    jobs.push_back(launches[i].job);
    jobs.back().sm_clock_mhz = 0;
  }
  return jobs;
}

}  // namespace

Comparison compare_kernels(const GpuConfig& gpu, const MeasuredFile& file, const KernelComparisonOptions& options) {
  const std::size_t all_jobs = file.launches.size() * (options.cycles_only ? 1 : 2);
  LaunchPredictor predictor(gpu, options.jobs, options.exact);
  if (options.progress) {
    predictor.on_progress([&](std::size_t done) { options.progress(done, all_jobs); });
  }
  Comparison comparison;
  comparison.gpu = gpu.chip.name;
  comparison.other_gpu = file.other_gpu;
  const std::span<const MeasuredLaunch> launches = file.launches;
  for (std::size_t at = 0; at < launches.size(); at += kChunkRows) {
    const auto chunk = launches.subspan(at, std::min(kChunkRows, launches.size() - at));
    const auto predictions = predictor.predict(jobs_of(chunk, options.cycles_only));
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const Prediction* modelled = options.cycles_only ? nullptr : predictions[chunk.size() + i].get();
      comparison.rows.push_back(compare(chunk[i], gpu, *predictions[i], modelled));
    }
  }
  score(comparison);
  return comparison;
}

}  // namespace strata::app

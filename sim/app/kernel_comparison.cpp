#include "sim/app/kernel_comparison.hpp"

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

}  // namespace

Comparison compare_kernels(const GpuConfig& gpu, const MeasuredFile& file, const KernelComparisonOptions& options) {
  const std::size_t n = file.launches.size();
  std::vector<LaunchJob> jobs;
  for (const MeasuredLaunch& launch : file.launches) {
    jobs.push_back(launch.job);
  }
  if (!options.cycles_only) {
    for (const MeasuredLaunch& launch : file.launches) {
      jobs.push_back(launch.job);
      jobs.back().sm_clock_mhz = 0;
    }
  }
  LaunchPredictor predictor(gpu, options.jobs, options.exact);
  if (options.progress) {
    predictor.on_progress([&](std::size_t done) { options.progress(done, jobs.size()); });
  }
  const auto predictions = predictor.predict(jobs);
  Comparison comparison;
  comparison.gpu = gpu.chip.name;
  comparison.other_gpu = file.other_gpu;
  for (std::size_t i = 0; i < n; ++i) {
    comparison.rows.push_back(
        compare(file.launches[i], gpu, *predictions[i], options.cycles_only ? nullptr : predictions[n + i].get()));
  }
  score(comparison);
  return comparison;
}

}  // namespace strata::app

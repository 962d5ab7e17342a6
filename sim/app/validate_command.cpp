/// strata validate: how far off the model is, beside the simple models it has to beat.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "sim/app/command.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/app/jobs_option.hpp"
#include "sim/app/measured_table.hpp"
#include "sim/app/output_file.hpp"
#include "sim/app/prediction_csv.hpp"
#include "sim/app/predictor.hpp"
#include "sim/app/progress.hpp"
#include "sim/app/validate_microbench.hpp"
#include "sim/base/error.hpp"
#include "sim/result/roofline.hpp"
#include "validation/compare/report.hpp"

namespace strata::app {

namespace {

constexpr double kPercent = 100;

struct ValidateOptions {
  GpuChoice gpu;
  std::string data;
  std::string json;
  std::string html;
  bool rows = false;
  bool cycles_only = false;
  bool microbench = false;
  std::string only;
  double max_error_cycles = 0;  ///< per cent; 0 = no threshold
  int jobs = 1;
};

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

/// Simulates every launch at the measured clock and, unless `cycles_only`, at the clock model's.
Comparison run_comparison(const ValidateOptions& options, const GpuConfig& gpu, const MeasuredFile& file) {
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
  LaunchPredictor predictor(gpu, options.jobs);
  Progress progress("validate");
  predictor.on_progress(
      [&](std::size_t done) { progress.show(fmt::format("{} of at most {} simulations done", done, jobs.size())); });
  const auto predictions = predictor.predict(jobs);
  Comparison comparison;
  comparison.gpu = gpu.chip.name;
  comparison.data = options.data;
  comparison.other_gpu = file.other_gpu;
  for (std::size_t i = 0; i < n; ++i) {
    comparison.rows.push_back(
        compare(file.launches[i], gpu, *predictions[i], options.cycles_only ? nullptr : predictions[n + i].get()));
  }
  score(comparison);
  return comparison;
}

/// Exit code for --max-error-cycles, with one line that says by how much.
int judge(const Comparison& comparison, double max_error_percent) {
  if (max_error_percent <= 0) {
    return kExitDone;
  }
  const ErrorStats& cycles = comparison.splits.front().overall.of(Quantity::kSmCycles);
  if (cycles.n == 0) {
    fmt::print(stderr, "strata: failed: no launch could be scored on sm_cycles\n");
    return kExitFailure;
  }
  if (kPercent * cycles.mean_abs > max_error_percent) {
    fmt::print(stderr, "strata: failed: mean error of sm_cycles is {:.2f} %, the limit is {:.2f} %\n",
               kPercent * cycles.mean_abs, max_error_percent);
    return kExitFailure;
  }
  return kExitDone;
}

int validate(const ValidateOptions& options) {
  const GpuConfig gpu = load_gpu(options.gpu).config;
  if (options.microbench) {
    return validate_microbench({options.data, options.only, options.json, options.html, options.rows, options.jobs},
                               gpu);
  }
  if (options.data.empty()) {
    throw InputError("strata validate needs --data FILE, or --microbench");
  }
  const MeasuredFile file = read_measured(options.data, gpu.chip.name);
  OutputSet outputs;
  const auto json = outputs.open(options.json, "--json");
  const auto html = outputs.open(options.html, "--html");
  const Comparison comparison = run_comparison(options, gpu, file);
  if (json) {
    outputs[*json].write(comparison_json(comparison));
  }
  if (html) {
    outputs[*html].write(comparison_html(comparison));
  }
  if (!outputs.uses_stdout()) {
    if (options.rows) {
      fmt::print("{}\n", comparison_rows_text(comparison));
    }
    fmt::print("{}", comparison_text(comparison));
  }
  outputs.commit();
  return judge(comparison, options.max_error_cycles);
}

}  // namespace

void add_validate(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("validate", "scores the model against hardware counters");
  auto options = std::make_shared<ValidateOptions>();
  add_gpu_options(*command, options->gpu);
  command->add_option("--data", options->data,
                      "measured CSV: the columns of `predict` and what the hardware counted (sm_cycles, "
                      "ncu_duration_ns, dram_read_bytes, ...; `split` names calibration and validation rows); with "
                      "--microbench a folder that run_all.sh filled, or a folder of such folders");
  command->add_flag("--microbench", options->microbench,
                    "compares measured microbenchmarks, point by point, with the same ones as traces");
  command->add_option("--only", options->only, "with --microbench: a program, or part of a microbenchmark's name");
  command->add_option("--json", options->json, "everything as JSON; - is standard output");
  command->add_option("--html", options->html, "tables and a scatter plot as one page");
  command->add_flag("--rows", options->rows, "lists every launch too");
  command->add_flag("--cycles-only", options->cycles_only,
                    "does not score durations, which need a second simulation at the clock model's clock");
  command
      ->add_option("--max-error-cycles", options->max_error_cycles,
                   "exit 1 when the mean error of sm_cycles over all supported launches exceeds this many per cent")
      ->check(CLI::PositiveNumber);
  add_jobs_option(*command, options->jobs);
  command->callback([options, &action] { action = [options] { return validate(*options); }; });
}

}  // namespace strata::app

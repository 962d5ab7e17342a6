/// strata validate: how far off the model is, beside the simple models it has to beat.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

#include "sim/app/auto_study.hpp"
#include "sim/app/command.hpp"
#include "sim/app/exact_option.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/app/jobs_option.hpp"
#include "sim/app/kernel_comparison.hpp"
#include "sim/app/measured_table.hpp"
#include "sim/app/microbench/compare.hpp"
#include "sim/app/output_file.hpp"
#include "sim/app/progress.hpp"
#include "sim/app/report_outputs.hpp"
#include "sim/app/validate_microbench.hpp"
#include "sim/app/warning.hpp"
#include "sim/base/error.hpp"
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
  bool glance = false;
  bool microbench = false;
  bool choices = false;
  std::string only;
  double max_error_cycles = 0;  ///< per cent; 0 = no threshold
  int jobs = 1;
  bool exact = false;
};

/// Exit code for --max-error-cycles, with one line that says by how much.
int judge(const Comparison& comparison, double max_error_percent) {
  if (max_error_percent <= 0) {
    return kExitDone;
  }
  const ErrorStats& cycles = comparison.splits.front().overall.of(Quantity::kSmCycles);
  if (cycles.n == 0) {
    say("strata: failed: no launch could be scored on sm_cycles");
    return kExitFailure;
  }
  if (kPercent * cycles.mean_abs > max_error_percent) {
    say(fmt::format("strata: failed: mean error of sm_cycles is {:.2f} %, the limit is {:.2f} %",
                    kPercent * cycles.mean_abs, max_error_percent));
    return kExitFailure;
  }
  return kExitDone;
}

/// --auto: the kernels that would be chosen, beside those that the library chose.
int study_auto(const ValidateOptions& options, const GpuConfig& gpu, const MeasuredFile& file) {
  Progress progress("validate");
  const AutoStudy study = study_choices(
      gpu, file, options.jobs, [&](std::size_t done) { progress.show(fmt::format("{} simulations done", done)); });
  clear_progress();
  fmt::print("{}", auto_study_text(study));
  return kExitDone;
}

void check_options(const ValidateOptions& options) {
  require_with(!options.only.empty(), "--only", options.microbench, "--microbench");
  refuse_both(options.choices, "--auto", options.microbench, "--microbench");
  for (const auto& [other, name] : {std::pair{options.microbench, "--microbench"}, {options.choices, "--auto"}}) {
    refuse_both(options.cycles_only, "--cycles-only", other, name);
    refuse_both(options.exact, "--exact", other, name);
    refuse_both(options.glance, "--glance", other, name);
    refuse_both(options.max_error_cycles > 0, "--max-error-cycles", other, name);
  }
  refuse_both(options.rows, "--rows", options.choices, "--auto");
  refuse_both(!options.json.empty(), "--json", options.choices, "--auto");
  refuse_both(!options.html.empty(), "--html", options.choices, "--auto");
}

int validate(const ValidateOptions& options) {
  check_options(options);
  const GpuDescription description = load_gpu(options.gpu);
  const GpuConfig& gpu = description.config;
  const std::string data = options.microbench ? microbench_folder(options.data, gpu.chip.name) : options.data;
  refuse_overwriting_inputs({{options.json, "--json"}, {options.html, "--html"}}, inputs_with(description, {data}));
  if (options.microbench) {
    return validate_microbench({options.data, options.only, options.json, options.html, options.rows, options.jobs},
                               gpu);
  }
  if (options.data.empty()) {
    throw InputError("strata validate needs --data FILE, or --microbench");
  }
  const MeasuredFile file = read_measured(options.data, gpu.chip.name);
  if (!file.misspelt.empty()) warn(fmt::format("{}: {}", options.data, file.misspelt));
  warn_of_other_gpu(file, options.data, gpu.chip.name);
  if (options.choices) {
    return study_auto(options, gpu, file);
  }
  ReportOutputs outputs(options.json, options.html);
  Progress progress("validate");
  KernelComparisonOptions run;
  run.cycles_only = options.cycles_only;
  run.jobs = options.jobs;
  run.exact = options.exact;
  run.progress = [&](std::size_t done, std::size_t of) {
    progress.show(fmt::format("{} of at most {} simulations done", done, of));
  };
  Comparison comparison = compare_kernels(gpu, file, run);
  comparison.data = options.data;
  outputs.write([&] { return comparison_json(comparison); }, [&] { return comparison_html(comparison); },
                [&] {
                  const std::string rows = options.rows ? comparison_rows_text(comparison) + "\n" : std::string{};
                  return rows + comparison_text(comparison, options.glance);
                });
  return judge(comparison, options.max_error_cycles);
}

}  // namespace

void add_validate(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("validate", "scores the model against hardware counters");
  auto options = std::make_shared<ValidateOptions>();
  add_gpu_options(*command, options->gpu);
  command->add_option(
      "--data", options->data,
      "required without --microbench: measured CSV, the columns of `predict` and what the hardware counted (sm_cycles, "
      "ncu_duration_ns, dram_read_bytes, ...; `split` names calibration and validation rows); with "
      "--microbench a folder that run_all.sh filled, or a folder of such folders");
  add_switch(*command, "--microbench", options->microbench,
             "compares measured microbenchmarks, point by point, with the same ones as traces");
  command->add_option("--only", options->only, "with --microbench: a program, or part of a microbenchmark's name");
  add_switch(*command, "--auto", options->choices,
             "compares the kernels that `--kernel auto` would choose with those recorded, on rows that are not "
             "of the validation split");
  command->add_option("--json", options->json, "everything as JSON; - is standard output");
  command->add_option("--html", options->html, "tables and a scatter plot as one page");
  add_switch(*command, "--rows", options->rows, "lists every launch too");
  add_switch(*command, "--glance", options->glance,
             "prints only the tables at a glance, errors of cycles, durations and HBM traffic by group");
  add_switch(*command, "--cycles-only", options->cycles_only,
             "does not score durations, which need a second simulation at the clock model's clock");
  command
      ->add_option("--max-error-cycles", options->max_error_cycles,
                   "exit 1 when the mean error of sm_cycles over all supported launches exceeds this many per cent")
      ->check(check_positive);
  add_jobs_option(*command, options->jobs);
  add_exact_option(*command, options->exact);
  add_example(*command, "strata validate --data validation/data/h100-sxm5-80gb/library_kernels.csv --glance");
  command->callback([options, &action] { action = [options] { return validate(*options); }; });
}

}  // namespace strata::app

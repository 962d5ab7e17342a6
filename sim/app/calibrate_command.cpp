/// strata calibrate: from measured microbenchmarks to a GPU description, with an accuracy card.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/app/command.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/app/jobs_option.hpp"
#include "sim/app/kernel_comparison.hpp"
#include "sim/app/microbench/compare.hpp"
#include "sim/app/microbench/fits.hpp"
#include "sim/app/microbench/unknown_rows.hpp"
#include "sim/app/output_file.hpp"
#include "sim/app/progress.hpp"
#include "sim/app/warning.hpp"
#include "sim/base/error.hpp"
#include "validation/calibrate/derive.hpp"
#include "validation/calibrate/identity.hpp"

namespace strata::app {

namespace {

constexpr double kPercent = 100;

struct CalibrateOptions {
  GpuChoice gpu;
  std::string data;
  std::string name;
  std::string out;
  std::string kernels;
  bool no_fit = false;
  bool no_score = false;
  int jobs = 1;
};

/// What the run's origin.json says of the card, where the base description says something else.
void print_identity(std::FILE* report, const GpuConfig& base, const GpuConfig& described) {
  std::string lines;
  const auto compare = [&lines](const char* key, auto before, auto after, const char* unit) {
    if (before != after) {
      lines += fmt::format("  {:<38} {:>10} -> {:<10} {}\n", key, before, after, unit);
    }
  };
  compare("chip.product", base.chip.product, described.chip.product, "");
  compare("clocks.sm_max_mhz", base.clocks.sm_max_mhz, described.clocks.sm_max_mhz, "MHz");
  compare("clocks.hbm_mhz", base.clocks.hbm_mhz, described.clocks.hbm_mhz, "MHz");
  compare("l2.size_bytes", base.l2.size_bytes, described.l2.size_bytes, "B");
  compare("hbm.size_bytes", base.hbm.size_bytes, described.hbm.size_bytes, "B");
  compare("topology.gpc_sms", fmt::format("{}", fmt::join(base.topology.gpc_sms, ",")),
          fmt::format("{}", fmt::join(described.topology.gpc_sms, ",")), "");
  if (!lines.empty()) {
    fmt::print(report, "\nof the card, from origin.json and topology.csv\n{}", lines);
  }
}

void print_derived(std::FILE* report, const Derivation& derived) {
  fmt::print(report, "\nmeasured directly\n");
  for (const DerivedValue& v : derived.values) {
    fmt::print(report, "  {:<38} {:>10g} -> {:<10g} {}\n", v.key, v.before, v.after, v.source);
  }
}

/// As the description's origins say it: what one point decides is measured, what several do is fitted.
void print_fitted(std::FILE* report, const FitRun& fits) {
  clear_progress();
  const auto print = [report, &fits](const char* title, bool solved) {
    bool titled = false;
    for (const FittedValue& v : fits.values) {
      if (v.solved != solved) continue;
      if (!titled) fmt::print(report, "\n{}\n", title);
      titled = true;
      fmt::print(report, "  {:<38} {:>10g} -> {:<10g} error {:.1f} -> {:.1f} %, {} simulations: {}\n", v.key, v.before,
                 v.after, kPercent * v.error_before, kPercent * v.error_after, v.simulations, v.points);
    }
  };
  print("measured, solved for the one point that isolates it", true);
  print("fitted, each to the points of a microbenchmark that isolate it", false);
}

/// Values that were measured, on the card of the base description, and that nothing here has measured again; without
/// those of `derived.kept`, which say themselves why.
std::vector<std::string> kept_measurements(const GpuDescription& base, const GpuDescription& described,
                                           const Derivation& derived) {
  std::vector<std::string> out;
  for (const auto& entry : base.origins) {
    const std::string& key = entry.first;  // lambdas of older compilers take no structured bindings
    const auto& origin = entry.second;
    const auto now = described.origins.find(key);
    const bool was_measured = origin.origin == "measured" || origin.origin == "fitted";
    const bool said = std::any_of(derived.kept.begin(), derived.kept.end(),
                                  [&key](const std::string& line) { return line.rfind(key + ":", 0) == 0; });
    if (was_measured && !said && now != described.origins.end() && now->second.source == origin.source) {
      out.push_back(key);
    }
  }
  return out;
}

void print_missing(std::FILE* report, const Derivation& derived, const FitRun& fits, const GpuDescription& base,
                   const GpuDescription& d) {
  fmt::print(report, "\nnot measured, kept from the base description\n");
  for (const auto& list : {derived.missing, fits.missing}) {
    for (const std::string& line : list) {
      fmt::print(report, "  {}\n", line);
    }
  }
  fmt::print(report, "\nseen, but not decided by a microbenchmark of ours; kept from the base description\n");
  for (const std::string& line : derived.kept) {
    fmt::print(report, "  {}\n", line);
  }
  fmt::print(report, "  values from literature or inferred: {}\n", fmt::join(unmeasured_keys(d), ", "));
  const std::vector<std::string> kept = kept_measurements(base, d, derived);
  if (!kept.empty()) {
    fmt::print(report, "  values measured on the card of {}: {}\n", base.config.chip.name, fmt::join(kept, ", "));
  }
}

void print_microbench(std::FILE* report, const MicrobenchComparison& before, const MicrobenchComparison& after) {
  clear_progress();
  fmt::print(report, "\nmicrobenchmarks (calibration), mean absolute error in %\n  {:<52} {:>6} {:>8} {:>8}\n", "",
             "points", "before", "after");
  for (std::size_t i = 0; i < after.groups.size(); ++i) {
    fmt::print(report, "  {:<52} {:>6} {:>8.1f} {:>8.1f}\n", after.groups[i].name, after.groups[i].points.size(),
               kPercent * before.groups[i].mean_abs_error(), kPercent * after.groups[i].mean_abs_error());
  }
  for (const PointKind kind : {PointKind::kLatency, PointKind::kRate, PointKind::kCold, PointKind::kTraffic}) {
    const auto a = before.mean_abs_error(kind);
    const auto b = after.mean_abs_error(kind);
    if (a && b) {
      fmt::print(report, "  all points of kind {:<33} {:>6} {:>8.1f} {:>8.1f}\n", to_string(kind), "", kPercent * *a,
                 kPercent * *b);
    }
  }
}

void print_kernels(std::FILE* report, const Comparison& before, const Comparison& after) {
  clear_progress();
  fmt::print(report, "\nkernels, mean absolute error of sm_cycles in %; validation rows enter no choice\n");
  for (std::size_t s = 0; s < after.splits.size(); ++s) {
    const auto line = [&](const std::string& name, const GroupScore& a, const GroupScore& b) {
      if (b.of(Quantity::kSmCycles).n > 0) {
        fmt::print(report, "  {:<14} {:<30} {:>5} {:>8.1f} {:>8.1f}\n", after.splits[s].name, name,
                   b.of(Quantity::kSmCycles).n, kPercent * a.of(Quantity::kSmCycles).mean_abs,
                   kPercent * b.of(Quantity::kSmCycles).mean_abs);
      }
    };
    for (std::size_t f = 0; f < after.splits[s].families.size(); ++f) {
      line(after.splits[s].families[f].name, before.splits[s].families[f], after.splits[s].families[f]);
    }
    line("overall", before.splits[s].overall, after.splits[s].overall);
  }
}

/// Before and after on the microbenchmarks and, where a file is given, on measured kernels.
void score_both(std::FILE* report, const CalibrateOptions& options, const MicrobenchData& data, const GpuConfig& before,
                const GpuConfig& after, const std::optional<MeasuredFile>& file) {
  Progress progress("calibrate", Progress::InLogs::kPlainLines);
  MicrobenchOptions run;
  run.jobs = options.jobs;
  const char* pass = "before";
  run.progress = [&](std::size_t done, std::size_t of) {
    progress.show(fmt::format("scored {} of {} with the values {}", done, of, pass));
  };
  const MicrobenchComparison microbench_before = compare_microbench(before, data, run);
  pass = "after";
  print_microbench(report, microbench_before, compare_microbench(after, data, run));
  if (!file) {
    return;
  }
  KernelComparisonOptions kernels;
  kernels.cycles_only = true;
  kernels.jobs = options.jobs;
  kernels.progress = run.progress;
  pass = "before";
  const Comparison kernels_before = compare_kernels(before, *file, kernels);
  pass = "after";
  print_kernels(report, kernels_before, compare_kernels(after, *file, kernels));
}

/// The name must be fit for a file, as in configs/gpus, and for --gpu.
void check_spelling(const std::string& name) {
  constexpr std::size_t kLongest = 100;
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto fits = [&plain](char c) { return plain(c) || c == '-' || c == '.' || c == '_'; };
  if (!std::all_of(name.begin(), name.end(), fits) || (!name.empty() && !plain(name.front())) ||
      name.size() > kLongest) {
    throw InputError(Diagnostic{{},
                                0,
                                0,
                                "--name",
                                fmt::format("'{}': expected at most {} letters, digits, '-', '.' and '_', the first "
                                            "a letter or digit",
                                            name, kLongest)});
  }
}

bool same_hardware(const GpuConfig& a, const GpuConfig& b) {
  return a.chip.architecture == b.chip.architecture && same_memory_clock(a.clocks.hbm_mhz, b.clocks.hbm_mhz) &&
         a.l2.size_bytes == b.l2.size_bytes && a.num_sms() == b.num_sms();
}

/// Another GPU's description needs a name of its own, which no other GPU that comes with strata has.
void check_name(const CalibrateOptions& options, const GpuDescription& base, const GpuDescription& described) {
  const std::vector<std::string> shipped = list_gpus();
  if (options.name != base.config.chip.name &&
      std::find(shipped.begin(), shipped.end(), options.name) != shipped.end() &&
      !same_hardware(strata::load_gpu(options.name).config, described.config)) {
    throw InputError(Diagnostic{{},
                                0,
                                0,
                                "--name",
                                fmt::format("'{}' comes with strata and has other SMs, L2 or memory than the measured "
                                            "'{}'; expected another name",
                                            options.name, described.config.chip.product)});
  }
  const GpuConfig& was = base.config;
  const GpuConfig& is = described.config;
  const bool other = !same_hardware(is, was);
  if (options.name.empty() && other) {
    throw InputError(
        fmt::format("--name: the data are of a '{}', whose SMs, L2 or memory clock are not those of {}; expected a "
                    "name for the new description, and --gpu the most similar one",
                    is.chip.product, was.chip.name));
  }
}

/// Throws InputError where measured values contradict each other: with the row that gave a value, or the folder.
void check_measured(const GpuConfig& config, const Derivation& derived, const std::string& folder) {
  try {
    validate_config(config);
  } catch (const InputError& e) {
    std::vector<Diagnostic> problems = e.diagnostics();
    for (Diagnostic& d : problems) {
      const auto row = std::find_if(derived.values.begin(), derived.values.end(),
                                    [&d](const DerivedValue& v) { return d.key == v.key; });
      d.file = row == derived.values.end() ? folder : row->file;
      d.line = row == derived.values.end() ? 0 : row->line;
    }
    throw InputError(std::move(problems));
  }
}

/// What would else be known only when all is done: which measurements are taken, whether anything is kept of the
/// result, and under which name.
void say_what_is_read(const CalibrateOptions& options, const std::string& folder, const std::string& name) {
  std::string notice;
  if (options.data.empty()) {
    notice = fmt::format("reads {}, which comes with the GPU (--data takes another folder)", folder);
  }
  if (options.out.empty()) {
    notice += notice.empty() ? "" : "; ";
    notice += "prints values only: no description is written without --out FILE";
  } else if (options.name.empty()) {
    notice += notice.empty() ? "" : "; ";
    notice += fmt::format(
        "the description keeps the name {} of the one that comes with strata (--name gives it its own)", name);
  }
  if (!notice.empty()) {
    say("strata: calibrate: " + notice);
  }
}

/// A description that no measurement entered would be the base under another name.
void check_usable(const CalibrateOptions& options, const MicrobenchData& data, const Derivation& derived,
                  const std::string& folder) {
  if (derived.values.empty() && (options.no_fit || !can_fit(data))) {
    throw InputError(
        Diagnostic{folder, 0, 0, "--data",
                   fmt::format("nothing in its {} rows tells a value of the description{}; of those that are "
                               "missing the first is {}",
                               data.rows.size(), options.no_fit ? " without a fit" : "", derived.missing.front())});
  }
}

/// Every row that the fits or the score would simulate, before anything is written: a row that is refused only then
/// would leave a description of data that are no good. Rows without a measurement are left out, with a warning.
void check_rows(const CalibrateOptions& options, const GpuConfig& gpu, const std::string& folder,
                MicrobenchData& data) {
  const CheckedRows checked = check_microbench(gpu, data);
  if (!checked.zeros.empty()) {
    const MicrobenchRow& first = checked.zeros.front();
    warn(fmt::format("{}:{}: value: 0: {}; of {} row{} that hold{} a zero none is used", first.file, first.line,
                     kNothingMeasured, checked.zeros.size(), checked.zeros.size() == 1 ? "" : "s",
                     checked.zeros.size() == 1 ? "s" : ""));
    std::erase_if(data.rows, [&checked](const MicrobenchRow& row) {
      return std::any_of(checked.zeros.begin(), checked.zeros.end(),
                         [&row](const MicrobenchRow& zero) { return row.file == zero.file && row.line == zero.line; });
    });
  }
  if (checked.simulated == 0 && !options.no_score) {
    throw InputError(Diagnostic{folder, 0, 0, "--data",
                                "holds no measurement that can be simulated, so nothing can be scored; --no-score "
                                "takes what is measured directly"});
  }
}

int calibrate(const CalibrateOptions& options) {
  if (options.no_score && !options.kernels.empty()) {
    throw InputError("--kernels: its launches are scored, which --no-score leaves out; give one of the two");
  }
  check_spelling(options.name);
  const GpuDescription base = load_gpu(options.gpu);
  const std::string folder = microbench_folder(options.data, base.config.chip.name);
  refuse_overwriting_inputs({{options.out, "--out"}}, inputs_with(base, {options.kernels, folder}));
  check_same_gpu(microbench_runs(folder), base.config);
  GpuDescription described = base;
  apply_identity(folder, options.name.empty() ? base.config.chip.name : options.name, described);
  check_name(options, base, described);
  check_measured(described.config, {}, folder);
  std::optional<MeasuredFile> kernels;
  if (!options.kernels.empty()) {
    kernels = read_measured(options.kernels, described.config.chip.name);
  }
  MicrobenchData data = read_microbench(folder, described.config);
  warn_of_unknown_series(data);
  check_rows(options, described.config, folder, data);
  OutputSet outputs;
  const auto out = outputs.open(options.out, "--out");
  std::FILE* report = outputs.uses_stdout() ? stderr : stdout;  // the description alone is what --out - is for
  const GpuConfig before = described.config;
  const Derivation derived = derive_parameters(data, described);
  for (const Diagnostic& zero : derived.zeros) {
    warn(to_string(zero));
  }
  check_measured(described.config, derived, folder);
  check_usable(options, data, derived, folder);
  say_what_is_read(options, folder, described.config.chip.name);
  fmt::print(report, "{}: {} measured rows of {} from {} run(s), base description {}\n", described.config.chip.name,
             data.rows.size(), data.product, data.runs.size(), base.config.chip.name);
  print_identity(report, base.config, before);
  print_derived(report, derived);
  FitRun fits;
  if (!options.no_fit) {
    Progress progress("calibrate", Progress::InLogs::kPlainLines);
    fits =
        fit_parameters(data, described, options.jobs, [&](const std::string& key) { progress.show("fitting " + key); });
    print_fitted(report, fits);
    for (const FittedValue& v : fits.values) {
      if (!v.doubt.empty()) warn(fmt::format("{}: the value {:g} {}: {}", v.key, v.after, v.doubt, v.points));
    }
  }
  check_measured(described.config, derived, folder);
  print_missing(report, derived, fits, base, described);
  // Before the score, which takes minutes and changes nothing.
  if (out) {
    outputs[*out].write(effective_config(described));
  }
  outputs.commit();
  if (!options.no_score) {
    std::fflush(report);
    score_both(report, options, data, before, described.config, kernels);
  }
  return kExitDone;
}

}  // namespace

void add_calibrate(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("calibrate", "makes a GPU description from measured microbenchmarks, with an accuracy card");
  auto options = std::make_shared<CalibrateOptions>();
  add_gpu_options(*command, options->gpu);
  command->add_option("--data", options->data,
                      "folder that validation/microbench/run_all.sh filled, or a folder of such folders");
  command->add_option("--name", options->name, "name of the new description; default: that of --gpu");
  command->add_option(
      "--out", options->out,
      "the description as YAML, every value with its origin; - is standard output, the report then goes to stderr");
  command->add_option("--kernels", options->kernels,
                      "measured CSV as of validate --data: scored before and after, calibration and validation apart");
  add_switch(*command, "--no-fit", options->no_fit, "only what is measured directly");
  add_switch(*command, "--no-score", options->no_score, "does not simulate all microbenchmarks before and after");
  add_jobs_option(*command, options->jobs);
  add_example(*command, "strata calibrate --data out/run-1 --name my-gpu --out my-gpu.yaml");
  command->callback([options, &action] { action = [options] { return calibrate(*options); }; });
}

}  // namespace strata::app

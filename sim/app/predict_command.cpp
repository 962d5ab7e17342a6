/// strata predict: real launches in, predicted cycles and traffic out.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "sim/app/auto_kernel.hpp"
#include "sim/app/command.hpp"
#include "sim/app/exact_option.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/app/jobs_option.hpp"
#include "sim/app/json_output.hpp"
#include "sim/app/output_file.hpp"
#include "sim/app/prediction_csv.hpp"
#include "sim/app/predictor.hpp"
#include "sim/app/profile/launch_reader.hpp"
#include "sim/app/profile/launches_csv.hpp"
#include "sim/app/profile/profile_totals.hpp"
#include "sim/app/progress.hpp"
#include "sim/app/repeated_rows.hpp"
#include "sim/app/warning.hpp"
#include "sim/base/error.hpp"

namespace strata::app {

namespace {

/// Rows held at once: enough to keep every thread busy, few enough that a million rows need no more memory.
constexpr std::size_t kChunkRows = 4096;
constexpr std::size_t kChunkBytes = std::size_t{16} << 20;  ///< of their text, likewise

struct PredictOptions {
  GpuChoice gpu;
  std::string in;
  std::vector<std::string> from;  ///< kind and file
  std::string out;
  std::string launches;
  std::string json;
  int jobs = 1;
  bool exact = false;
};

std::unique_ptr<LaunchReader> open_launches(const PredictOptions& options) {
  if (options.from.empty()) {
    return open_launch_table(options.in);
  }
  const std::string& kind = options.from[0];
  if (kind == "ncu") {
    return open_ncu_page(options.from[1]);
  }
  Progress progress("predict");
  return open_kineto_trace(options.from[1], [&](std::size_t bytes) {
    constexpr std::size_t kMegabyte = 1000000;
    progress.show(fmt::format("{} MB of the trace read", bytes / kMegabyte));
  });
}

void check_options(const PredictOptions& options) {
  if (options.in.empty() == options.from.empty()) {
    throw InputError("strata predict needs either --in FILE or --from ncu|kineto FILE");
  }
  if (!options.from.empty() && options.from[0] != "ncu" && options.from[0] != "kineto") {
    throw InputError(
        Diagnostic{{}, 0, 0, "--from", fmt::format("'{}' is no known kind; expected ncu or kineto", options.from[0])});
  }
  if (options.from.size() == 1) {
    throw InputError(Diagnostic{
        {}, 0, 0, "--from", fmt::format("{} needs a file: expected --from {} FILE", options.from[0], options.from[0])});
  }
  if (options.out.empty() && options.from.empty()) {
    throw InputError("strata predict --in FILE needs --out FILE");
  }
}

/// Reads every launch once, so that a bad cell in the last row is found before any simulation starts.
std::size_t count_launches(LaunchReader& reader, const std::function<void(const ProfiledLaunch&)>& each) {
  ProfiledLaunch launch;
  std::size_t rows = 0;
  while (reader.next(launch)) {
    each(launch);
    ++rows;
  }
  reader.rewind();
  return rows;
}

std::size_t text_bytes(const ProfiledLaunch& launch) {
  const LaunchRow& r = launch.job.row;
  return r.case_name.size() + r.op.size() + r.dtype.size() + r.shape.size() + r.kernel.size() +
         r.producer_kernel.size() + r.producer_differs.size() + launch.shape_missing.size();
}

/// A launch whose shape is not known fails in its family's words; the profile says what to record instead. Of a table,
/// which is edited more easily, a row whose kernel this GPU cannot run says how to get one that it can; a profile's
/// totals say so once.
Prediction explained(const Prediction& prediction, const ProfiledLaunch& launch, bool of_table) {
  Prediction out = prediction;
  if (of_table && !out.ok && out.reason.ends_with(kNeedsWgmma)) {
    out.reason += "; with auto as its kernel the row gets the fastest of this GPU's own";
  }
  if (!out.ok && !out.model_bug && !launch.shape_missing.empty() && !family_of(launch.job.row.kernel).empty()) {
    out.reason = launch.shape_missing;
  }
  return out;
}

/// What was asked for, opened before anything is simulated.
struct PredictOutputs {
  explicit PredictOutputs(const PredictOptions& options)
      : predictions(set.open(options.out, "--out")),
        launches(set.open(options.launches, "--write-launches")),
        json(set.open(options.json, "--json")) {}
  void write(const std::optional<std::size_t>& file, const std::string& text) {
    if (file) {
      set[*file].write(text);
    }
  }
  OutputSet set;
  std::optional<std::size_t> predictions;
  std::optional<std::size_t> launches;
  std::optional<std::size_t> json;
};

/// Rows that share a warning: how many, and what is the matter with the first.
class CountedWarning {
 public:
  CountedWarning(const char* of_one, const char* of_more) : of_one_(of_one), of_more_(of_more) {}
  void add(const LaunchRow& row, const std::string& why) {
    if (rows_++ == 0) first_ = fmt::format("case '{}', seq '{}': {}", row.case_name, row.seq, why);
  }
  void print() const {
    if (rows_ == 1) warn(fmt::format("1 row {}: {}", of_one_, first_));
    if (rows_ > 1) warn(fmt::format("{} rows {}; the first: {}", rows_, of_more_, first_));
  }

 private:
  const char* of_one_;
  const char* of_more_;
  std::size_t rows_ = 0;
  std::string first_;
};

struct Tally {
  std::size_t rows = 0;
  std::size_t supported = 0;
  std::size_t bugs = 0;
  CountedWarning doubts{"contradicts itself or leaves open what ran", "contradict themselves or leave open what ran"};
  CountedWarning high_clocks{"has an sm_clock_mhz above the GPU's highest, which is simulated",
                             "have an sm_clock_mhz above the GPU's highest, which is simulated"};
  CountedWarning ignored_words{"has words in its kernel's name that have no effect in the model",
                               "have words in their kernel's name that have no effect in the model"};
  ProfileTotals totals;
};

void predict_chunk(LaunchPredictor& predictor, const std::vector<ProfiledLaunch>& launches, PredictOutputs& outputs,
                   Tally& tally, bool of_table) {
  std::vector<LaunchJob> jobs;
  jobs.reserve(launches.size());
  for (const ProfiledLaunch& launch : launches) {
    jobs.push_back(launch.job);
  }
  const auto predictions = predict_or_choose(predictor, jobs);
  std::string text;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Prediction prediction = explained(*predictions[i], launches[i], of_table);
    text += prediction_csv_row(jobs[i].row.case_name, jobs[i].row.seq, prediction);
    tally.supported += prediction.ok ? 1U : 0U;
    tally.bugs += prediction.model_bug ? 1U : 0U;
    tally.totals.add(launches[i], prediction);
    if (prediction.ok && !prediction.warning.empty()) tally.doubts.add(jobs[i].row, prediction.warning);
    const int highest_mhz = predictor.gpu().clocks.sm_max_mhz;
    if (prediction.ok && std::lround(jobs[i].sm_clock_mhz) > highest_mhz) {
      tally.high_clocks.add(jobs[i].row, fmt::format("{:g} MHz; {} are simulated", jobs[i].sm_clock_mhz, highest_mhz));
    }
    if (prediction.ok && !prediction.ignored_words.empty()) {
      tally.ignored_words.add(jobs[i].row, fmt::format("'{}'", prediction.ignored_words));
    }
  }
  outputs.write(outputs.predictions, text);
  tally.rows += launches.size();
}

/// The warning where a profile's times are those of another GPU than the one simulated.
std::string other_gpu(const LaunchReader& reader, const std::string& source, const GpuConfig& gpu) {
  const std::string difference = gpu_difference(reader.gpu(), gpu);
  return difference.empty() ? std::string{}
                            : fmt::format("{} was recorded on {}; {} is simulated, and measured times are the other's",
                                          source, difference, gpu.chip.name);
}

int predict(const PredictOptions& options) {
  check_options(options);
  const GpuDescription gpu = load_gpu(options.gpu);
  LaunchPredictor predictor(gpu.config, options.jobs, options.exact);
  const std::unique_ptr<LaunchReader> reader = open_launches(options);
  const std::string& source = options.from.empty() ? options.in : options.from[1];
  refuse_overwriting_inputs({{options.out, "--out"}, {options.launches, "--write-launches"}, {options.json, "--json"}},
                            inputs_with(gpu, {source}));
  PredictOutputs outputs(options);
  outputs.write(outputs.launches, launches_csv_header());
  RepeatedRows repeated;
  const std::size_t rows = count_launches(*reader, [&](const ProfiledLaunch& launch) {
    if (options.from.empty()) {  // of a profile we number the launches ourselves
      repeated.see(launch.job.row.case_name, launch.job.row.seq);
    }
    if (outputs.launches) {
      outputs.write(outputs.launches, launches_csv_row(launch));
    }
  });
  if (rows == 0) {
    throw InputError(Diagnostic{source, 0, 0, {}, "has no launches"});
  }
  if (const std::string text = repeated.text(); !text.empty()) {
    warn(text);
  }
  std::vector<std::string> warnings;  // of the file as a whole
  for (const std::string& text : {reader->warning(), other_gpu(*reader, source, predictor.gpu())}) {
    if (text.empty()) continue;
    warn(text);
    warnings.push_back(text);
  }
  Tally tally;
  Progress progress("predict");
  predictor.on_progress([&](std::size_t done) {
    progress.show(fmt::format("{} simulations done, {} of {} rows written", done, tally.rows, rows));
  });

  outputs.write(outputs.predictions, prediction_csv_header());
  for (bool more = true; more;) {
    std::vector<ProfiledLaunch> launches;
    ProfiledLaunch launch;
    std::size_t bytes = 0;
    while (launches.size() < kChunkRows && bytes < kChunkBytes && (more = reader->next(launch))) {
      launches.push_back(launch);
      bytes += text_bytes(launch);
    }
    predict_chunk(predictor, launches, outputs, tally, options.from.empty());
  }
  tally.doubts.print();
  tally.high_clocks.print();
  tally.ignored_words.print();
  const std::string& input = options.from.empty() ? options.in : options.from[1];
  if (outputs.json) {
    nlohmann::ordered_json summary = json_document("strata.predict/1");
    summary["input"] = input;
    summary["gpu"] = predictor.gpu().chip.name;
    summary["launches"] = rows;
    summary["predicted"] = tally.supported;
    summary["unsupported"] = rows - tally.supported;
    summary.update(tally.totals.json());
    summary["warnings"] = warnings;
    outputs.write(outputs.json, json_text(summary));
  }
  clear_progress();
  if (tally.bugs > 0) {
    warn(tally.bugs == 1
             ? std::string("1 row broke an invariant of the model; its reason tells which")
             : fmt::format("{} rows broke an invariant of the model; their reason tells which", tally.bugs));
  }
  if (outputs.set.uses_stdout()) {
    outputs.set.commit();
    return kExitDone;
  }
  fmt::print("{}: {} launches on {}, {} predicted, {} unsupported\n", options.from.empty() ? options.out : input, rows,
             predictor.gpu().chip.name, tally.supported, rows - tally.supported);
  if (!options.from.empty()) {
    fmt::print("{}\n{}", reader->gpu().name.empty() ? "" : "profiled on " + reader->gpu().name + "\n",
               tally.totals.text(reader->driver_work()));
  }
  outputs.set.commit();
  return kExitDone;
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("predict", "predicts the launches of a CSV or a profile, one row a launch");
  auto options = std::make_shared<PredictOptions>();
  add_gpu_options(*command, options->gpu);
  command->add_option("--in", options->in,
                      "required without --from: CSV with case,seq,op,dtype,shape,kernel (empty or auto: the fastest of "
                      "the library's) and, "
                      "where known, grid_dim,block_dim,cluster_dim,regs,"
                      "smem_dyn,smem_static,sm_clock_mhz");
  command
      ->add_option("--from", options->from,
                   "a profile instead: ncu (as `ncu --csv --page raw` prints it) or kineto (JSON of PyTorch's "
                   "profiler), and its file; prints totals by kernel family")
      ->type_name("KIND FILE")
      ->expected(1, 2);
  command->add_option("--out", options->out, "predicted CSV, required with --in; - is standard output");
  command->add_option("--write-launches", options->launches,
                      "the launches read, as a CSV for --in, with what the profiler measured, for `validate --data`");
  command->add_option("--json", options->json,
                      "counts and times by kernel family as JSON; - is standard output, without the text");
  add_jobs_option(*command, options->jobs);
  add_exact_option(*command, options->exact);
  add_example(*command, "strata predict --in launches.csv --out predicted.csv");
  command->callback([options, &action] { action = [options] { return predict(*options); }; });
}

}  // namespace strata::app

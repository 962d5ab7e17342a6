/// strata predict: real launches in, predicted cycles and traffic out.
#include <fmt/format.h>

#include <memory>

#include "sim/app/command.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/app/jobs_option.hpp"
#include "sim/app/output_file.hpp"
#include "sim/app/prediction_csv.hpp"
#include "sim/app/predictor.hpp"
#include "sim/app/progress.hpp"
#include "sim/base/error.hpp"

namespace strata::app {

namespace {

/// Rows held at once: enough to keep every thread busy, few enough that a million rows need no more memory.
constexpr std::size_t kChunkRows = 4096;

struct PredictOptions {
  GpuChoice gpu;
  std::string in;
  std::string out;
  int jobs = 1;
};

/// Reads the whole file once, so that a bad cell in its last row is found before any simulation starts.
std::size_t count_rows(const std::string& path) {
  LaunchTable table(path);
  LaunchJob job;
  std::size_t rows = 0;
  while (table.next(job)) {
    ++rows;
  }
  return rows;
}

int predict(const PredictOptions& options) {
  LaunchPredictor predictor(load_gpu(options.gpu).config, options.jobs);
  const std::size_t rows = count_rows(options.in);
  OutputFile out(options.out, "--out");
  Progress progress("predict");
  std::size_t row = 0;
  predictor.on_progress([&](std::size_t done) {
    progress.show(fmt::format("{} distinct launches simulated, {} of {} rows written", done, row, rows));
  });

  LaunchTable table(options.in);
  out.write(prediction_csv_header());
  std::size_t supported = 0;
  std::size_t bugs = 0;
  for (bool more = true; more;) {
    std::vector<LaunchJob> jobs;
    LaunchJob job;
    while (jobs.size() < kChunkRows && (more = table.next(job))) {
      jobs.push_back(job);
    }
    const auto predictions = predictor.predict(jobs);
    std::string text;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      text += prediction_csv_row(jobs[i].row.case_name, jobs[i].row.seq, *predictions[i]);
      supported += predictions[i]->ok ? 1U : 0U;
      bugs += predictions[i]->model_bug ? 1U : 0U;
    }
    out.write(text);
    row += jobs.size();
  }
  out.commit();
  if (bugs > 0) {
    fmt::print(stderr, "strata: warning: {} rows broke an invariant of the model; their reason tells which\n", bugs);
  }
  if (!out.is_stdout()) {
    fmt::print("{}: {} launches on {}, {} predicted, {} unsupported\n", options.out, rows, predictor.gpu().chip.name,
               supported, rows - supported);
  }
  return kExitDone;
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("predict", "predicts the launches of a CSV, one output row per input row");
  auto options = std::make_shared<PredictOptions>();
  add_gpu_options(*command, options->gpu);
  command
      ->add_option("--in", options->in,
                   "CSV with case,seq,op,dtype,shape,kernel and, where known, grid_dim,block_dim,cluster_dim,regs,"
                   "smem_dyn,smem_static,sm_clock_mhz")
      ->required();
  command->add_option("--out", options->out, "predicted CSV; - is standard output")->required();
  add_jobs_option(*command, options->jobs);
  command->callback([options, &action] { action = [options] { return predict(*options); }; });
}

}  // namespace strata::app

#include "sim/app/result_outputs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "sim/app/command.hpp"
#include "sim/app/progress.hpp"
#include "sim/app/warning.hpp"
#include "sim/result/csv_writer.hpp"
#include "sim/result/html_report.hpp"
#include "sim/result/json_writer.hpp"
#include "sim/result/text_report.hpp"

namespace strata::app {

void add_result_options(CLI::App& command, ResultOutputs& outputs) {
  command.add_option("--json", outputs.json, "everything as JSON; - is standard output, without the report");
  command.add_option("--csv", outputs.csv, "one row per launch under Nsight Compute's metric names");
  command.add_option("--html", outputs.html, "the report as one self-contained page");
  command.add_option("--timeline", outputs.timeline,
                     "what each SM did and when, as a Chrome trace for Perfetto or chrome://tracing");
  add_switch(command, "--metrics", outputs.metrics, "prints every counter too");
}

OpenOutputs::OpenOutputs(const ResultOutputs& outputs)
    : json_(files_.open(outputs.json, "--json")),
      csv_(files_.open(outputs.csv, "--csv")),
      html_(files_.open(outputs.html, "--html")),
      timeline_file_(files_.open(outputs.timeline, "--timeline")),
      metrics_(outputs.metrics) {}

void OpenOutputs::write(const GpuDescription& gpu, const std::vector<Result>& results) {
  if (json_) {
    files_[*json_].write(result_json(gpu, results));
  }
  if (csv_) {
    std::string text = csv_header();
    for (const Result& result : results) {
      text += csv_row(result);
    }
    files_[*csv_].write(text);
  }
  if (html_) {
    files_[*html_].write(html_report(gpu, results));
  }
  if (timeline_file_ && !results.empty()) {
    const Result& r = results.front();
    files_[*timeline_file_].write(timeline_.json(TimeBase(r.sm_clock_mhz, r.l2_clock_mhz, r.hbm_clock_mhz)));
    if (timeline_.dropped() > 0) {
      say(fmt::format("timeline: kept the first {} spans, dropped {}", timeline_.size(), timeline_.dropped()));
    }
  }
  clear_progress();
  if (!files_.uses_stdout()) {
    TextOptions text;
    text.colour = isatty(STDOUT_FILENO) == 1;
    text.metrics = metrics_;
    for (const Result& result : results) {
      fmt::print("{}", text_report(result, gpu, text));
    }
  }
  files_.commit();
}

}  // namespace strata::app

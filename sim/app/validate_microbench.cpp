#include "sim/app/validate_microbench.hpp"

#include <fmt/format.h>

#include "sim/app/command.hpp"
#include "sim/app/microbench/compare.hpp"
#include "sim/app/output_file.hpp"
#include "sim/app/progress.hpp"

namespace strata::app {

int validate_microbench(const ValidateMicrobenchOptions& options, const GpuConfig& gpu) {
  const std::string folder = options.data.empty() ? default_microbench_folder(gpu.chip.name) : options.data;
  const MicrobenchData data = read_microbench(folder, gpu);
  OutputSet outputs;
  const auto json = outputs.open(options.json, "--json");
  const auto html = outputs.open(options.html, "--html");
  Progress progress("validate");
  MicrobenchOptions run;
  run.only = options.only;
  run.jobs = options.jobs;
  run.progress = [&](std::size_t done, std::size_t of) {
    progress.show(fmt::format("{} of {} simulations done", done, of));
  };
  const MicrobenchComparison comparison = compare_microbench(gpu, data, run);
  if (json) {
    outputs[*json].write(microbench_json(comparison));
  }
  if (html) {
    outputs[*html].write(microbench_html(comparison));
  }
  if (!outputs.uses_stdout()) {
    fmt::print("{}", microbench_text(comparison));
    if (options.rows) {
      fmt::print("{}", microbench_points_text(comparison));
    }
  }
  outputs.commit();
  return kExitDone;
}

}  // namespace strata::app

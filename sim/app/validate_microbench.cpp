#include "sim/app/validate_microbench.hpp"

#include <fmt/format.h>

#include "sim/app/command.hpp"
#include "sim/app/microbench/compare.hpp"
#include "sim/app/progress.hpp"
#include "sim/app/report_outputs.hpp"

namespace strata::app {

int validate_microbench(const ValidateMicrobenchOptions& options, const GpuConfig& gpu) {
  const std::string folder = microbench_folder(options.data, gpu.chip.name);
  const MicrobenchData data = read_microbench(folder, gpu);
  ReportOutputs outputs(options.json, options.html);
  Progress progress("validate");
  MicrobenchOptions run;
  run.only = options.only;
  run.jobs = options.jobs;
  run.progress = [&](std::size_t done, std::size_t of) {
    progress.show(fmt::format("{} of {} simulations done", done, of));
  };
  const MicrobenchComparison comparison = compare_microbench(gpu, data, run);
  outputs.write([&] { return microbench_json(comparison); }, [&] { return microbench_html(comparison); },
                [&] {
                  const std::string points = options.rows ? microbench_points_text(comparison) : std::string{};
                  return microbench_text(comparison) + points;
                });
  return kExitDone;
}

}  // namespace strata::app

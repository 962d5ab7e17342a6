#include "sim/app/validate_microbench.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "sim/app/command.hpp"
#include "sim/app/microbench/compare.hpp"
#include "sim/app/microbench/unknown_rows.hpp"
#include "sim/app/progress.hpp"
#include "sim/app/report_outputs.hpp"
#include "sim/app/warning.hpp"

namespace strata::app {

namespace {

/// Rows that a known program does not print are mistakes more often than news.
void warn_of_odd_rows(const MicrobenchComparison& comparison) {
  std::size_t rows = 0;
  std::string reasons;
  for (const auto& [reason, count] : comparison.not_simulated) {
    if (reason.find(": an unknown ") != std::string::npos || reason.ends_with(kNothingMeasured)) {
      rows += count;
      reasons += (reasons.empty() ? "" : "; ") + reason;
    }
  }
  if (rows > 0) {
    warn(fmt::format("{} measured rows are left out: {}", rows, reasons));
  }
}

/// Rates of memory go with its clock: a card that runs another one than described is scored beside the point.
void warn_of_memory_clock(const MicrobenchData& data, const GpuConfig& gpu) {
  constexpr double kSame = 0.01;
  for (std::size_t i = 0; i < data.runs.size(); ++i) {
    const int measured = data.origins[i].memory_clock_mhz;
    if (std::abs(measured / static_cast<double>(gpu.clocks.hbm_mhz) - 1) > kSame) {
      warn(
          fmt::format("{}: measured with a memory clock of {} MHz, {} describes {} MHz; --set clocks.hbm_mhz={} "
                      "simulates the measured one",
                      data.runs[i], measured, gpu.chip.name, gpu.clocks.hbm_mhz, measured));
      return;
    }
  }
}

}  // namespace

int validate_microbench(const ValidateMicrobenchOptions& options, const GpuConfig& gpu) {
  const std::string folder = microbench_folder(options.data, gpu.chip.name);
  const MicrobenchData data = read_microbench(folder, gpu);
  warn_of_unknown_series(data);
  warn_of_memory_clock(data, gpu);
  ReportOutputs outputs(options.json, options.html);
  Progress progress("validate", Progress::InLogs::kPlainLines);
  MicrobenchOptions run;
  run.only = options.only;
  run.jobs = options.jobs;
  run.progress = [&](std::size_t done, std::size_t of) {
    progress.show(fmt::format("{} of {} simulations done", done, of));
  };
  const MicrobenchComparison comparison = compare_microbench(gpu, data, run);
  warn_of_odd_rows(comparison);
  outputs.write([&] { return microbench_json(comparison); }, [&] { return microbench_html(comparison); },
                [&] {
                  const std::string points = options.rows ? microbench_points_text(comparison) : std::string{};
                  return microbench_text(comparison) + points;
                });
  return kExitDone;
}

}  // namespace strata::app

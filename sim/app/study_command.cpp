/// strata study first-light: what `scripts/quickstart.sh` shows.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "models/hw/system/simulator.hpp"
#include "sim/app/command.hpp"
#include "sim/app/first_light.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/app/progress.hpp"

namespace strata::app {

namespace {

int run_first_light() {
  Progress progress("study");
  std::vector<StudyColumn> columns;
  for (const StudyCase& study : first_light_cases()) {
    GpuChoice choice;
    choice.gpu = study.gpu;
    const GpuConfig gpu = load_gpu(choice).config;
    const KernelSpec& spec = study_kernel(study.kernel);
    const BuiltKernel kernel = spec.make(study.options, target_facts(gpu));
    SimulationOptions options;
    options.progress = [&](double done) {
      constexpr double kPercent = 100;
      progress.show(fmt::format("{} on {}, {:.0f} % of the CTAs", study.title, study.gpu, kPercent * done));
    };
    StudyColumn column;
    column.title = study.title;
    column.gpu = study.gpu;
    column.result = simulate(gpu, *kernel.source, options);
    column.result.description = kernel.description;
    if (study.kernel == std::string("flash_attention")) {
      column.unfused = unfused_attention_bound(gpu, column.result.sm_clock_mhz);
    }
    columns.push_back(std::move(column));
  }
  fmt::print("{}", study_table(columns));
  return kExitDone;
}

}  // namespace

void add_study(CLI::App& app, Action& action) {
  CLI::App* study = app.add_subcommand("study", "built-in comparisons")->group("");  // not part of the contract
  require_choice(*study, action, "first-light");
  study->add_subcommand("first-light", "FlashAttention against unfused attention, and a GEMM, on A100 and H100")
      ->callback([&action] { action = run_first_light; });
}

}  // namespace strata::app

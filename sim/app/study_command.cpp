/// strata study first-light: what `scripts/quickstart.sh` shows.
#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "models/hw/system/simulator.hpp"
#include "sim/app/command.hpp"
#include "sim/app/first_light.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/app/json_output.hpp"
#include "sim/app/progress.hpp"
#include "sim/result/json_writer.hpp"

namespace strata::app {

namespace {

StudyColumn run_case(const StudyCase& study, Progress& progress) {
  GpuChoice choice;
  choice.gpu = study.gpu;
  const GpuConfig gpu = load_gpu(choice).config;
  const BuiltKernel kernel = study_kernel(study.kernel).make(study.options, target_facts(gpu));
  SimulationOptions options;
  options.sample = true;
  options.progress = [&](double done, double /*sm_cycles*/) {
    constexpr double kPercent = 100;
    progress.show(fmt::format("{} on {}, {:.0f} % of the CTAs", study.title, study.gpu, kPercent * done));
  };
  StudyColumn column;
  column.title = study.title;
  column.gpu = study.gpu;
  column.result = simulate(gpu, *kernel.source, options);
  column.result.description = kernel.description;
  if (study.kernel == std::string_view("flash_attention")) {
    column.unfused = unfused_attention_bound(gpu, column.result.sm_clock_mhz);
  }
  return column;
}

nlohmann::ordered_json study_json(const std::vector<StudyColumn>& columns) {
  nlohmann::ordered_json out = json_document("strata.study/1");
  out["units"] = units_json();
  out["cases"] = nlohmann::ordered_json::array();
  for (const StudyColumn& column : columns) {
    nlohmann::ordered_json one = {{"title", column.title}, {"gpu", column.gpu}};
    one["kernel"] = kernel_json(column.result, load_gpu(GpuChoice{column.gpu, {}}).config);
    if (column.unfused) {
      one["unfused"] = {{"hbm_read_bytes", column.unfused->read_bytes},
                        {"hbm_write_bytes", column.unfused->write_bytes},
                        {"time_us", column.unfused->time_us}};
    }
    out["cases"].push_back(std::move(one));
  }
  return out;
}

int run_first_light(const std::string& json_path) {
  JsonOutput json(json_path);
  Progress progress("study");
  const std::vector<StudyCase>& cases = first_light_cases();
  std::vector<StudyColumn> columns(cases.size());
  // Independent simulations, each with its own result: the table does not depend on the number of threads.
  tbb::parallel_for(
      std::size_t{0}, cases.size(), [&](std::size_t i) { columns[i] = run_case(cases[i], progress); },
      tbb::simple_partitioner{});
  clear_progress();
  if (!json.takes_stdout()) {
    fmt::print("{}", study_table(columns));
  }
  if (json.wanted()) {
    json.write(study_json(columns));
  }
  return kExitDone;
}

}  // namespace

void add_study(CLI::App& app, Action& action) {
  CLI::App* study = app.add_subcommand("study", "built-in comparisons, side by side");
  require_choice(*study, action, "first-light");
  CLI::App* command =
      study->add_subcommand("first-light", "FlashAttention against unfused attention, and a GEMM, on A100 and H100");
  auto json = std::make_shared<std::string>();
  add_json_option(*command, *json);
  add_example(*command, "strata study first-light --json study.json");
  command->callback([json, &action] { action = [json] { return run_first_light(*json); }; });
}

}  // namespace strata::app

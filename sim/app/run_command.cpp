/// strata run: one kernel, or a recorded trace, through the model.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "models/hw/system/simulator.hpp"
#include "sim/app/command.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/app/kernel_options.hpp"
#include "sim/app/library_kernel.hpp"
#include "sim/app/output_file.hpp"
#include "sim/app/progress.hpp"
#include "sim/app/result_outputs.hpp"
#include "sim/base/error.hpp"
#include "workloads/spec/trace_file.hpp"

namespace strata::app {

namespace {

struct RunOptions {
  GpuChoice gpu;
  KernelChoice kernel;
  std::string library_kernel = "auto";
  std::string trace;
  double sm_clock_mhz = 0;
  ResultOutputs outputs;
};

BuiltKernel build(const RunOptions& options, const TargetFacts& target) {
  if (!options.trace.empty()) {
    if (options.kernel.spec != nullptr) {
      throw InputError(fmt::format("give either a kernel ('{}') or --trace, not both", options.kernel.spec->name));
    }
    BuiltKernel replay;
    replay.source = open_trace(options.trace);
    replay.description = "replay of " + options.trace;
    return replay;
  }
  if (options.kernel.spec == nullptr) {
    throw InputError("`strata run` needs a kernel (`strata list kernels`) or --trace FILE");
  }
  if (options.library_kernel != "auto") {
    return build_library_kernel(options.kernel, options.library_kernel, target);
  }
  return build_kernel(options.kernel, target);
}

int run(RunOptions& options) {
  const GpuDescription gpu = load_gpu(options.gpu);
  const BuiltKernel kernel = build(options, target_facts(gpu.config));
  OpenOutputs outputs(options.outputs);

  Progress progress("run");
  SimulationOptions simulation;
  simulation.sm_clock_mhz = options.sm_clock_mhz;
  simulation.observer = outputs.observer();
  simulation.progress = [&progress](double done) {
    constexpr double kPercent = 100;
    progress.show(fmt::format("{:.0f} % of the CTAs have finished", kPercent * done));
  };
  Result result = simulate(gpu.config, *kernel.source, simulation);
  if (result.description.empty()) {
    result.description = kernel.description;
  }
  result.notes.insert(result.notes.begin(), kernel.notes.begin(), kernel.notes.end());
  outputs.write(gpu, {result});
  return kExitDone;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("run", "simulates one kernel and reports cycles and traffic at every level");
  auto options = std::make_shared<RunOptions>();
  add_kernel_commands(*command, options->kernel);
  add_gpu_options(*command, options->gpu);
  command
      ->add_option("--kernel", options->library_kernel,
                   "auto, or a vendor library's kernel name that sets tile, stages and cluster")
      ->capture_default_str();
  command->add_option("--trace", options->trace, "replays a file that `strata trace record` wrote");
  command->add_option("--sm-clock", options->sm_clock_mhz, "SM clock in MHz; otherwise the clock model chooses it")
      ->check(CLI::PositiveNumber);
  add_result_options(*command, options->outputs);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace strata::app

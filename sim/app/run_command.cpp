/// strata run: one kernel, or a recorded trace, through the model.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "models/hw/sm/occupancy.hpp"
#include "models/hw/system/simulator.hpp"
#include "sim/app/auto_kernel.hpp"
#include "sim/app/command.hpp"
#include "sim/app/exact_option.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/app/jobs_option.hpp"
#include "sim/app/kernel_options.hpp"
#include "sim/app/library_kernel.hpp"
#include "sim/app/output_file.hpp"
#include "sim/app/progress.hpp"
#include "sim/app/result_outputs.hpp"
#include "sim/base/error.hpp"
#include "sim/result/remarks.hpp"
#include "workloads/spec/trace_file.hpp"

namespace strata::app {

namespace {

constexpr const char* kChoose = "auto";

struct RunOptions {
  GpuChoice gpu;
  KernelChoice kernel;
  std::string library_kernel;  ///< empty: the generator's own choice of a tile
  bool verbose = false;
  std::string trace;
  double sm_clock_mhz = 0;
  bool exact = false;
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
    replay.notes.emplace_back("a replay simulates the whole launch, as --exact does");
    return replay;
  }
  if (options.kernel.spec == nullptr) {
    throw InputError("`strata run` needs a kernel (`strata list kernels`) or --trace FILE");
  }
  if (!options.library_kernel.empty()) {
    return build_library_kernel(options.kernel, options.library_kernel, target);
  }
  return build_kernel(options.kernel, target);
}

/// The launches to simulate: one, but for a chosen kernel that splits its work and adds the parts up.
std::vector<BuiltKernel> build_all(const RunOptions& options, const GpuConfig& gpu) {
  std::vector<BuiltKernel> kernels;
  if (options.library_kernel != kChoose || options.kernel.spec == nullptr || !options.trace.empty()) {
    kernels.push_back(build(options, target_facts(gpu)));
    return kernels;
  }
  LaunchPredictor predictor(gpu, default_jobs());
  Progress progress("run");
  predictor.on_progress(
      [&progress](std::size_t done) { progress.show(fmt::format("{} launches of candidates simulated", done)); });
  const LaunchJob job{library_row(options.kernel), options.sm_clock_mhz};
  const AutoChoice choice = choose_kernels(predictor, std::span(&job, 1)).front();
  if (!choice.ok()) {
    throw UnsupportedError(choice.reason);
  }
  for (const LaunchRow& row : choice.simulated.front().candidate.launches) {
    kernels.push_back(resolve_launch(row, target_facts(gpu)));
  }
  std::vector<std::string> notes = notes_of(choice, options.verbose || !options.outputs.json.empty());
  kernels.front().notes.insert(kernels.front().notes.begin(), notes.begin(), notes.end());
  return kernels;
}

/// Whether CTAs end throughout a launch, so that how many have ended says how much is done. Those of a single wave and
/// persistent ones end all at once.
bool ctas_end_along_the_way(const GpuConfig& gpu, const TraceSource& source) {
  constexpr std::uint64_t kWaves = 2;
  const Launch& launch = source.launch();
  const std::uint64_t resident = std::uint64_t{occupancy(gpu, launch).ctas} * static_cast<std::uint64_t>(gpu.num_sms());
  return launch.num_ctas() >= kWaves * resident;
}

Result simulate_launch(const RunOptions& options, const GpuConfig& gpu, const BuiltKernel& kernel,
                       ObserverSink* observer) {
  Progress progress("run");
  SimulationOptions simulation;
  simulation.sm_clock_mhz = options.sm_clock_mhz;
  simulation.observer = observer;
  simulation.sample = !options.exact && observer == nullptr;
  simulation.progress = [&progress, ends = ctas_end_along_the_way(gpu, *kernel.source)](double done, double sm_cycles) {
    constexpr double kPercent = 100;
    constexpr double kMillion = 1e6;
    const std::string cycles = fmt::format("{:.1f} million SM cycles simulated", sm_cycles / kMillion);
    if (ends) {
      progress.show(fmt::format("{:.1f} % of the CTAs have finished, {}", kPercent * done, cycles), done);
    } else {
      progress.show(cycles);
    }
  };
  Result result = simulate(gpu, *kernel.source, simulation);
  if (result.description.empty()) {
    result.description = kernel.description;
  }
  result.notes.insert(result.notes.begin(), kernel.notes.begin(), kernel.notes.end());
  for (std::string& remark : remarks(result, gpu)) {
    result.notes.push_back(std::move(remark));
  }
  return result;
}

void check_options(const RunOptions& options) {
  const bool names_kernel = !options.library_kernel.empty();
  refuse_both(names_kernel, "--kernel", !options.trace.empty(), "--trace: a trace holds its kernel");
  require_with(options.verbose, "--verbose", options.library_kernel == kChoose, "--kernel auto");
  if (names_kernel && options.kernel.spec != nullptr) {
    refuse_ignored_options(options.kernel, options.library_kernel != kChoose);
    if (options.library_kernel == kChoose) expect_open_generator(options.kernel);
  }
}

std::string check_sm_clock(const std::string& text) {
  std::string problem = check_positive(text);
  const double mhz = problem.empty() ? std::strtod(text.c_str(), nullptr) : 0;
  if (mhz > kMaxSmClockMhz) {
    problem = fmt::format("'{}': expected a number above 0 and at most {}, in MHz", text, kMaxSmClockMhz);
  } else if (problem.empty() && mhz < 1) {
    problem = fmt::format("'{}': expected 1 MHz or more", text);
  }
  return problem;
}

int run(RunOptions& options) {
  check_options(options);
  const GpuDescription gpu = load_gpu(options.gpu);
  refuse_overwriting_inputs({{options.outputs.json, "--json"},
                             {options.outputs.csv, "--csv"},
                             {options.outputs.html, "--html"},
                             {options.outputs.timeline, "--timeline"}},
                            inputs_with(gpu, {options.trace}));
  OpenOutputs outputs(options.outputs);
  std::vector<Result> results;
  for (const BuiltKernel& kernel : build_all(options, gpu.config)) {
    results.push_back(simulate_launch(options, gpu.config, kernel, results.empty() ? outputs.observer() : nullptr));
  }
  outputs.write(gpu, results);
  return kExitDone;
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("run", "simulates one kernel and reports cycles and traffic at every level");
  auto options = std::make_shared<RunOptions>();
  add_kernel_commands(*command, options->kernel);
  add_gpu_options(*command, options->gpu);
  command->add_option(
      "--kernel", options->library_kernel,
      "a vendor library's kernel name that sets tile, stages and cluster, or auto: the fastest of those "
      "that the GPU's libraries could run; otherwise the kernel chooses a tile by a rule of thumb");
  add_switch(*command, "--verbose", options->verbose, "with --kernel auto: lists the candidates that were simulated");
  command->add_option("--trace", options->trace, "replays a file that `strata trace record` wrote")
      ->group(kInsteadOfKernel);
  command
      ->add_option("--sm-clock", options->sm_clock_mhz,
                   fmt::format("SM clock in MHz, 1 to {}; otherwise the clock model chooses it", kMaxSmClockMhz))
      ->check(check_sm_clock);
  add_exact_option(*command, options->exact);
  add_result_options(*command, options->outputs);
  add_example(*command, "strata run gemm --m 4096 --n 4096 --k 4096 --gpu h200-sxm-141gb --json gemm.json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace strata::app

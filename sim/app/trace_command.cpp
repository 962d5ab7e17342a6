/// strata trace: records kernels to trace files, and looks into such files.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "models/hw/system/sampling.hpp"
#include "sim/app/command.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/app/kernel_options.hpp"
#include "sim/app/output_file.hpp"
#include "sim/app/progress.hpp"
#include "sim/base/error.hpp"
#include "workloads/spec/trace_file.hpp"

namespace strata::app {

namespace {

struct RecordOptions {
  GpuChoice gpu;
  KernelChoice kernel;
  std::string out;
};

int record(const RecordOptions& options) {
  if (options.kernel.spec == nullptr) {
    throw InputError("`strata trace record` needs a kernel (`strata list kernels`)");
  }
  const GpuDescription gpu = load_gpu(options.gpu);
  const BuiltKernel kernel = build_kernel(options.kernel, target_facts(gpu.config));
  refuse_overwriting_inputs({{options.out, "--out"}}, inputs_with(gpu));
  OutputFile out(options.out, "--out");
  if (out.temporary_path().empty()) {
    throw InputError(Diagnostic{options.out, 0, 0, "--out", "a trace needs a regular file"});
  }
  Progress progress("record");
  record_trace(*kernel.source, out.temporary_path(), [&progress](std::uint64_t done, std::uint64_t all) {
    progress.show(fmt::format("{} of {} CTAs", done, all));
  });
  out.commit();
  clear_progress();
  fmt::print("{}: {}, {}\n", options.out, kernel.source->launch().name, kernel.description);
  if (plan_sampling(gpu.config, *kernel.source)) {
    fmt::print(
        "a replay simulates all of it, as `strata run --exact` does; `strata run` alone samples a launch of this "
        "length\n");
  }
  return kExitDone;
}

int info(const std::string& file) {
  fmt::print("{}", to_string(inspect_trace(file)));
  return kExitDone;
}

int verify(const std::string& file) {
  verify_trace(file);
  fmt::print("{}: every checksum holds\n", file);
  return kExitDone;
}

void add_file_command(CLI::App& trace, const char* name, const char* help, int (*run)(const std::string&),
                      Action& action) {
  CLI::App* command = trace.add_subcommand(name, help);
  auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file, "trace file")->required();
  command->callback([file, run, &action] { action = [file, run] { return run(*file); }; });
}

}  // namespace

void add_trace(CLI::App& app, Action& action) {
  CLI::App* trace = app.add_subcommand("trace", "records a kernel's trace to a file, or looks into such a file");
  require_choice(*trace, action, "record, info or verify; `strata run --trace FILE` replays");

  CLI::App* command = trace->add_subcommand("record", "writes the trace of a kernel, compressed and checksummed");
  auto options = std::make_shared<RecordOptions>();
  add_kernel_commands(*command, options->kernel);
  add_gpu_options(*command, options->gpu);
  command->add_option("--out", options->out, "trace file")->required();
  command->callback([options, &action] { action = [options] { return record(*options); }; });

  add_file_command(*trace, "info", "shows what a trace file holds", info, action);
  add_file_command(*trace, "verify", "reads a whole trace file and checks every checksum", verify, action);
}

}  // namespace strata::app

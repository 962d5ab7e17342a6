/// strata trace: records kernels to trace files, and looks into such files.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "models/hw/system/sampling.hpp"
#include "sim/app/command.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/app/json_output.hpp"
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
  clear_progress();
  fmt::print("{}: {}, {}\n", options.out, kernel.source->launch().name, kernel.description);
  if (plan_sampling(gpu.config, *kernel.source)) {
    fmt::print(
        "a replay simulates all of it, as `strata run --exact` does; `strata run` alone samples a launch of this "
        "length\n");
  }
  out.commit();
  return kExitDone;
}

nlohmann::ordered_json info_json(const TraceInfo& t) {
  const Launch& l = t.launch;
  const auto dims = [](const Dim3& d) { return std::vector<std::uint32_t>{d.x, d.y, d.z}; };
  nlohmann::ordered_json out = json_document("strata.trace_info/1");
  out["trace_version"] = t.version;
  out["file_bytes"] = t.file_bytes;
  out["kernel"] = l.name;
  out["family"] = l.family;
  out["grid_ctas"] = dims(l.grid);
  out["block_threads"] = dims(l.block);
  out["cluster_ctas"] = dims(l.cluster);
  out["registers_per_thread"] = l.registers_per_thread;
  out["smem_static_bytes"] = l.smem_static_bytes;
  out["smem_dynamic_bytes"] = l.smem_dynamic_bytes;
  for (const Buffer& b : l.buffers) {
    out["buffers"].push_back({{"name", b.name}, {"bytes", b.bytes}, {"address", b.base}});
  }
  out["streams"] = t.streams;
  out["operations"] = t.operations;
  for (std::size_t k = 0; k < kNumOpKinds; ++k) {
    out["operations_by_kind"][to_string(static_cast<OpKind>(k))] = t.operations_by_kind[k];
  }
  out["shapes"] = t.shapes;
  out["address_tables"] = t.lane_tables;
  out["warp_insts"] = t.warp_insts;
  out["tensor_insts"] = t.tensor_insts;
  out["load_bytes"] = t.load_bytes;
  out["store_bytes"] = t.store_bytes;
  return out;
}

int info(const std::string& file, const std::string& json_path) {
  refuse_overwriting_inputs({{json_path, "--json"}}, {file});
  JsonOutput json(json_path);
  const TraceInfo trace = inspect_trace(file);
  if (!json.takes_stdout()) {
    fmt::print("{}", to_string(trace));
  }
  json.write(info_json(trace));
  return kExitDone;
}

int verify(const std::string& file) {
  verify_trace(file);
  fmt::print("{}: every checksum holds\n", file);
  return kExitDone;
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
  add_example(*command, "strata trace record gemm --m 1024 --n 1024 --k 1024 --out gemm.trace");
  command->callback([options, &action] { action = [options] { return record(*options); }; });

  const auto add_file_command = [trace](const char* name, const char* help) {
    auto file = std::make_shared<std::string>();
    CLI::App* of_file = trace->add_subcommand(name, help);
    of_file->add_option("FILE", *file, "trace file")->required();
    return std::pair{of_file, file};
  };
  const auto [show, shown] = add_file_command("info", "shows what a trace file holds");
  auto json = std::make_shared<std::string>();
  add_json_option(*show, *json);
  add_example(*show, "strata trace info gemm.trace --json -");
  show->callback([file = shown, json, &action] { action = [file, json] { return info(*file, *json); }; });
  const auto [check, checked] = add_file_command("verify", "reads a whole trace file and checks every checksum");
  add_example(*check, "strata trace verify gemm.trace");
  check->callback([file = checked, &action] { action = [file] { return verify(*file); }; });
}

}  // namespace strata::app

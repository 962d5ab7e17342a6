/// strata list: what there is to name on a command line.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "sim/app/command.hpp"
#include "sim/config/gpu_description.hpp"
#include "sim/config/gpu_fields.hpp"
#include "sim/result/views.hpp"
#include "sim/stats/metrics.hpp"
#include "validation/compare/quantities.hpp"
#include "workloads/kernels/catalogue.hpp"
#include "workloads/library/candidates.hpp"

namespace strata::app {

namespace {

int list_gpu_names() {
  for (const std::string& name : list_gpus()) {
    const GpuConfig gpu = load_gpu(name).config;
    fmt::print("{:<20} {:<28} {:>3} SMs, {:>8} L2, {:>6.1f} GB/s HBM\n", name, gpu.chip.product, gpu.num_sms(),
               binary_bytes(gpu.l2.size_bytes), gpu.hbm_peak_gb_per_s());
  }
  return kExitDone;
}

int list_kernels() {
  for (const KernelSpec& spec : kernel_catalogue()) {
    fmt::print("{:<24} {}\n", spec.name, spec.help);
  }
  fmt::print("\n`strata run KERNEL --help` lists the options of a kernel\n");
  return kExitDone;
}

int list_operators() {
  fmt::print("{}\n\n`op` of `predict` where the kernel is empty or auto; beside a kernel's name `op` may be any\n",
             fmt::join(operators_with_candidates(), "\n"));
  return kExitDone;
}

bool is_predict_column(std::string_view name) {
  return std::any_of(kQuantityInfo.begin(), kQuantityInfo.end(),
                     [name](const QuantityInfo& info) { return name == info.column; });
}

int list_metrics() {
  fmt::print("metrics of `run`, under Nsight Compute's names\n");
  for (const MetricValue& metric : metric_list()) {
    fmt::print("  {:<60} {:<12} {}\n", metric.name, metric.unit, metric.sentence);
  }
  fmt::print("\ncounters, keys of `run --json`; those with a star are columns of `predict` too\n");
  for (const CounterInfo& info : kCounterInfo) {
    fmt::print("{} {:<60} {:<12} {}\n", is_predict_column(info.key) ? '*' : ' ', info.key, info.unit, info.sentence);
  }
  fmt::print("\ncycle stack: mutually exclusive reasons, averaged over SMs; they add up to sm_cycles\n");
  for (const StackReasonInfo& info : kStackReasonInfo) {
    fmt::print("  {:<60} {:<12} {}\n", info.key, "cycle", info.sentence);
  }
  return kExitDone;
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("list", "lists GPUs, kernels, operators or metrics");
  command->require_subcommand(0, 1);
  const auto add = [&](const char* name, const char* help, int (*run)()) {
    command->add_subcommand(name, help)->callback([run, &action] { action = run; });
  };
  add("gpus", "GPUs with a description in configs/gpus", list_gpu_names);
  add("kernels", "kernels that `run` can build", list_kernels);
  add("operators", "operators whose kernel `predict` chooses where none is given", list_operators);
  add("metrics", "every metric: unit, meaning, Nsight Compute's name", list_metrics);
  require_choice(*command, action, "gpus, kernels, operators or metrics");
}

}  // namespace strata::app

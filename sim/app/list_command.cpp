/// strata list: what there is to name on a command line.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sim/app/command.hpp"
#include "sim/app/json_output.hpp"
#include "sim/app/kernel_options.hpp"
#include "sim/config/gpu_description.hpp"
#include "sim/config/gpu_fields.hpp"
#include "sim/result/views.hpp"
#include "sim/stats/metrics.hpp"
#include "validation/compare/quantities.hpp"
#include "workloads/kernels/catalogue.hpp"
#include "workloads/library/candidates.hpp"

namespace strata::app {

namespace {

using Json = nlohmann::ordered_json;

/// What a list is made of: lines for people, and the same as a JSON array.
struct Listing {
  std::string text;
  Json json;
};

Json gpu_names() {
  Json out = Json::array();
  for (const std::string& name : list_gpus()) {
    const GpuConfig gpu = load_gpu(name).config;
    out.push_back({{"name", name},
                   {"product", gpu.chip.product},
                   {"sms", gpu.num_sms()},
                   {"l2_bytes", gpu.l2.size_bytes},
                   {"hbm_peak_gb_per_s", gpu.hbm_peak_gb_per_s()}});
  }
  return out;
}

Listing list_gpu_names() {
  Listing out{{}, {{"gpus", gpu_names()}}};
  for (const Json& gpu : out.json["gpus"]) {
    out.text += fmt::format("{:<20} {:<28} {:>3} SMs, {:>8} L2, {:>6.1f} GB/s HBM\n", gpu["name"].get<std::string>(),
                            gpu["product"].get<std::string>(), gpu["sms"].get<int>(),
                            binary_bytes(gpu["l2_bytes"].get<std::int64_t>()), gpu["hbm_peak_gb_per_s"].get<double>());
  }
  return out;
}

Listing list_kernels() {
  Listing out;
  Json& kernels = out.json["kernels"] = Json::array();
  for (const KernelSpec& spec : kernel_catalogue()) {
    out.text += fmt::format("{:<24} {}\n", spec.name, spec.help);
    Json options = Json::array();
    for (const OptionSpec& option : spec.options) {
      options.push_back({{"name", option.name},
                         {"default", option.chosen ? Json("chosen") : Json(option.default_value)},
                         {"required", is_required(option)},
                         {"meaning", option.help}});
    }
    kernels.push_back({{"name", spec.name}, {"meaning", spec.help}, {"options", options}});
  }
  out.text += "\n`strata run KERNEL --help` lists the options of a kernel\n";
  return out;
}

Listing list_operators() {
  Listing out{{}, {{"operators", operators_with_candidates()}}};
  out.text =
      fmt::format("{}\n\n`op` of `predict` where the kernel is empty or auto; beside a kernel's name `op` may be any\n",
                  fmt::join(operators_with_candidates(), "\n"));
  return out;
}

bool is_predict_column(std::string_view name) {
  return std::any_of(kQuantityInfo.begin(), kQuantityInfo.end(),
                     [name](const QuantityInfo& info) { return name == info.column; });
}

Listing list_metrics() {
  Listing out;
  const auto add = [&out](const char* list, const std::string& key, const std::string& unit,
                          const std::string& meaning) {
    out.text += fmt::format("{:<60} {:<12} {}\n", key, unit, meaning);
    out.json[list].push_back({{"name", key}, {"unit", unit}, {"meaning", meaning}});
  };
  out.text += "metrics of `run`, under Nsight Compute's names\n";
  for (const MetricValue& metric : metric_list()) {
    out.text += "  ";
    add("metrics", metric.name, metric.unit, metric.sentence);
  }
  out.text += "\ncounters, keys of `run --json`; those with a star are columns of `predict` too\n";
  for (const CounterInfo& info : kCounterInfo) {
    out.text += is_predict_column(info.key) ? "* " : "  ";
    add("counters", info.key, info.unit, info.sentence);
    out.json["counters"].back()["predict_column"] = is_predict_column(info.key);
  }
  out.text += "\ncycle stack: mutually exclusive reasons, averaged over SMs; they add up to sm_cycles\n";
  for (const StackReasonInfo& info : kStackReasonInfo) {
    out.text += "  ";
    add("cycle_stack", info.key, "cycle", info.sentence);
  }
  return out;
}

int print_list(Listing (*list)(), const std::string& json) {
  JsonOutput output(json);
  const Listing listing = list();
  Json document = json_document("strata.list/1");
  document.update(listing.json);
  if (!output.takes_stdout()) {
    fmt::print("{}", listing.text);
  }
  output.write(document);
  return kExitDone;
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("list", "lists GPUs, kernels, operators or metrics");
  command->require_subcommand(0, 1);
  const auto add = [&](const char* name, const char* help, Listing (*list)()) {
    CLI::App* sub = command->add_subcommand(name, help);
    auto json = std::make_shared<std::string>();
    add_json_option(*sub, *json);
    add_example(*sub, fmt::format("strata list {} --json -", name));
    sub->callback([list, json, &action] { action = [list, json] { return print_list(list, *json); }; });
  };
  add("gpus", "GPUs with a description in configs/gpus", list_gpu_names);
  add("kernels", "kernels that `run` can build", list_kernels);
  add("operators", "operators whose kernel `predict` chooses where none is given", list_operators);
  add("metrics", "every metric: unit, meaning, Nsight Compute's name", list_metrics);
  require_choice(*command, action, "gpus, kernels, operators or metrics");
}

}  // namespace strata::app

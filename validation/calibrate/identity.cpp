#include "validation/calibrate/identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/error.hpp"
#include "validation/calibrate/description.hpp"
#include "validation/compare/microbench_table.hpp"

namespace strata {

namespace {

/// The index-valued rows of a series over GPCs, in their order.
std::vector<int> indexed(const std::vector<MicrobenchRow>& rows, const std::string& bench, const std::string& series) {
  std::vector<std::pair<double, int>> found;
  for (const MicrobenchRow& row : rows) {
    if (row.bench == bench && row.series == series && row.x_unit == "gpc" && row.metric.empty()) {
      found.emplace_back(row.x, static_cast<int>(row.value));
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<int> out;
  for (const auto& [x, value] : found) {
    out.push_back(value);
  }
  return out;
}

/// The run whose GPCs are the described ones, else the first one that lists any; empty where none does.
std::vector<MicrobenchRow> choose_card(const std::vector<std::string>& runs, std::vector<int> described) {
  std::sort(described.begin(), described.end());
  std::vector<MicrobenchRow> first;
  for (const std::string& run : runs) {
    std::vector<MicrobenchRow> rows = read_microbench_run(run);
    std::vector<int> gpcs = indexed(rows, "topology", "sms_in_gpc");
    if (gpcs.empty()) {
      continue;
    }
    std::sort(gpcs.begin(), gpcs.end());
    if (gpcs == described) {
      return {};  // the description's card: its clusters and sides belong together
    }
    if (first.empty()) {
      first = std::move(rows);
    }
  }
  return first;
}

void apply_gpcs(const std::string& folder, int sms, const std::vector<MicrobenchRow>& rows, GpuDescription& d) {
  const std::vector<int> gpcs = indexed(rows, "topology", "sms_in_gpc");
  const int listed = std::accumulate(gpcs.begin(), gpcs.end(), 0);
  if (listed != sms) {
    throw InputError(Diagnostic{folder, 0, 0, "topology.gpc_sms",
                                fmt::format("topology.csv lists {} SMs, the GPU has {}", listed, sms)});
  }
  const std::string list = fmt::format("[{}]", fmt::join(gpcs, ", "));
  set_value(d, "topology.gpc_sms", list, "measured", "topology.csv, sms_in_gpc");
  set_value(d, "topology.gpc_cluster_sms", list, "inferred", "all SMs of a GPC; lone TPCs were not told apart");
  std::vector<int> sides = indexed(rows, "l2_fabric", "side_of_gpc");
  const bool measured = sides.size() == gpcs.size();
  const std::string dealt =
      sides.empty() ? std::string("l2_fabric was not measured")
                    : fmt::format("l2_fabric.csv has side_of_gpc of {} of {} GPCs", sides.size(), gpcs.size());
  if (!measured) {
    sides.resize(gpcs.size());
    for (std::size_t g = 0; g < sides.size(); ++g) sides[g] = static_cast<int>(g % 2);
  }
  set_value(d, "topology.gpc_partition", fmt::format("[{}]", fmt::join(sides, ", ")),
            measured ? "measured" : "inferred",
            measured ? "l2_fabric.csv, side_of_gpc" : dealt + "; GPCs dealt to the sides in turn");
}

}  // namespace

void apply_identity(const std::string& folder, const std::string& name, GpuDescription& d) {
  const std::vector<std::string> runs = microbench_runs(folder);
  const MicrobenchOrigin origin = read_microbench_origin(runs.front());
  const std::string source = "origin.json, " + origin.date;
  const std::string base_name = d.config.chip.name;
  set_value(d, "chip.name", name, "measured", "our name");
  const auto set_fact = [&](const char* key, const std::string& value, const char* fact) {
    try {
      set_value(d, key, value, "measured", source);
    } catch (const InputError& e) {
      throw InputError(Diagnostic{runs.front() + "/origin.json", 0, 0, fact, e.diagnostics().front().message});
    }
  };
  set_fact("chip.product", origin.gpu, "gpu");
  set_fact("clocks.sm_max_mhz", fmt::format("{}", origin.sm_clock_mhz), "max_sm_clock_mhz");
  set_fact("clocks.hbm_mhz", fmt::format("{}", origin.memory_clock_mhz), "memory_clock_mhz");
  set_fact("l2.size_bytes", fmt::format("{}", origin.l2_bytes), "l2_bytes");
  // A card may have channels of its stacks disabled, and the driver keeps some of the memory for itself.
  const HbmConfig& hbm = d.config.hbm;
  const double stack_bits = hbm.channels_per_stack * hbm.pseudo_channels_per_channel * hbm.pseudo_channel_bits;
  const auto stacks = static_cast<int>(std::lround(origin.memory_bus_bits / stack_bits));
  if (origin.memory_bus_bits > 0 && stacks != hbm.stacks) {
    throw InputError(Diagnostic{runs.front() + "/origin.json", 0, 0, "memory_bus_bits",
                                fmt::format("{}: makes {} HBM stacks, the base description {} has {}; expected a base "
                                            "with {}, whose L2 slices go with them",
                                            origin.memory_bus_bits, stacks, base_name, hbm.stacks, stacks)});
  }
  constexpr double kKeptByDriver = 0.1;
  const double of_described = static_cast<double>(origin.memory_bytes) / static_cast<double>(hbm.size_bytes);
  if (origin.memory_bytes > 0 && std::abs(of_described - 1) > kKeptByDriver) {
    set_fact("hbm.size_bytes", fmt::format("{}", origin.memory_bytes), "memory_bytes");
  }
  const std::vector<MicrobenchRow> rows = choose_card(runs, d.config.topology.gpc_sms);
  if (!rows.empty()) {
    apply_gpcs(folder, origin.sms, rows, d);
  } else if (d.config.num_sms() != origin.sms) {
    throw InputError(Diagnostic{folder, 0, 0, "topology.gpc_sms",
                                fmt::format("the GPU has {} SMs and the base description {}; measure topology too",
                                            origin.sms, d.config.num_sms())});
  }
}

}  // namespace strata

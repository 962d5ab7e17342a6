#include "validation/calibrate/identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/base/error.hpp"
#include "validation/calibrate/description.hpp"
#include "validation/compare/microbench_table.hpp"

namespace strata {

namespace {

/// The index-valued rows of a series, in order of x.
std::vector<int> indexed(const std::vector<MicrobenchRow>& rows, const std::string& bench, const std::string& series) {
  std::vector<std::pair<double, int>> found;
  for (const MicrobenchRow& row : rows) {
    if (row.bench == bench && row.series == series && row.metric.empty()) {
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

}  // namespace

void apply_identity(const std::string& folder, const std::string& name, GpuDescription& d) {
  const MicrobenchOrigin origin = read_microbench_origin(folder);
  const std::string source = "origin.json, " + origin.date;
  set_value(d, "chip.name", name, "measured", "our name");
  set_value(d, "chip.product", origin.gpu, "measured", source);
  set_value(d, "clocks.sm_max_mhz", fmt::format("{}", origin.sm_clock_mhz), "datasheet", source);
  set_value(d, "clocks.hbm_mhz", fmt::format("{}", origin.memory_clock_mhz), "datasheet", source);
  set_value(d, "l2.size_bytes", fmt::format("{}", origin.l2_bytes), "datasheet", source);
  const std::vector<MicrobenchRow> rows = read_microbench_run(folder);
  const std::vector<int> gpcs = indexed(rows, "topology", "sms_in_gpc");
  if (gpcs.empty()) {
    if (d.config.num_sms() != origin.sms) {
      throw InputError(Diagnostic{folder, 0, 0, "topology.gpc_sms",
                                  fmt::format("the GPU has {} SMs and the base description {}; measure topology too",
                                              origin.sms, d.config.num_sms())});
    }
    return;
  }
  if (std::accumulate(gpcs.begin(), gpcs.end(), 0) != origin.sms) {
    throw InputError(Diagnostic{folder, 0, 0, "topology.gpc_sms",
                                fmt::format("topology.csv lists {} SMs, the GPU has {}",
                                            std::accumulate(gpcs.begin(), gpcs.end(), 0), origin.sms)});
  }
  std::vector<int> same = d.config.topology.gpc_sms;
  std::vector<int> sorted = gpcs;
  std::sort(same.begin(), same.end());
  std::sort(sorted.begin(), sorted.end());
  if (same == sorted) {
    return;  // the base description's card: its clusters and sides belong together
  }
  set_value(d, "topology.gpc_sms", fmt::format("[{}]", fmt::join(gpcs, ", ")), "measured", "topology.csv, sms_in_gpc");
  set_value(d, "topology.gpc_cluster_sms", fmt::format("[{}]", fmt::join(gpcs, ", ")), "inferred",
            "all SMs of a GPC; lone TPCs were not told apart");
  const std::vector<int> sides = indexed(rows, "l2_fabric", "side_of_gpc");
  if (sides.size() == gpcs.size()) {
    set_value(d, "topology.gpc_partition", fmt::format("[{}]", fmt::join(sides, ", ")), "measured",
              "l2_fabric.csv, side_of_gpc");
  } else {
    std::vector<int> halves(gpcs.size());
    for (std::size_t g = 0; g < halves.size(); ++g) halves[g] = static_cast<int>(g % 2);
    set_value(d, "topology.gpc_partition", fmt::format("[{}]", fmt::join(halves, ", ")), "inferred",
              "l2_fabric was not measured; GPCs dealt to the sides in turn");
  }
}

}  // namespace strata

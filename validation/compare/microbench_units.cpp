#include "validation/compare/microbench_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "sim/config/text.hpp"

namespace strata {

namespace {

/// The units that a program prints; of a program that is not known any.
struct ProgramUnits {
  std::string_view bench;
  std::vector<std::string_view> units;
};

const std::vector<ProgramUnits>& program_units() {
  static const std::vector<ProgramUnits> kUnits{
      {"alu", {"clk", "clk/inst", "clk/inst/SMSP"}},
      {"barrier", {"clk"}},
      {"cold_start", {"ns", "clk", "clk/KiB"}},
      {"cta_ends", {"ns", "sector", "cycle"}},
      {"dsmem_atomics", {"B/clk/SM", "lane_ops/clk", "clk"}},
      {"first_touch", {"ns", "sector", "cycle"}},
      {"hbm", {"GB/s", "ns"}},
      {"hbm_load", {"B/clk", "clk", "fraction"}},
      {"hbm_shares", {"GB/s", "ns", "clk", "fraction"}},
      {"hbm_traffic", {"B asked", "byte", "ns", "sector", "hz"}},
      {"instruction_fetch", {"clk/inst/SMSP"}},
      {"issue_slots", {"clk/inst/SMSP"}},
      {"l1_hits", {"clk/inst/SM"}},
      {"l1_rows", {"clk/inst/SM"}},
      {"l1_turns", {"clk/load"}},
      {"l2_bandwidth", {"B/clk"}},
      {"l2_fabric", {"side", "SM", "B/clk"}},
      {"l2_partition", {"clk", "fraction", "smid"}},
      {"l2_slices", {"clk"}},
      {"latency", {"clk"}},
      {"launch", {"CTA/clk", "ns", "clk", "sector", "cycle"}},
      {"lrc", {"B/clk/SM", "ns", "sector", "cycle", "request"}},
      {"lrc_lines", {"sector", "clk", "ns", "request", "cycle"}},
      {"mma_sync", {"clk/inst/SMSP", "inst/clk/SMSP"}},
      {"partial_stores", {"sectors/clk", "ns", "byte", "sector"}},
      {"shared_memory", {"clk/inst/SM", "clk"}},
      {"tma", {"B/clk", "clk/copy/SM", "clk/copy", "clk", "B/clk/SM"}},
      {"tma_beyond", {"clk"}},
      {"tma_edges", {"clk", "ns", "sector", "request", "cycle"}},
      {"topology", {"index", "SM", "fraction", "clusters", "clk"}},
      {"wgmma", {"clk/inst/SM", "B/clk"}},
      {"wgmma_overlap", {"clk/inst/SM", "inst/clk/SMSP"}},
  };
  return kUnits;
}

/// Programs that measure in several units: which series in which. The first rule whose part the series' name holds
/// counts.
struct SeriesUnit {
  std::string_view bench;
  std::string_view part;  ///< empty = all others
  std::string_view unit;
};
constexpr std::array kSeriesUnits{
    SeriesUnit{"alu", "_latency", "clk"},
    SeriesUnit{"alu", "_one_warp", "clk/inst"},
    SeriesUnit{"alu", "_interval", "clk/inst/SMSP"},
    SeriesUnit{"cold_start", "_clk_per_KiB", "clk/KiB"},
    SeriesUnit{"cold_start", "_duration", "ns"},
    SeriesUnit{"cold_start", "", "clk"},
    SeriesUnit{"dsmem_atomics", "dsmem_", "B/clk/SM"},
    SeriesUnit{"dsmem_atomics", "atom_chain", "clk"},
    SeriesUnit{"dsmem_atomics", "", "lane_ops/clk"},
    SeriesUnit{"hbm", "_duration", "ns"},
    SeriesUnit{"hbm", "", "GB/s"},
    SeriesUnit{"hbm_load", "_rate", "B/clk"},
    SeriesUnit{"hbm_load", "_load", "B/clk"},
    SeriesUnit{"hbm_load", "alone_waits", "fraction"},
    SeriesUnit{"hbm_load", "", "clk"},
    SeriesUnit{"hbm_shares", "_rate", "GB/s"},
    SeriesUnit{"hbm_shares", "_mean_of_last", "fraction"},
    SeriesUnit{"hbm_shares", "_end", "ns"},
    SeriesUnit{"hbm_shares", "", "clk"},
    SeriesUnit{"l2_fabric", "side_of_gpc", "side"},
    SeriesUnit{"l2_fabric", "sms_of_side", "SM"},
    SeriesUnit{"l2_fabric", "", "B/clk"},
    SeriesUnit{"l2_partition", "near_far_cut", "clk"},
    SeriesUnit{"l2_partition", "far_fraction", "fraction"},
    SeriesUnit{"l2_partition", "_far", "fraction"},
    SeriesUnit{"l2_partition", "partner_sm", "smid"},
    SeriesUnit{"l2_partition", "", "clk"},
    SeriesUnit{"launch", "_rate", "CTA/clk"},
    SeriesUnit{"launch", "first_to_last", "ns"},
    SeriesUnit{"launch", "empty_", "ns"},
    SeriesUnit{"launch", "graph_", "ns"},
    SeriesUnit{"launch", "", "clk"},
    SeriesUnit{"mma_sync", "_partner", "inst/clk/SMSP"},
    SeriesUnit{"mma_sync", "", "clk/inst/SMSP"},
    SeriesUnit{"shared_memory", "_latency", "clk"},
    SeriesUnit{"shared_memory", "", "clk/inst/SM"},
    SeriesUnit{"tma", "issue", "clk"},
    SeriesUnit{"tma", "descriptor_", "clk"},
    SeriesUnit{"tma", "_one_thread_unrolled", "clk/copy"},
    SeriesUnit{"tma", "_interval", "clk/copy/SM"},
    SeriesUnit{"tma", "multicast_", "B/clk/SM"},
    SeriesUnit{"tma", "", "B/clk"},
    SeriesUnit{"topology", "gpc_of_sm", "index"},
    SeriesUnit{"topology", "sms_in_gpc", "SM"},
    SeriesUnit{"topology", "cluster2_is_smid_pair", "fraction"},
    SeriesUnit{"topology", "max_active_clusters", "clusters"},
    SeriesUnit{"topology", "dsmem_latency", "clk"},
    SeriesUnit{"wgmma", "_fill_rate", "B/clk"},
    SeriesUnit{"wgmma", "", "clk/inst/SM"},
    SeriesUnit{"wgmma_overlap", "partner_", "inst/clk/SMSP"},
    SeriesUnit{"wgmma_overlap", "", "clk/inst/SM"},
};

/// The counters that run_counters.sh asks for, in the units of ncu's raw page.
struct Metric {
  std::string_view name;
  std::string_view unit;
};
constexpr std::array kMetrics{
    Metric{"sm__cycles_elapsed.max", "cycle"},
    Metric{"gpu__time_duration.sum", "ns"},
    Metric{"lts__t_sectors.sum", "sector"},
    Metric{"lts__t_sectors_srcunit_tex.sum", "sector"},
    Metric{"lts__t_sectors_srcunit_ltcfabric.sum", "sector"},
    Metric{"lts__t_sectors_srcunit_tex_lookup_hit.sum", "sector"},
    Metric{"lts__t_sectors_op_write.sum", "sector"},
    Metric{"lts__t_requests_srcunit_tex.sum", "request"},
    Metric{"l1tex__m_xbar2l1tex_read_sectors.sum", "sector"},
    Metric{"lrc__xbar2lrc_requests_op_read.sum", "request"},
    Metric{"lrc__lts2lrc_sectors_op_read.sum", "sector"},
    Metric{"lrc__lrc2xbar_sectors_op_read.sum", "sector"},
    Metric{"lrc__xbar2gpc_sectors_op_read.sum", "sector"},
    Metric{"lts__cycles_elapsed.avg.per_second", "hz"},
    Metric{"lrc__cycles_elapsed.avg.per_second", "hz"},
    Metric{"sm__cycles_elapsed.avg.per_second", "hz"},
    Metric{"gpc__cycles_elapsed.avg.per_second", "hz"},
    Metric{"dram__cycles_elapsed.avg.per_second", "hz"},
    Metric{"dram__bytes_read.sum", "byte"},
    Metric{"dram__bytes_write.sum", "byte"},
};

const Metric* find_metric(const std::string& name) {
  const auto* at = std::find_if(kMetrics.begin(), kMetrics.end(), [&](const Metric& m) { return m.name == name; });
  return at == kMetrics.end() ? nullptr : at;
}

struct Most {
  std::string_view unit;
  double value;
};
constexpr double kCounted = 1e15;  ///< sectors, bytes, cycles: a day of any GPU
constexpr std::array<Most, 19> kMost{{{"clk", 1e10},
                                      {"ns", 1e12},
                                      {"hz", 1e11},
                                      {"GB/s", 1e6},
                                      {"B/clk", 1e6},
                                      {"B/clk/SM", 1e5},
                                      {"CTA/clk", 1e4},
                                      {"clk/inst/SMSP", 1e6},
                                      {"clk/inst/SM", 1e6},
                                      {"clk/inst", 1e6},
                                      {"clk/KiB", 1e7},
                                      {"clk/copy", 1e7},
                                      {"clk/copy/SM", 1e7},
                                      {"inst/clk/SMSP", 1e3},
                                      {"lane_ops/clk", 1e6},
                                      {"sectors/clk", 1e6},
                                      {"fraction", 1},
                                      {"index", 1e5},
                                      {"clusters", 1e5}}};

}  // namespace

std::optional<std::string> unexpected_unit(const MicrobenchRow& row) {
  const std::string& bench = row.bench;
  const std::string& series = row.series;
  const std::string& metric = row.metric;
  const std::string& unit = row.unit;
  if (!metric.empty()) {
    const Metric* known = find_metric(metric);
    if (known == nullptr || known->unit == unit) return std::nullopt;
    return fmt::format("{} counts in {}", metric, known->unit);
  }
  const auto* rule = std::find_if(kSeriesUnits.begin(), kSeriesUnits.end(), [&](const SeriesUnit& u) {
    return u.bench == bench && series.find(u.part) != std::string::npos;
  });
  if (rule != kSeriesUnits.end()) {
    if (rule->unit == unit) return std::nullopt;
    return fmt::format("{} measures {} in {}", bench, series, rule->unit);
  }
  const auto& all = program_units();
  const auto known = std::find_if(all.begin(), all.end(), [&](const ProgramUnits& p) { return p.bench == bench; });
  if (known == all.end() || std::find(known->units.begin(), known->units.end(), unit) != known->units.end()) {
    return std::nullopt;
  }
  return fmt::format("{} measures in {}", known->bench, fmt::join(known->units, ", "));
}

std::optional<std::string> unknown_metric(const std::string& metric) {
  if (metric.empty() || find_metric(metric) != nullptr) return std::nullopt;
  std::vector<std::string> names;
  for (const Metric& m : kMetrics) names.emplace_back(m.name);
  return fmt::format("unknown counter '{}'; the nearest is '{}'", metric, nearest_name(metric, names));
}

double most_of_unit(const std::string& unit) {
  const auto* known = std::find_if(kMost.begin(), kMost.end(), [&](const Most& m) { return m.unit == unit; });
  return known == kMost.end() ? kCounted : known->value;
}

}  // namespace strata

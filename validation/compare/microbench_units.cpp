#include "validation/compare/microbench_units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

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

std::optional<std::string> unexpected_unit(const std::string& bench, const std::string& unit) {
  const auto& all = program_units();
  const auto known = std::find_if(all.begin(), all.end(), [&](const ProgramUnits& p) { return p.bench == bench; });
  if (known == all.end() || std::find(known->units.begin(), known->units.end(), unit) != known->units.end()) {
    return std::nullopt;
  }
  return fmt::format("{} measures in {}", known->bench, fmt::join(known->units, ", "));
}

double most_of_unit(const std::string& unit) {
  const auto* known = std::find_if(kMost.begin(), kMost.end(), [&](const Most& m) { return m.unit == unit; });
  return known == kMost.end() ? kCounted : known->value;
}

}  // namespace strata

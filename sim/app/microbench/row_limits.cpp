#include "sim/app/microbench/row_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace strata::app {

namespace {

struct Rule {
  std::string_view bench;
  std::string_view part;  ///< of the series' name; empty = all others
  double lowest;
  double highest;
  double step;  ///< x is a multiple of it
};

constexpr double kMostThreads = 1024;
constexpr double kMostWarps = 32;
constexpr double kMostCluster = 16;
constexpr double kWarp = 32;
constexpr double kSector = 32;
constexpr double kLine = 128;
constexpr double kAccess = 16;  ///< bytes of a lane, and the copy engine's unit
constexpr double kMostRow = 1 << 20;
constexpr double kMostCopy = 1 << 17;
constexpr double kMostGrid = 1 << 20;
constexpr double kMostCtas = 1 << 16;     ///< that do more than end
constexpr double kMostKib = 1 << 20;      ///< of what is simulated whole, 1 GiB
constexpr double kMostMib = 1 << 10;      ///< likewise
constexpr double kMostCodeKib = 1 << 12;  ///< straight-line code
constexpr double kMostSetKib = 1 << 27;   ///< of a set that is only touched, 128 GiB
constexpr double kMostSetMib = 1 << 17;

/// The first rule that fits holds. Series without one have an x that nothing is made of, or groups of SMs, which the
/// description bounds.
constexpr std::array kRules{
    Rule{"latency", "shared", 4, kMostRow, 4},
    Rule{"latency", "load_ca", 1, kMostKib, 1},
    Rule{"latency", "load_cg_", 1, kMostSetKib, 1},
    Rule{"latency", "page_2mib", 2, kMostSetMib, 2},
    Rule{"latency", "bulk_", kAccess, kMostCopy, kAccess},
    Rule{"latency", "tile128B_", kLine, kMostCopy, kLine},
    Rule{"l2_bandwidth", "sm_footprint", 1, kMostKib, 1},
    Rule{"l2_bandwidth", "gpc_footprint", 1, kMostKib, 1},
    Rule{"l2_bandwidth", "_footprint", 1, kMostMib, 1},
    Rule{"hbm", "cold_read", 1, kMostKib, 1},
    Rule{"hbm", "random_rows", kAccess, kMostRow, kAccess},
    Rule{"hbm", "stride_32B_of", kSector, kMostRow, kSector},
    Rule{"hbm", "read_bulk_by_sms", 1, kMostCtas, 1},
    Rule{"hbm", "mix_", 0, 1, 0},
    Rule{"hbm", "", 1, kMostSetMib, 1},
    Rule{"hbm_traffic", "stride", kSector, kMostRow, kSector},
    Rule{"hbm_traffic", "write_sectors_mask", 1, 15, 1},
    Rule{"hbm_traffic", "", 1, kMostMib, 1},
    Rule{"hbm_shares", "of_every_cpc_", 1, kMostGrid, 1},
    Rule{"hbm_shares", "_end", 1, kMostGrid, 1},
    Rule{"hbm_shares", "_rate", 8, 224, 8},
    Rule{"hbm_load", "_rate", 16, 192, 16},
    Rule{"shared_memory", "_warps", 1, kMostWarps, 1},
    Rule{"shared_memory", "_by_smsp_", 1, 4, 1},
    Rule{"shared_memory", "", 1, kMostRow, 1},
    Rule{"mma_sync", "_chains", 1, kMostWarps, 1},
    Rule{"mma_sync", "", 1, kMostWarps, 1},
    Rule{"wgmma", "_drained_", 1, 64, 1},
    Rule{"wgmma", "_wait1_", 1, 64, 1},
    Rule{"wgmma", "", 8, 256, 8},
    Rule{"tma", "tile_row_", kAccess, 8192, kAccess},
    Rule{"tma", "multicast_", 1, kMostCluster, 1},
    Rule{"tma", "issue", kAccess, 16384, kAccess},
    Rule{"tma", "_one_thread_unrolled", kAccess, kMostCopy, kAccess},
    Rule{"tma", "_size_", kAccess, kMostCopy, kAccess},
    Rule{"tma", "store_", kAccess, kMostCopy, kAccess},
    Rule{"tma", "stages", 1, kMostWarps, 1},
    Rule{"tma_edges", "", 1, 4096, 1},
    Rule{"tma_beyond", "_columns_", 1, 63, 1},
    Rule{"tma_beyond", "", 0, 128, 0},
    Rule{"barrier", "cluster_", 1, kMostCluster, 1},
    Rule{"barrier", "syncthreads", kWarp, kMostThreads, kWarp},
    Rule{"barrier", "named_barrier", kWarp, kMostThreads, kWarp},
    Rule{"barrier", "", 1, kMostThreads, 1},
    Rule{"dsmem_atomics", "dsmem_", 1, kMostCluster, 1},
    Rule{"launch", "empty_", 1, kMostGrid, 1},
    Rule{"launch", "graph_", 1, kMostGrid, 1},
    Rule{"launch", "", kWarp, kMostThreads, kWarp},
    Rule{"cta_ends", "wait_apart", 1, 1024, 1},
    Rule{"cta_ends", "wait_", 1, kMostCtas, 1},
    Rule{"cta_ends", "", 1, kMostKib, 1},
    Rule{"cold_start", "one_sm_unroll", kWarp, kMostThreads, kWarp},
    Rule{"cold_start", "first_load", 1, kMostGrid, 1},
    Rule{"cold_start", "", 1, kMostKib, 1},
    Rule{"first_touch", "code_", 1, kMostCodeKib, 1},
    Rule{"first_touch", "nothing", 1, kMostGrid, 1},
    Rule{"first_touch", "", 1, kMostCtas, 1},
    Rule{"instruction_fetch", "", 1, kMostCodeKib, 1},
    Rule{"issue_slots", "", 1, 8, 1},
    Rule{"l1_rows", "", 64, 65536, 2},
};

}  // namespace

std::optional<std::string> impossible_x(const MicrobenchRow& row) {
  const auto* const rule = std::find_if(kRules.begin(), kRules.end(), [&row](const Rule& r) {
    return row.bench == r.bench && row.series.find(r.part) != std::string::npos;
  });
  if (rule == kRules.end()) {
    return std::nullopt;
  }
  // A tile has rows of whole lines; the series' unit for other copies is an access.
  const bool tile = row.bench == "tma" && row.series.find("tile") != std::string::npos && rule->part != "tile_row_" &&
                    rule->step == kAccess;
  const double step = tile ? kLine : rule->step;
  const double lowest = std::max(rule->lowest, step);
  const bool whole = step == 0 || std::fmod(row.x, step) == 0;
  if (row.x >= lowest && row.x <= rule->highest && whole) {
    return std::nullopt;
  }
  return step > 1    ? fmt::format("a multiple of {:.0f} from {:.0f} to {:.0f}", step, lowest, rule->highest)
         : step == 1 ? fmt::format("a whole number from {:.0f} to {:.0f}", lowest, rule->highest)
                     : fmt::format("{:.0f} to {:.0f}", lowest, rule->highest);
}

bool has_huge_number(const std::string& series) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::size_t kMostDigits = 7;  // paddings of hbm.cu have as many
  for (std::size_t at = series.find_first_of(kDigits); at != std::string::npos;) {
    const std::size_t end = std::min(series.find_first_not_of(kDigits, at), series.size());
    if (end - at > kMostDigits) {
      return true;
    }
    at = series.find_first_of(kDigits, end);
  }
  return false;
}

}  // namespace strata::app

// tma.cu: the copy engine.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/app/microbench/point.hpp"
#include "workloads/kernels/microbench/beyond.hpp"
#include "workloads/kernels/microbench/copies.hpp"

namespace strata::app {

namespace {

using namespace microbench;
// Clocks of the issuing thread (CopyRingConfig).
constexpr std::uint32_t kBulkClocks = 363;
constexpr std::uint32_t kTileClocks = 550;
constexpr std::uint32_t kBulkOneStage = 588;
constexpr std::uint32_t kTileOneStage = 775;
constexpr std::uint32_t kBulkUnrolled = 150;
constexpr std::uint32_t kTileUnrolled = 285;
constexpr std::uint32_t kDrainClocks = 220;
constexpr std::uint32_t kRowBytes = 128;

Mapping ring(const char* benchmark, const CopyRingConfig& c, bool interval) {
  return one_trace(
      benchmark, PointKind::kRate,
      fmt::format("ring {} {} {} {} {} {} {} {}", c.ctas, c.warps, c.stages, c.bytes, c.rows, c.store, c.thread_clocks,
                  c.drain_clocks),
      [c] { return make_copy_ring(c); },
      [c, interval](const MicrobenchRun& run) {
        const double copies = static_cast<double>(c.copies) * c.warps;
        return interval ? run.slowest_cycles() / copies : copies * c.bytes * c.ctas / run.slowest_cycles();
      });
}

/// "bulk_8192B_2stages" by warps, "tile128_size_4warps" by bytes, "tile_row_all_sms_1warps" by bytes of a row.
Mapping map_ring(std::string name, std::uint32_t x, const Placement& placement, bool interval) {
  CopyRingConfig c;
  const bool tile = starts_with(name, "tile");
  c.drain_clocks = kDrainClocks;
  const char* benchmark = tile ? "rings of tensor tiles" : "rings of bulk copies";
  if (const auto stages = number_after(name, "B_")) {
    c.warps = x;
    c.stages = *stages;
    c.bytes = number_after(name, "_").value_or(2048);
  } else if (const auto warps = number_after(name, "_size_")) {
    c.warps = *warps;
    c.stages = 4;
    c.bytes = x;
  } else if (take_prefix(name, "tile_row_")) {
    benchmark = "tensor tiles by row length";
    const bool all = take_prefix(name, "all_sms_");
    c.ctas = all ? placement.num_sms() : 1;
    c.warps = number_after(name, "").value_or(1);
    c.stages = 4;
    c.bytes = std::min(256U, 8192U / x) * x;
    c.rows = c.bytes / x;
  } else {
    return not_simulated("an unknown series");
  }
  constexpr std::uint32_t kSlots = 64;  // mbarriers of a CTA
  if (c.bytes == 0 || c.stages == 0 || c.warps == 0 || c.warps * c.stages > kSlots) {
    return not_simulated("an unknown series");
  }
  c.thread_clocks = c.stages > 1 ? (tile ? kTileClocks : kBulkClocks) : (tile ? kTileOneStage : kBulkOneStage);
  if (tile && c.rows == 0) c.rows = c.bytes / kRowBytes;
  constexpr std::uint32_t kTimedBytes = 1 << 20;
  c.copies = std::max(c.stages, kTimedBytes / c.bytes / c.warps) / c.stages * c.stages;
  return ring(benchmark, c, interval);
}

Mapping map_store(const std::string& name, std::uint32_t x, const Placement& placement, bool interval) {
  CopyRingConfig c;
  c.ctas = name == "store_all" ? placement.num_sms() : 1;
  c.stages = 4;
  c.bytes = x;
  c.store = true;
  // One store every 137 clocks with 512 bytes each: what the thread takes (store_1sm, 512 B).
  c.thread_clocks = 137;
  c.copies = std::max(4U, (1U << 20) / x);
  return ring("bulk stores", c, interval);
}

Mapping map_burst(const std::string& name, std::uint32_t bytes) {
  const bool tile = name.find("tile") != std::string::npos;
  const std::uint32_t rows = tile ? bytes / kRowBytes : 0;
  constexpr std::uint32_t kLaps = 4;
  if (starts_with(name, "issue8_to_done_")) {
    return one_trace(
        "eight copies issued in a row", PointKind::kLatency, fmt::format("burst {} {}", bytes, rows),
        [=] { return make_copy_burst(bytes, rows, kLaps); },
        [](const MicrobenchRun& run) { return run.slowest_cycles() / kLaps; });
  }
  // What the eight issues take beyond the first: bursts of eight against single copies cannot tell it apart from the
  // latency, so it is the engine's pace over many tiny copies in flight.
  CopyRingConfig c{1, 8, 2, std::min(bytes, 1024U), tile ? std::min(bytes, 1024U) / kRowBytes : 0, false, 64, 0, 0};
  return one_trace(
      "copy engine pace", PointKind::kRate, fmt::format("pace {} {}", c.bytes, c.rows),
      [c] { return make_copy_ring(c); },
      [c](const MicrobenchRun& run) { return run.slowest_cycles() / (static_cast<double>(c.copies) * c.warps); });
}

Mapping map_multicast(const std::string& where, std::uint32_t cluster) {
  MulticastConfig c;
  c.cluster = cluster;
  c.ctas = where == "all" ? 120 : cluster;
  return one_trace(
      "multicast", PointKind::kRate, fmt::format("multicast {} {}", c.cluster, c.ctas),
      [c] { return make_multicast(c); },
      [c](const MicrobenchRun& run) {
        return static_cast<double>(c.tiles) * kMulticastTileBytes / run.slowest_cycles();
      });
}

}  // namespace

Mapping map_tma(const MicrobenchRow& row, const Placement& placement) {
  std::string name = row.series;
  const auto x = static_cast<std::uint32_t>(row.x);
  if (starts_with(name, "descriptor_")) return not_simulated("first use of a descriptor: one constant of the model");
  if (take_prefix(name, "multicast_delivered_")) return map_multicast(name, x);
  if (starts_with(name, "issue")) return map_burst(name, x);
  const bool interval = take_suffix(name, "_interval");
  if (name == "bulk_one_thread_unrolled" || name == "tile128_one_thread_unrolled") {
    CopyRingConfig c;
    const bool tile = name[0] == 't';
    c.stages = 4;
    c.bytes = x;
    c.rows = tile ? x / kRowBytes : 0;
    c.thread_clocks = tile ? kTileUnrolled : kBulkUnrolled;
    return ring("rings unrolled over their stages", c, true);
  }
  if (starts_with(name, "store_")) return map_store(name, x, placement, interval);
  return map_ring(name, x, placement, interval);
}

Mapping map_tma_edges(const MicrobenchRow& row) {
  const bool delivered = row.metric == "l1tex__m_xbar2l1tex_read_sectors.sum";
  if (!delivered && row.metric != "lts__t_sectors_srcunit_tex.sum") {
    return not_simulated("a counter that is not compared here");
  }
  const auto number = [&row](const char* head) { return number_after(row.series, head).value_or(0); };
  EdgeBoxesConfig c{number("width"),
                    number("_pitch"),
                    number("_height"),
                    number("_rows"),
                    number("_x"),
                    number("_y"),
                    static_cast<std::uint32_t>(row.x),
                    number("_cluster")};
  constexpr std::uint32_t kMostRows = 256;  // of a box
  if (c.pitch == 0 || c.height == 0 || c.rows == 0 || c.rows > kMostRows || c.cluster == 0)
    return not_simulated("an unknown series");
  return one_trace(
      delivered ? "sectors that boxes bring" : "sectors of boxes that reach the L2", PointKind::kTraffic, row.series,
      [c] { return make_edge_boxes(c); },
      [delivered](const MicrobenchRun& run) {
        return static_cast<double>(
            run.result.counters[delivered ? Counter::kDeliveredSectors : Counter::kLtsFromSmSectors]);
      });
}

Mapping map_tma_beyond(const MicrobenchRow& row, const Placement& placement) {
  std::string name = row.series;
  BeyondConfig c;
  if (take_prefix(name, "multicast_")) {
    c.cluster = 2;
  } else if (!take_prefix(name, "plain_")) {
    return not_simulated("an unknown series");
  }
  const auto x = static_cast<std::uint32_t>(row.x);
  if (take_prefix(name, "columns_")) {
    c.columns = x;
  } else {
    c.inside = x;
    c.own = take_prefix(name, "own_");
    if (!take_prefix(name, "rows_")) return not_simulated("an unknown series");
    if (take_prefix(name, "of_64_")) c.rows = 64;
  }
  if (c.cluster > 1 && name != "all") return not_simulated("pairs of some SMs: which CTAs land on them");
  SmList gpc = placement.gpcs().front();
  for (const SmList& g : placement.gpcs()) {
    if (g.size() > gpc.size()) gpc = g;
  }
  SmList sms;
  if (name == "all") {
    for (std::uint32_t sm = 0; sm < placement.num_sms(); ++sm) sms.push_back(sm);
  } else if (name == "gpc") {
    sms = gpc;
  } else if (name == "tpc") {
    sms.assign(gpc.begin(), gpc.begin() + 2);
  } else if (name == "cpc") {
    constexpr std::size_t kCpcs = 3;  // the TPCs of a GPC belong to its CPCs in turn
    for (std::size_t i = 0; i < gpc.size(); ++i) {
      if (i / 2 % kCpcs == 0) sms.push_back(gpc[i]);
    }
  } else {
    return not_simulated("an unknown group");
  }
  c.group = placement.group(sms);
  if (c.cluster > 1) std::iota(c.group.rank.begin(), c.group.rank.end(), 0);  // pairs are neighbours by CTA
  return one_trace(
      "boxes beyond their tensor by many SMs", PointKind::kRate, "beyond " + row.series + fmt::format(" {}", x),
      [c] { return make_beyond(c); }, [](const MicrobenchRun& run) { return run.slowest_cycles() / kBeyondBoxes; });
}

}  // namespace strata::app

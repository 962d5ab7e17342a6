#include "sim/app/microbench/point.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "sim/app/microbench/row_limits.hpp"
#include "sim/base/error.hpp"

namespace strata::app {

namespace {

/// Series whose x is an index or a share; that of all others is a size or a count.
bool x_may_be_below_one(const MicrobenchRow& row) {
  return row.bench == "l2_partition" || row.bench == "l2_fabric" || row.bench == "topology" ||
         row.bench == "l2_slices" || row.bench == "hbm_shares" || row.bench == "tma_beyond" ||
         row.bench == "hbm_load" || row.series.find("_each_gpc") != std::string::npos ||
         row.series.find("_per_sm") != std::string::npos || starts_with(row.series, "mix_");
}

}  // namespace

Mapping not_simulated(std::string reason) { return Mapping{std::nullopt, std::move(reason)}; }

Mapping one_trace(std::string benchmark, PointKind kind, std::string key,
                  std::function<std::unique_ptr<TraceSource>()> make,
                  std::function<double(const MicrobenchRun&)> value) {
  MicrobenchPoint p;
  p.benchmark = std::move(benchmark);
  p.kind = kind;
  p.traces.push_back(PointTrace{std::move(key), std::move(make)});
  p.value = [value = std::move(value)](std::span<const MicrobenchRun* const> runs) { return value(*runs.front()); };
  return Mapping{std::move(p), {}};
}

Mapping map_point(const MicrobenchRow& row, const Placement& placement) {
  if (has_huge_number(row.series)) return not_simulated("an unknown series");
  if (const auto expected = impossible_x(row)) {
    throw InputError(
        Diagnostic{row.file, row.line, 0, "x", fmt::format("{:.10g}: {} expects {}", row.x, row.series, *expected)});
  }
  if (row.x_unit == "SM" && !(row.x >= 1 && row.x <= placement.num_sms() && row.x == std::floor(row.x))) {
    throw InputError(Diagnostic{row.file, row.line, 0, "x",
                                fmt::format("{:.10g}: {} expects a whole number of SMs, from 1 to the {} of the "
                                            "described GPU",
                                            row.x, row.series, placement.num_sms())});
  }
  if (row.x < 1 && !x_may_be_below_one(row)) return not_simulated("its x is below one");
  if (row.bench == "latency") return map_latency(row);
  if (row.bench == "l2_bandwidth") return map_l2_bandwidth(row, placement);
  if (row.bench == "l2_fabric") return map_l2_fabric(row, placement);
  if (row.bench == "l2_partition") return map_l2_partition(row, placement);
  if (row.bench == "lrc" || row.bench == "lrc_cold") return map_lrc(row, placement);
  if (row.bench == "hbm") return map_hbm(row, placement);
  if (row.bench == "hbm_traffic") return map_hbm_traffic(row, placement);
  if (row.bench == "hbm_shares") return map_hbm_shares(row, placement);
  if (row.bench == "hbm_load") return map_hbm_load(row, placement);
  if (row.bench == "l2_slices") return not_simulated("single lines: the floor plan is not modelled");
  if (row.bench == "shared_memory") return map_shared_memory(row);
  if (row.bench == "alu") return map_alu(row);
  if (row.bench == "mma_sync") return map_mma_sync(row);
  if (row.bench == "wgmma") return map_wgmma(row);
  if (row.bench == "tma") return map_tma(row, placement);
  if (row.bench == "tma_edges") return map_tma_edges(row);
  if (row.bench == "tma_beyond") return map_tma_beyond(row, placement);
  if (row.bench == "barrier") return map_barrier(row, placement);
  if (row.bench == "dsmem_atomics" || row.bench == "topology") return map_clusters(row);
  if (row.bench == "launch") return map_launch(row, placement);
  if (row.bench == "cta_ends") return map_cta_ends(row, placement);
  if (row.bench == "cold_start") return map_cold_start(row, placement);
  if (row.bench == "first_touch") return map_first_touch(row, placement);
  if (row.bench == "instruction_fetch") return map_instruction_fetch(row, placement);
  if (row.bench == "issue_slots") return map_issue_slots(row);
  if (row.bench == "l1_rows") return map_l1_rows(row, placement);
  if (row.bench == "first_touch_warm") return not_simulated("launches with warm caches: the model starts cold");
  if (row.bench == "wgmma_overlap") {
    return not_simulated("other warps beside wgmma: the model lets them issue freely (docs/model/tensor.md)");
  }
  return not_simulated("no trace for this program");
}

bool starts_with(std::string_view text, std::string_view head) { return text.substr(0, head.size()) == head; }

bool take_suffix(std::string& text, std::string_view tail) {
  if (text.size() < tail.size() || std::string_view(text).substr(text.size() - tail.size()) != tail) {
    return false;
  }
  text.resize(text.size() - tail.size());
  return true;
}

bool take_prefix(std::string& text, std::string_view head) {
  if (!starts_with(text, head)) {
    return false;
  }
  text.erase(0, head.size());
  return true;
}

std::optional<std::uint32_t> number_after(std::string_view text, std::string_view head) {
  const std::size_t at = text.find(head);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(at + head.size());
  std::uint32_t value = 0;
  const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return status == std::errc{} ? std::optional(value) : std::nullopt;
}

}  // namespace strata::app

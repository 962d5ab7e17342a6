/// What a measured point is in the simulator: the trace to run and how to read the program's number off the run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/app/microbench/placement.hpp"
#include "sim/app/microbench/run.hpp"
#include "validation/compare/microbench_comparison.hpp"
#include "validation/compare/microbench_table.hpp"

namespace strata::app {

/// One trace of a point. Equal keys mean equal simulations, which are run once.
struct PointTrace {
  std::string key;
  std::function<std::unique_ptr<TraceSource>()> make;
};

struct MicrobenchPoint {
  std::string benchmark;  ///< title of the microbenchmark
  PointKind kind = PointKind::kRate;
  std::vector<PointTrace> traces;
  std::function<double(std::span<const MicrobenchRun* const>)> value;
};

/// A point, or why there is none.
struct Mapping {
  std::optional<MicrobenchPoint> point;
  std::string reason;
};
[[nodiscard]] Mapping not_simulated(std::string reason);
/// A point of one trace. The key is made of the row's program and `key`.
[[nodiscard]] Mapping one_trace(std::string benchmark, PointKind kind, std::string key,
                                std::function<std::unique_ptr<TraceSource>()> make,
                                std::function<double(const MicrobenchRun&)> value);

/// The point that a measured row stands for. Throws InputError that names the row where its x makes no sense.
[[nodiscard]] Mapping map_point(const MicrobenchRow& row, const Placement& placement);

// By program; the row's own program.
[[nodiscard]] Mapping map_latency(const MicrobenchRow& row);
[[nodiscard]] Mapping map_l2_bandwidth(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_l2_fabric(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_l2_partition(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_lrc(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_hbm(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_hbm_traffic(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_hbm_shares(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_hbm_load(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_shared_memory(const MicrobenchRow& row);
[[nodiscard]] Mapping map_alu(const MicrobenchRow& row);
[[nodiscard]] Mapping map_mma_sync(const MicrobenchRow& row);
[[nodiscard]] Mapping map_wgmma(const MicrobenchRow& row);
[[nodiscard]] Mapping map_tma(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_tma_edges(const MicrobenchRow& row);
[[nodiscard]] Mapping map_tma_beyond(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_barrier(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_clusters(const MicrobenchRow& row);
[[nodiscard]] Mapping map_cta_ends(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_launch(const MicrobenchRow& row, const Placement& placement);

[[nodiscard]] Mapping map_instruction_fetch(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_issue_slots(const MicrobenchRow& row);
[[nodiscard]] Mapping map_l1_rows(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_cold_start(const MicrobenchRow& row, const Placement& placement);
[[nodiscard]] Mapping map_first_touch(const MicrobenchRow& row, const Placement& placement);

// Reading names.
[[nodiscard]] bool starts_with(std::string_view text, std::string_view head);
/// Takes `tail` off the end; false when the text does not end in it.
bool take_suffix(std::string& text, std::string_view tail);
/// Takes `head` off the front; false when the text does not begin with it.
bool take_prefix(std::string& text, std::string_view head);
/// The whole number that follows `head` in the text, or nothing.
[[nodiscard]] std::optional<std::uint32_t> number_after(std::string_view text, std::string_view head);

}  // namespace strata::app

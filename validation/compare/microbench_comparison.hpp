/// Microbenchmarks measured and simulated, point by point, and the scores of each microbenchmark.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "validation/compare/microbench_table.hpp"

namespace strata {

/// What a point says; latencies and steady rates have an aim of 5 %.
enum class PointKind : std::uint8_t { kLatency, kRate, kCold, kTraffic };
[[nodiscard]] const char* to_string(PointKind kind);

struct MicrobenchPointResult {
  MicrobenchRow row;
  PointKind kind = PointKind::kRate;
  double simulated = 0;
  [[nodiscard]] double error() const { return row.value == 0 ? 0 : (simulated - row.value) / row.value; }
};

/// All points of one microbenchmark.
struct MicrobenchGroup {
  std::string name;
  std::vector<MicrobenchPointResult> points;
  std::string known_gap;  ///< why it misses its aim, in words; empty when no cause is known or when it meets it
  [[nodiscard]] double mean_abs_error() const;
  [[nodiscard]] double bias() const;  ///< mean signed error
  /// The point that is farthest off.
  [[nodiscard]] const MicrobenchPointResult& worst() const;
  [[nodiscard]] bool meets_aim() const;
};
inline constexpr double kMicrobenchAim = 0.05;
inline constexpr const char* kNoCauseKnown = "no cause known (docs/model/microbenchmarks.md)";

struct MicrobenchComparison {
  std::string gpu;
  std::string product;
  std::vector<std::string> runs;
  std::vector<MicrobenchGroup> groups;
  std::map<std::string, std::size_t> not_simulated;  ///< measured rows without a trace, by reason

  [[nodiscard]] std::size_t num_points() const;
  /// Mean absolute error over the points of a kind; nothing when there are none.
  [[nodiscard]] std::optional<double> mean_abs_error(PointKind kind) const;
};

/// One table of microbenchmarks with sparklines, the exceptions with their causes, what was not simulated.
[[nodiscard]] std::string microbench_text(const MicrobenchComparison& comparison);
/// One aligned line per point: measured, simulated, error.
[[nodiscard]] std::string microbench_points_text(const MicrobenchComparison& comparison);
/// Schema "strata.microbench/1".
[[nodiscard]] std::string microbench_json(const MicrobenchComparison& comparison);
/// A self-contained page: the tables, and measured and simulated curves of every microbenchmark (inline SVG).
[[nodiscard]] std::string microbench_html(const MicrobenchComparison& comparison);

/// Points of one curve, in order of x: equal series and unit.
using MicrobenchCurve = std::vector<const MicrobenchPointResult*>;
[[nodiscard]] std::vector<MicrobenchCurve> curves_of(const MicrobenchGroup& group);

}  // namespace strata

#include <nlohmann/json.hpp>

#include "validation/compare/microbench_comparison.hpp"

namespace strata {

namespace {

using Json = nlohmann::ordered_json;

Json point_json(const MicrobenchPointResult& p) {
  Json out;
  out["bench"] = p.row.bench;
  out["series"] = p.row.series;
  out["x"] = p.row.x;
  out["x_unit"] = p.row.x_unit;
  if (!p.row.metric.empty()) {
    out["metric"] = p.row.metric;
  }
  out["unit"] = p.row.unit;
  out["kind"] = to_string(p.kind);
  out["measured"] = p.row.value;
  out["measured_low"] = p.row.low;
  out["measured_high"] = p.row.high;
  out["runs"] = p.row.runs;
  out["simulated"] = p.simulated;
  out["error"] = p.error();
  return out;
}

}  // namespace

std::string microbench_json(const MicrobenchComparison& c) {
  Json out;
  out["schema"] = "strata.microbench/1";
  out["gpu"] = c.gpu;
  out["product"] = c.product;
  out["runs"] = c.runs;
  out["points"] = c.num_points();
  for (const PointKind kind : {PointKind::kLatency, PointKind::kRate, PointKind::kCold, PointKind::kTraffic}) {
    if (const auto error = c.mean_abs_error(kind)) {
      out["mean_abs_error"][to_string(kind)] = *error;
    }
  }
  out["microbenchmarks"] = Json::array();
  for (const MicrobenchGroup& g : c.groups) {
    Json group;
    group["name"] = g.name;
    group["mean_abs_error"] = g.mean_abs_error();
    group["bias"] = g.bias();
    group["meets_aim"] = g.meets_aim();
    if (!g.meets_aim()) {
      group["cause"] = g.known_gap;
    }
    group["points"] = Json::array();
    for (const MicrobenchPointResult& p : g.points) {
      group["points"].push_back(point_json(p));
    }
    out["microbenchmarks"].push_back(std::move(group));
  }
  out["not_simulated"] = Json::object();
  for (const auto& [reason, rows] : c.not_simulated) {
    out["not_simulated"][reason] = rows;
  }
  return out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace strata

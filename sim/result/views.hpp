/// The lists that every writer shows: metrics by Nsight Compute's names, and bytes at every level.
#pragma once

#include <string>
#include <vector>

#include "sim/result/result.hpp"

namespace strata {

struct MetricValue {
  std::string name;  ///< Nsight Compute's name
  std::string unit;
  std::string sentence;
  double value = 0;
  bool whole = false;  ///< an event count: written without decimals
};

/// Metrics that have a name in Nsight Compute, in a fixed order.
[[nodiscard]] std::vector<MetricValue> ncu_metrics(const Result& result);

/// The same without values, for `strata list metrics`.
[[nodiscard]] std::vector<MetricValue> metric_list();

struct TrafficRow {
  std::string level;       ///< "shared_memory", "l1", "crossbar", "l2", "fabric", "hbm": nearest to the SM first
  std::string title;       ///< for people
  double read_bytes = 0;   ///< towards the SM
  double write_bytes = 0;  ///< away from the SM
  std::string read_means;
  std::string write_means;
};

/// Bytes that cross each level. A level that moves in one direction only has an empty meaning for the other.
[[nodiscard]] std::vector<TrafficRow> traffic(const Result& result);

/// Achieved rates; 0 when the duration is 0.
[[nodiscard]] double gb_per_s(double bytes, double duration_us);
[[nodiscard]] double tensor_tflops(const Result& result);
[[nodiscard]] double fp32_tflops(const Result& result);

}  // namespace strata

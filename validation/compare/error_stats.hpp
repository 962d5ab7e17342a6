/// Statistics of signed relative errors.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace strata {

/// Errors are (simulated − measured) / measured; all numbers here are shares, not per cent.
struct ErrorStats {
  std::size_t n = 0;
  double mean_abs = 0;
  double median_abs = 0;
  double p90_abs = 0;  ///< smallest value that at least 90 % of the absolute errors do not exceed
  double max_abs = 0;
  double bias = 0;  ///< mean of the signed errors
};

[[nodiscard]] ErrorStats error_stats(std::span<const double> signed_errors);

/// A share in per cent with its sign, "+4.3"; what rounds to nothing has none: "0.0".
[[nodiscard]] std::string signed_percent(double share, int digits);

}  // namespace strata

#include "validation/compare/error_stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace strata {

ErrorStats error_stats(std::span<const double> signed_errors) {
  ErrorStats out;
  out.n = signed_errors.size();
  if (out.n == 0) {
    return out;
  }
  std::vector<double> magnitude;
  magnitude.reserve(out.n);
  double sum = 0;
  double sum_abs = 0;
  for (const double e : signed_errors) {
    sum += e;
    sum_abs += std::abs(e);
    magnitude.push_back(std::abs(e));
  }
  std::sort(magnitude.begin(), magnitude.end());
  const auto count = static_cast<double>(out.n);
  out.mean_abs = sum_abs / count;
  out.bias = sum / count;
  out.max_abs = magnitude.back();
  out.median_abs = (magnitude[(out.n - 1) / 2] + magnitude[out.n / 2]) / 2;
  out.p90_abs = magnitude[(out.n * 9 + 9) / 10 - 1];
  return out;
}

std::string signed_percent(double share, int digits) {
  constexpr double kPercent = 100;
  const std::string size = fmt::format("{:.{}f}", kPercent * std::abs(share), digits);
  const bool nothing = size.find_first_not_of("0.") == std::string::npos;
  return (nothing ? "" : (share < 0 ? "-" : "+")) + size;
}

}  // namespace strata

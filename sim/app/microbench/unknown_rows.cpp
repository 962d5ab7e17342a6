#include "sim/app/microbench/unknown_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/app/warning.hpp"

namespace strata::app {

void warn_of_unknown_series(const MicrobenchData& data) {
  for (const Diagnostic& problem : data.odd) {
    warn(to_string(problem));
  }
  constexpr std::size_t kShown = 20;
  const std::size_t shown = std::min(kShown, data.unknown.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const UnknownSeries& u = data.unknown[i];
    warn(fmt::format("{}: {} row{} left out", to_string(u.problem), u.rows, u.rows == 1 ? "" : "s"));
  }
  if (data.unknown.size() > shown) {
    warn(fmt::format("{} more unknown series are left out", data.unknown.size() - shown));
  }
}

}  // namespace strata::app

// Causes of microbenchmarks that miss their aim. Each was found by looking at what the hardware does that the model
// does not; docs/model has the page of the unit.
#include <algorithm>
#include <array>
#include <string_view>

#include "sim/app/microbench/compare.hpp"

namespace strata::app {

namespace {

struct Gap {
  std::string_view benchmark;
  std::string_view cause;
};

constexpr std::array<Gap, 1> kGaps{{
    {"", ""},
}};

}  // namespace

std::string known_gap(const std::string& benchmark) {
  const auto* at = std::find_if(kGaps.begin(), kGaps.end(), [&](const Gap& g) { return g.benchmark == benchmark; });
  return at == kGaps.end() ? std::string() : std::string(at->cause);
}

}  // namespace strata::app

/// The units in which each program of validation/microbench measures, and what a number in one can be.
#pragma once

#include <optional>
#include <string>

#include "validation/compare/microbench_table.hpp"

namespace strata {

/// What was expected where the row's program does not print numbers of its series in its unit, or its counter is not
/// counted in it; nothing where they are, or are not known.
[[nodiscard]] std::optional<std::string> unexpected_unit(const MicrobenchRow& row);

/// What is wrong with the name of a counter that run_counters.sh does not read; nothing for those that it does, and for
/// none.
[[nodiscard]] std::optional<std::string> unknown_metric(const std::string& metric);

/// The largest number of a unit that a GPU could have given: far above any measured, far below what overflows.
[[nodiscard]] double most_of_unit(const std::string& unit);

}  // namespace strata

/// Which x a row of a microbenchmark can have: sizes that hold whole accesses and that a simulation ends on.
#pragma once

#include <optional>
#include <string>

#include "validation/compare/microbench_table.hpp"

namespace strata::app {

/// What was expected where the row's x makes no sense for its series; nothing where it does, and for series whose x
/// nothing is made of.
[[nodiscard]] std::optional<std::string> impossible_x(const MicrobenchRow& row);

/// Whether the series' name holds a number beyond any size or count that the programs print.
[[nodiscard]] bool has_huge_number(const std::string& series);

}  // namespace strata::app

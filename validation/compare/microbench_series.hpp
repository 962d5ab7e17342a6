/// Which series each program of validation/microbench prints, and over what.
#pragma once

#include <optional>
#include <string>

#include "validation/compare/microbench_table.hpp"

namespace strata {

/// What is wrong with the row's program, series or unit of x, with the nearest name that the program prints: the key
/// is the CSV's column. Nothing where the row is one that a program prints.
[[nodiscard]] std::optional<Diagnostic> unknown_series(const MicrobenchRow& row);

/// Whether a program of validation/microbench has this name, that of its counters included.
[[nodiscard]] bool known_program(const std::string& bench);

}  // namespace strata

/// Results as CSV: one row per launch, a header with Nsight Compute's metric names.
#pragma once

#include <string>
#include <string_view>

#include "sim/result/result.hpp"

namespace strata {

/// The cell, quoted when it holds a comma, a quote or a line break.
[[nodiscard]] std::string csv_cell(std::string_view text);
/// Column names with a newline.
[[nodiscard]] std::string csv_header();
/// One row with a newline, in the order of csv_header().
[[nodiscard]] std::string csv_row(const Result& result);

}  // namespace strata

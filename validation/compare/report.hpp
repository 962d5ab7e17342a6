/// Views of a Comparison.
#pragma once

#include <string>

#include "validation/compare/comparison.hpp"

namespace strata {

/// Aligned tables: per split a table for every group with all quantities, then cycles, durations and HBM at a glance.
/// @param glance_only  these last tables only
[[nodiscard]] std::string comparison_text(const Comparison& comparison, bool glance_only = false);
/// One aligned line per measured row: values and errors of cycles, duration and HBM traffic.
[[nodiscard]] std::string comparison_rows_text(const Comparison& comparison);
/// Everything: every group's statistics, every row's values. Schema "strata.validation/1".
[[nodiscard]] std::string comparison_json(const Comparison& comparison);
/// A self-contained page: the tables and a scatter plot of simulated over measured cycles (inline SVG).
[[nodiscard]] std::string comparison_html(const Comparison& comparison);

}  // namespace strata

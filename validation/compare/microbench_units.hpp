/// The units in which each program of validation/microbench measures, and what a number in one can be.
#pragma once

#include <optional>
#include <string>

namespace strata {

/// What was expected where `bench` does not print numbers in `unit`; nothing where it does or is not known.
[[nodiscard]] std::optional<std::string> unexpected_unit(const std::string& bench, const std::string& unit);

/// The largest number of a unit that a GPU could have given: far above any measured, far below what overflows.
[[nodiscard]] double most_of_unit(const std::string& unit);

}  // namespace strata

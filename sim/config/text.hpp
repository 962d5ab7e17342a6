/// Spelling help for error messages: edit distance, the nearest valid name, and one case for names of any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// ASCII letters in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`. Cost: O(|a| |b|).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate closest to `name`, the first of equals; empty when there are no candidates.
[[nodiscard]] std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// "; did you mean 'X'?", or nothing when no candidate resembles `name`, in whatever case it is written.
[[nodiscard]] std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace strata

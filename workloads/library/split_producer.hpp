/// The launch that left the parts which another adds up.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "workloads/library/resolve.hpp"

namespace strata {

/// Tells a launch that adds up parts (uses_producer()) which one left them: `previous`, where it is the launch before
/// it in the same case and of the same operator, type and shape.
void link_producer(const LaunchRow& previous, LaunchRow& row);

/// Tells a launch that `next`, to which link_producer() has told it, adds up its slices of K.
void link_sum(LaunchRow& row, const LaunchRow& next);

/// Into how many parts the launch before `row` left its result, as its own family reads its name and grid. Throws
/// UnsupportedError that says what to record where no such launch precedes, where it is refused, of none of the
/// `families`, or leaves no parts, and where its name does not hold `word`.
[[nodiscard]] std::uint32_t parts_of_producer(const LaunchRow& row, const TargetFacts& target,
                                              std::initializer_list<std::string_view> families,
                                              std::string_view word = {});

}  // namespace strata

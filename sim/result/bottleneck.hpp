/// Which unit limits a kernel, decided from busy shares and the cycle stack.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "sim/result/result.hpp"

namespace strata {

/// Busy share of each unit by the name of its bottleneck; latency and launch have none.
[[nodiscard]] std::array<std::pair<Bottleneck, double>, 10> unit_shares(const Utilization& u);

/// Busy share of one unit; the cycle stack's share for latency and launch.
[[nodiscard]] double share_of(const Result& result, Bottleneck b);

/// Sets result.bottleneck and result.bottleneck_reason.
///
/// 1. the busiest unit, when it is busy for at least 60 % of the kernel; units within a few points of each other are
///    told apart by what the SMs wait for;
/// 2. launch, when more than half of the cycles pass before the first and after the last instruction;
/// 3. the busiest unit, when it is busy for at least 60 % of what launch leaves;
/// 4. else the largest reason of the cycle stack: the kernel waits, no unit is full.
void decide_bottleneck(Result& result);

}  // namespace strata

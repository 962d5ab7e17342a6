#include "sim/result/bottleneck.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata {

namespace {

constexpr double kLaunchShare = 0.5;
constexpr double kBusyShare = 0.6;
constexpr double kStackWeight = 0.1;  // what SMs wait for decides between units that are equally busy

Bottleneck of(StackReason reason) {
  switch (reason) {
    case StackReason::kLaunch:
      return Bottleneck::kLaunch;
    case StackReason::kTensor:
      return Bottleneck::kTensor;
    case StackReason::kIssue:
      return Bottleneck::kIssue;
    case StackReason::kFp32:
      return Bottleneck::kFp32;
    case StackReason::kMufu:
      return Bottleneck::kMufu;
    case StackReason::kSharedMemory:
      return Bottleneck::kSharedMemory;
    case StackReason::kL1:
      return Bottleneck::kL1;
    case StackReason::kCrossbar:
      return Bottleneck::kCrossbar;
    case StackReason::kL2:
      return Bottleneck::kL2;
    case StackReason::kFabric:
      return Bottleneck::kFabric;
    case StackReason::kHbm:
      return Bottleneck::kHbm;
    case StackReason::kBarrier:
    case StackReason::kLatency:
    case StackReason::kDrain:
    case StackReason::kIdle:
    case StackReason::kCount:
      break;
  }
  return Bottleneck::kLatency;
}

/// Share of the cycle stack of each bottleneck.
std::array<double, static_cast<std::size_t>(Bottleneck::kCount)> stack_shares(const Result& r) {
  std::array<double, static_cast<std::size_t>(Bottleneck::kCount)> shares{};
  double total = 0;
  for (std::size_t i = 0; i < kNumStackReasons; ++i) {
    shares[static_cast<std::size_t>(of(static_cast<StackReason>(i)))] += r.cycle_stack[i];
    total += r.cycle_stack[i];
  }
  for (double& share : shares) {
    share = total > 0 ? share / total : 0;
  }
  return shares;
}

const char* words(Bottleneck b) {
  switch (b) {
    case Bottleneck::kTensor:
      return "tensor cores";
    case Bottleneck::kIssue:
      return "issue ports";
    case Bottleneck::kFp32:
      return "FMA pipes";
    case Bottleneck::kMufu:
      return "special-function pipes";
    case Bottleneck::kSharedMemory:
      return "shared-memory ports";
    case Bottleneck::kL1:
      return "L1 and load/store units";
    case Bottleneck::kCrossbar:
      return "crossbar ports";
    case Bottleneck::kL2:
      return "L2 slices";
    case Bottleneck::kFabric:
      return "fabric between the L2 partitions";
    case Bottleneck::kHbm:
      return "HBM channels";
    case Bottleneck::kLatency:
    case Bottleneck::kLaunch:
    case Bottleneck::kCount:
      break;
  }
  return "";
}

}  // namespace

std::array<std::pair<Bottleneck, double>, 10> unit_shares(const Utilization& u) {
  return {{{Bottleneck::kTensor, u.tensor},
           {Bottleneck::kIssue, u.issue},
           {Bottleneck::kFp32, u.fp32},
           {Bottleneck::kMufu, u.mufu},
           {Bottleneck::kSharedMemory, u.shared_memory},
           {Bottleneck::kL1, u.l1},
           {Bottleneck::kCrossbar, u.crossbar},
           {Bottleneck::kL2, u.l2},
           {Bottleneck::kFabric, u.fabric},
           {Bottleneck::kHbm, u.hbm}}};
}

double share_of(const Result& result, Bottleneck b) {
  for (const auto& [unit, share] : unit_shares(result.utilization)) {
    if (unit == b) {
      return share;
    }
  }
  return stack_shares(result)[static_cast<std::size_t>(b)];
}

void decide_bottleneck(Result& result) {
  const auto stack = stack_shares(result);
  const double launch = stack[static_cast<std::size_t>(Bottleneck::kLaunch)];
  Bottleneck busiest = Bottleneck::kLatency;
  double best_score = 0;
  double best_share = 0;
  for (const auto& [unit, share] : unit_shares(result.utilization)) {
    const double score = share + kStackWeight * stack[static_cast<std::size_t>(unit)];
    if (score > best_score) {
      best_score = score;
      best_share = share;
      busiest = unit;
    }
  }
  // A unit that is busy enough by itself is the answer, whatever SMs without work of their own waited for meanwhile.
  const bool busy_alone = best_share >= kBusyShare;
  if (!busy_alone && launch > kLaunchShare) {
    result.bottleneck = Bottleneck::kLaunch;
    result.bottleneck_reason =
        fmt::format("{:.0f} % of the cycles pass before the first and after the last instruction", 100 * launch);
    return;
  }
  if (busy_alone || best_share >= kBusyShare * (1 - launch)) {
    result.bottleneck = busiest;
    result.bottleneck_reason = fmt::format("{} busy {:.0f} % of the kernel", words(busiest), 100 * best_share);
    return;
  }

  const auto largest = std::max_element(stack.begin(), stack.end());
  result.bottleneck = *largest > 0 ? static_cast<Bottleneck>(largest - stack.begin()) : Bottleneck::kLatency;
  switch (result.bottleneck) {
    case Bottleneck::kLatency:
      result.bottleneck_reason = fmt::format(
          "{:.0f} % of the cycles are dependent-instruction latency, barriers, drains or idle SMs; no unit is busy "
          "over {:.0f} %",
          100 * *largest, 100 * best_share);
      break;
    case Bottleneck::kLaunch:
      result.bottleneck_reason = fmt::format(
          "{:.0f} % of the cycles pass before the first and after the last instruction, more than any other reason",
          100 * *largest);
      break;
    default:
      result.bottleneck_reason =
          fmt::format("SMs spend {:.0f} % of the cycles on the {}, themselves {:.0f} % busy", 100 * *largest,
                      words(result.bottleneck), 100 * share_of(result, result.bottleneck));
  }
}

}  // namespace strata

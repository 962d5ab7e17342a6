#include "models/hw/system/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace strata {

namespace {

/// A launch is shortened only where that spares at least this share of its pieces.
constexpr double kWorthwhile = 0.3;
constexpr std::uint64_t kMeasuredRounds = 2;
/// Steps of a loop are short beside how far loops run apart, so more of them pass before and during the measurement.
constexpr std::uint64_t kWarmSteps = 8;
constexpr std::uint64_t kMeasuredSteps = 24;
/// Bytes that pass before and during the measurement, in sizes of the L2: dirty lines leave it only when it is full.
constexpr double kWarmFills = 1.5;
constexpr double kMeasuredFills = 0.75;

constexpr std::array kByTrace{Counter::kWarpInsts,      Counter::kTensorInsts,         Counter::kGlobalRequests,
                              Counter::kSharedRequests, Counter::kSmemWavefronts,      Counter::kBankConflicts,
                              Counter::kStoredSectors,  Counter::kL1GlobalLoadSectors, Counter::kTmaBytes,
                              Counter::kSmemFillBytes,  Counter::kDeliveredSectors};

constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t to) { return (n + to - 1) / to * to; }

/// The first multiple of `period` from `least` on that is nearly a whole number of rounds: pieces end in step, and a
/// window of two and a half rounds would see two bursts or three.
std::uint64_t window_of(std::uint64_t least, std::uint64_t round, std::uint64_t period) {
  constexpr std::uint64_t kNear = 32;   // a round's part that the window may be off
  constexpr std::uint64_t kRounds = 4;  // to look at
  const std::uint64_t start = round_up(least, period);
  std::uint64_t best = start;
  std::uint64_t best_off = round;
  for (std::uint64_t n = start; n <= least + kRounds * std::max(round, period); n += period) {
    const std::uint64_t off = std::min(n % round, round - n % round);
    if (off < best_off) {
      best = n;
      best_off = off;
    }
    if (off <= round / kNear) {
      break;
    }
  }
  return best;
}

std::array<double*, 10> shares_of(Utilization& u) {
  return {&u.tensor, &u.issue, &u.fp32, &u.mufu, &u.shared_memory, &u.l1, &u.crossbar, &u.l2, &u.fabric, &u.hbm};
}

}  // namespace

std::optional<SamplingPlan> plan_sampling(const GpuConfig& gpu, const TraceSource& source) {
  const Repetition r = source.repetition();
  const Launch& launch = source.launch();
  if (r.pieces == 0) {
    return std::nullopt;
  }
  const std::uint64_t resident = std::uint64_t{occupancy(gpu, launch).ctas} * static_cast<std::uint64_t>(gpu.num_sms());
  const std::uint64_t round = r.at_once > 0 ? r.at_once : std::min(resident, r.pieces);
  const double bytes = launch.work.compulsory_read_bytes + launch.work.compulsory_write_bytes;
  const double fill =
      bytes > 0 ? static_cast<double>(gpu.l2.size_bytes) / bytes * static_cast<double>(r.pieces) : 0;  // in pieces
  const auto warm =
      std::max(r.is_all ? round + round / 2 : kWarmSteps * round, static_cast<std::uint64_t>(kWarmFills * fill));
  SamplingPlan plan;
  plan.pieces = r.pieces;
  plan.window = window_of(std::max((r.is_all ? kMeasuredRounds : kMeasuredSteps) * round,
                                   static_cast<std::uint64_t>(kMeasuredFills * fill)),
                          round, r.period);
  plan.first = round_up(warm + plan.window, round);
  std::uint64_t kept = plan.first + round + round / 2;
  if (!r.is_all && r.step > round) {
    // Loops that wait for their turn have the same gap, and the first must still be at work when the measurement ends.
    kept = std::max(kept, (plan.first + round) * r.step / round);
  }
  if (r.pieces <= kept) {
    return std::nullopt;
  }
  plan.count = (r.pieces - kept) / r.step * r.step;
  if (static_cast<double>(plan.count) < kWorthwhile * static_cast<double>(r.pieces)) {
    return std::nullopt;
  }
  plan.pieces_are_all = r.is_all;
  const std::uint64_t marks = std::max(1U, r.marks);
  // In the middle of a round's burst of ends, where a few more or fewer matter least.
  plan.mark_end = (plan.first - round / 2) * marks;
  plan.mark_begin = plan.mark_end - plan.window * marks;
  return plan;
}

Result extrapolate(const Result& shortened, const Result& begin, const Result& end, const SamplingPlan& plan) {
  Result r = shortened;
  const double rounds = static_cast<double>(plan.count) / static_cast<double>(plan.window);
  const double pieces = static_cast<double>(plan.count) / static_cast<double>(plan.pieces - plan.count);
  const auto grown = [rounds](double whole, double from, double to) { return whole + rounds * (to - from); };
  r.sm_cycles = grown(r.sm_cycles, begin.sm_cycles, end.sm_cycles);
  r.duration_us = grown(r.duration_us, begin.duration_us, end.duration_us);
  r.sm_active_cycles_avg += r.sm_cycles - shortened.sm_cycles;
  for (std::size_t i = 0; i < kNumStackReasons; ++i) {
    r.cycle_stack[i] = grown(r.cycle_stack[i], begin.cycle_stack[i], end.cycle_stack[i]);
  }
  Utilization from = begin.utilization;
  Utilization to = end.utilization;
  const auto shares = shares_of(r.utilization);
  const auto shares_from = shares_of(from);
  const auto shares_to = shares_of(to);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    *shares[i] = std::clamp(
        grown(*shares[i] * shortened.sm_cycles, *shares_from[i] * begin.sm_cycles, *shares_to[i] * end.sm_cycles) /
            r.sm_cycles,
        0.0, 1.0);
  }
  for (std::size_t i = 0; i < kNumCounters; ++i) {
    const auto c = static_cast<Counter>(i);
    const auto whole = static_cast<double>(shortened.counters[c]);
    const bool by_trace = plan.pieces_are_all && std::find(kByTrace.begin(), kByTrace.end(), c) != kByTrace.end();
    const double added = by_trace
                             ? pieces * whole
                             : rounds * (static_cast<double>(end.counters[c]) - static_cast<double>(begin.counters[c]));
    r.counters.add(c, static_cast<std::uint64_t>(std::max(0.0, std::round(added))));
  }
  r.notes.push_back(
      fmt::format("{:.0f} % of the work was simulated, the rest added by proportion; --exact simulates all",
                  100.0 * static_cast<double>(plan.pieces - plan.count) / static_cast<double>(plan.pieces)));
  return r;
}

}  // namespace strata

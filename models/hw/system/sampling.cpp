#include "models/hw/system/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "models/hw/common/chunk.hpp"

namespace strata {

namespace {

/// A launch is shortened only where that spares at least this share of its pieces.
constexpr double kWorthwhile = 0.3;
constexpr std::uint64_t kMeasuredRounds = 2;
/// A round's part by which the pieces that pass before and during the measurement may fall short of that.
constexpr std::uint64_t kNear = 16;
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

/// Of reads: they go on with the sectors delivered.
constexpr std::array kByReads{Counter::kLtsReadSectors, Counter::kDramReadSectors};

/// HBM traffic of a launch that caches do not decide, as far as its shortened run shows.
struct Conserved {
  bool reads = false;  ///< each byte that it reads crosses once
  bool writes =
      false;  ///< each byte that it writes is stored once, and leaves once dirty lines are as many as they stay
};

Conserved conserved(const Result& shortened, const SamplingPlan& plan) {
  constexpr double kOnce = 0.02;        // what a cold L2 reads beside: weights, code
  constexpr double kStoredOnce = 0.05;  // sectors that two CTAs store a part of
  const double share = static_cast<double>(plan.pieces - plan.count) / static_cast<double>(plan.pieces);
  const auto is_about = [](double bytes, double expected, double of) {
    return std::abs(bytes - expected) <= of * expected;
  };
  const double stored = kSectorBytes * static_cast<double>(shortened.counters[Counter::kStoredSectors]);
  const WorkSummary& work = shortened.work;
  return {plan.alike && work.compulsory_read_bytes > 0 &&
              is_about(shortened.dram_read_bytes(), share * work.compulsory_read_bytes, kOnce),
          plan.pieces_are_all && work.compulsory_write_bytes > 0 &&
              is_about(stored, share * work.compulsory_write_bytes, kStoredOnce)};
}

/// Pieces' worth of bytes that HBM moves between the marks, where it is busy nearly all the time and those bytes are
/// known: then they are what time goes by. Else nothing.
///
/// Dirty lines leave the L2 in waves, and the pace of reads and of the ends of pieces goes down in each.
template <typename Window>
std::optional<double> pieces_moved(const Result& shortened, const SampleMarks& at, const SamplingPlan& plan,
                                   const Window& window) {
  constexpr double kBusy = 0.97;
  const auto busy = [](const Result& r) { return r.utilization.hbm * r.sm_cycles; };
  const auto moved = [](const Result& r) { return r.dram_read_bytes() + r.dram_write_bytes(); };
  const double bytes = shortened.work.compulsory_read_bytes + shortened.work.compulsory_write_bytes;
  const Conserved known = conserved(shortened, plan);
  if (!known.reads || !known.writes ||
      busy(at.end) - busy(at.begin) < kBusy * (at.end.sm_cycles - at.begin.sm_cycles)) {
    return std::nullopt;
  }
  return window(moved(at.begin), moved(at.before), moved(at.end)) / bytes * static_cast<double>(plan.pieces);
}

constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t to) { return (n + to - 1) / to * to; }

constexpr std::array kShares{
    &Utilization::tensor, &Utilization::issue,    &Utilization::fp32, &Utilization::mufu,   &Utilization::shared_memory,
    &Utilization::l1,     &Utilization::crossbar, &Utilization::l2,   &Utilization::fabric, &Utilization::hbm};

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
  // A period that leaves room in the L2 finds what the one before has read, and the next finds something else.
  const std::uint64_t periods = r.is_all && static_cast<double>(r.period) < fill ? 2 : 1;
  const auto least = std::max({(r.is_all ? kMeasuredRounds : kMeasuredSteps) * round - round / kNear,
                               static_cast<std::uint64_t>(kMeasuredFills * fill), periods * r.period});
  const std::uint64_t measured = round_up(round_up(least, r.period), round);
  plan.window = measured / r.period * r.period;
  plan.first = round_up(warm + measured - round / kNear, round);
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
  plan.alike = r.is_all && r.period == 1;
  const std::uint64_t marks = std::max(1U, r.marks);
  // In the middle of a round's burst of ends, where a few more or fewer matter least.
  plan.mark_end = (plan.first - round / 2) * marks;
  plan.mark_begin = plan.mark_end - measured * marks;
  plan.mark_before = plan.mark_end - round * marks;
  plan.read_lead = plan.alike ? 0 : (round / 2 - round / kNear) * marks;
  plan.last_round = 1 - static_cast<double>(measured - plan.window) / static_cast<double>(round);
  return plan;
}

Result extrapolate(const Result& shortened, const Samples& at, const SamplingPlan& plan) {
  Result r = shortened;
  const auto left_out = static_cast<double>(plan.count);
  const double pieces = left_out / static_cast<double>(plan.pieces - plan.count);
  // Work goes on evenly between the ends of two rounds.
  const auto window = [&plan](double from, double late, double to) {
    return late - from + plan.last_round * (to - late);
  };
  const Conserved known = conserved(shortened, plan);
  // What an L1 holds for the CTAs after it is delivered more often at first, what HBM reads once is not.
  const Counter by = known.reads ? Counter::kDramReadSectors : Counter::kDeliveredSectors;
  const auto delivered = [by](const Result& x) { return static_cast<double>(x.counters[by]); };
  const auto ended = static_cast<double>(plan.window);
  const double each = delivered(shortened) / static_cast<double>(plan.pieces - plan.count);
  const auto& [begin, before, end] = at.all;
  const double read =
      plan.alike && each > 0 ? window(delivered(begin), delivered(before), delivered(end)) / each : ended;
  const double rounds = left_out / pieces_moved(shortened, at.all, plan, window).value_or((ended + read) / 2);
  const double read_rounds = left_out / read;
  const auto grown = [&](double whole, double from, double late, double to) {
    return whole + rounds * window(from, late, to);
  };
  r.sm_cycles = grown(r.sm_cycles, begin.sm_cycles, before.sm_cycles, end.sm_cycles);
  r.duration_us = grown(r.duration_us, begin.duration_us, before.duration_us, end.duration_us);
  r.sm_active_cycles_avg += r.sm_cycles - shortened.sm_cycles;
  for (std::size_t i = 0; i < kNumStackReasons; ++i) {
    r.cycle_stack[i] = grown(r.cycle_stack[i], begin.cycle_stack[i], before.cycle_stack[i], end.cycle_stack[i]);
  }
  for (double Utilization::*share : kShares) {
    const auto busy = [share](const Result& x) { return x.utilization.*share * x.sm_cycles; };
    r.utilization.*share =
        std::clamp(grown(busy(shortened), busy(begin), busy(before), busy(end)) / r.sm_cycles, 0.0, 1.0);
  }
  for (std::size_t i = 0; i < kNumCounters; ++i) {
    const auto c = static_cast<Counter>(i);
    const auto count = [c](const Result& x) { return static_cast<double>(x.counters[c]); };
    const double whole = count(shortened);
    const auto is_of = [c](const auto& kinds) { return std::find(kinds.begin(), kinds.end(), c) != kinds.end(); };
    const bool reads = is_of(kByReads);
    const SampleMarks& m = reads ? at.reads : at.all;
    const double measured = window(count(m.begin), count(m.before), count(m.end));
    double added = (reads ? read_rounds : rounds) * measured;
    if ((plan.pieces_are_all && is_of(kByTrace)) || (reads && known.reads)) {
      added = pieces * whole;
    } else if (c == Counter::kDramWriteSectors && known.writes) {
      added = left_out / static_cast<double>(plan.pieces) * r.work.compulsory_write_bytes / kSectorBytes;
    }
    r.counters.add(c, static_cast<std::uint64_t>(std::max(0.0, std::round(added))));
  }
  r.notes.push_back(
      fmt::format("{:.0f} % of the work was simulated, the rest added by proportion; --exact simulates all",
                  100.0 * static_cast<double>(plan.pieces - plan.count) / static_cast<double>(plan.pieces)));
  return r;
}

}  // namespace strata

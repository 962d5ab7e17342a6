/// Long launches repeat themselves: the middle of one is measured on a few rounds of its pieces, and the rest of it is
/// left out and added by proportion.
///
/// Error: what a launch only does late (a working set that outgrows the L2 after many rounds, clocks) is not seen.
#pragma once

#include <cstdint>
#include <optional>

#include "models/hw/sm/occupancy.hpp"
#include "sim/config/gpu_config.hpp"
#include "sim/result/result.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

struct SamplingPlan {
  std::uint64_t pieces = 0;  ///< of the whole launch
  std::uint64_t first = 0;   ///< left out: [first, first + count)
  std::uint64_t count = 0;
  std::uint64_t window = 0;      ///< pieces that are measured: whole periods
  std::uint64_t mark_begin = 0;  ///< ends of pieces at which the measurement begins; the others are whole rounds later
  std::uint64_t mark_before = 0;
  std::uint64_t mark_end = 0;
  std::uint64_t read_lead = 0;  ///< ends of pieces by which reads are measured earlier
  double last_round = 1;        ///< part of the round between the last two marks that the window has
  bool pieces_are_all = true;   ///< Repetition::is_all
  bool alike = false;           ///< each piece is like the one before
};

/// What to leave out; nothing when the launch is short or does not repeat. The start is simulated until the bytes that
/// pass have filled the L2 one and a half times and every SM has had a piece and a half, then come at least two rounds
/// that are measured, and at the end as many pieces as it takes to drain.
[[nodiscard]] std::optional<SamplingPlan> plan_sampling(const GpuConfig& gpu, const TraceSource& source);

/// The state of a run at the marks of a plan.
struct SampleMarks {
  Result begin;
  Result before;
  Result end;
};

/// The same at the marks and, for reads, `read_lead` before each: pieces have read before they end, and those under way
/// at the end of the measurement would lie behind the gap.
struct Samples {
  SampleMarks all;
  SampleMarks reads;
};

/// The whole launch from a run of the shortened one and its state at the marks. Counters that the trace alone decides
/// grow with the pieces; time and what caches decide grow as between the marks. Pieces of a round end in step, so a
/// window that is no whole number of rounds ends between two marks. Pieces that read, then write and end run apart
/// meanwhile, so as many have read as sectors were delivered, which is not how many have ended; time goes by both.
/// Where each byte is read once or stored once, HBM's bytes are known without the marks: those of the pieces, as what
/// is dirty in the L2 stays the same. Where HBM is busy all the time with such bytes, time goes by them.
[[nodiscard]] Result extrapolate(const Result& shortened, const Samples& at, const SamplingPlan& plan);

}  // namespace strata

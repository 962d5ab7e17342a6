#include "workloads/kernels/microbench/sides.hpp"

#include <algorithm>

namespace strata::microbench {

namespace {

constexpr std::uint32_t kChunk = 8192;
constexpr std::uint32_t kStages = 8;
constexpr std::uint32_t kLoadWarps = 16;
constexpr std::uint32_t kSweepWarps = 32;
constexpr std::uint32_t kAtOnce = 4;
/// What a turn of lrc.cu's bulk loop costs its thread: 8 KiB at the 26.25 B/clk that one SM reaches, whatever it
/// shares.
constexpr std::uint32_t kBulkLoopClocks = 312;

/// Loads of `chunk` bytes by all threads, four at a time before their values are used; a stream does its share. Loads
/// before: `before`.
Section sweep(std::uint32_t chunk, std::uint32_t warps, std::uint64_t count, std::uint64_t before,
              const std::function<std::uint64_t(const StreamId&)>& base) {
  const std::uint32_t share = chunk / kLoadStreams;
  return Section{count, [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                   op =
                       contiguous(MemDir::kLoad, base(id) + i * chunk + id.stream * share, share, warps / kLoadStreams);
                   op.waits[0] = wait_scoreboard(before + i / kAtOnce * kAtOnce);
                   op.completes[0] = signal_scoreboard();
                 }};
}

/// Member r waits r times the skew.
Section skewed_start(const InStepConfig& c) {
  return Section{1, [c](const StreamId& id, std::uint64_t, StreamCursor&, Operation& op) {
                   op = compute(Pipe::kAlu, 1, 1);
                   op.dependent_latency = static_cast<std::uint32_t>(c.group.rank_of(id)) * c.skew / c.alu_latency;
                 }};
}

/// Operations that only one member runs; the others run `otherwise`, one for one.
Section only(const std::function<bool(const StreamId&)>& mine, Section section) {
  return Section{section.count, [=, make = std::move(section.make)](const StreamId& id, std::uint64_t i,
                                                                    StreamCursor& cursor, Operation& op) {
                   make(id, i, cursor, op);
                   if (!mine(id)) {
                     op.mem.row_bytes = 0;  // predicated off
                   }
                 }};
}

/// The streams of a CTA: each does its share of `before`, all meet, stream 0 arrives at the group, all wait for the
/// group, and so on for every step; the stamps are around the last step.
std::vector<std::vector<Section>> steps_in_group(const Group& group, const std::vector<Section>& steps,
                                                 const std::vector<std::uint64_t>& loads_done) {
  const auto cta = [](std::uint64_t n) { return wait_for(TokenClass::kNamedBarrier, kCtaBarrier, n); };
  std::vector<std::vector<Section>> streams(kLoadStreams);
  for (std::uint32_t s = 0; s < kLoadStreams; ++s) {
    for (std::uint32_t k = 0; k < steps.size(); ++k) {
      streams[s].push_back(steps[k]);
      streams[s].push_back(
          once(arrive(signal(TokenClass::kNamedBarrier, kCtaBarrier), wait_scoreboard(loads_done[k]))));
      const bool last = k + 1 == steps.size();
      if (last) {
        if (s == 0) streams[s].push_back(once(stamp(cta(k + 1))));
        continue;
      }
      if (s == 0) streams[s].push_back(once(arrive_at_group(cta(k + 1))));
      const Wait all = group_passed(group, k + 1);
      streams[s].push_back(once(s == 0 && k + 2 == steps.size() ? stamp(all) : hold(all)));
    }
  }
  return streams;
}

}  // namespace

std::unique_ptr<TraceSource> make_in_step(const InStepConfig& c) {
  const std::uint32_t chunks = c.bytes / kChunk;
  const auto first = [](const StreamId&) { return kFirstAddress; };
  const auto leads = [c](const StreamId& id) {
    return c.warms.empty() ? c.group.rank_of(id) == 0 : c.warms[id.cta] == 1;
  };
  const std::uint64_t warm = c.cold ? 0 : chunks;
  if (!c.bulk) {
    Launch l = group_launch("in_step_loads", c.group, kLoadWarps);
    few_streams(l);
    Section run = sweep(kChunk, kLoadWarps, chunks, warm, first);
    const Section start = skewed_start(c);
    // The skew comes first: operation 0 of the timed step.
    run = Section{run.count + 1,
                  [start, make = run.make](const StreamId& id, std::uint64_t i, StreamCursor& cursor, Operation& op) {
                    if (i == 0) {
                      start.make(id, i, cursor, op);
                    } else {
                      make(id, i - 1, cursor, op);
                    }
                  }};
    auto streams =
        steps_in_group(c.group, {only(leads, sweep(kChunk, kLoadWarps, warm, 0, first)), run}, {warm, warm + chunks});
    return std::make_unique<Program>(std::move(l), std::move(streams), active_in(c.group));
  }
  Launch l = group_launch("in_step_copies", c.group, 1);
  std::fill_n(l.mbarrier_arrivals.begin(), kStages, std::uint16_t{1});
  const auto ring = [&](std::uint64_t before, std::uint64_t count) {
    return Section{count, [=](const StreamId&, std::uint64_t i, StreamCursor&, Operation& op) {
                     op.kind = OpKind::kTma;
                     set_instructions(op, 8, 1);
                     op.dependent_latency = kBulkLoopClocks / kAluLatency;
                     op.mem.address = kFirstAddress + i * kChunk;
                     op.mem.rows = 1;
                     op.mem.row_bytes = kChunk;
                     const std::uint64_t n = before + i;
                     const auto slot = static_cast<std::uint8_t>(n % kStages);
                     op.waits[0] = wait_for(TokenClass::kMbarrier, slot, n / kStages);
                     op.completes[0] = signal(TokenClass::kMbarrier, slot);
                   }};
  };
  const std::uint64_t total = warm + chunks;
  const Section drain{
      kStages, [=](const StreamId&, std::uint64_t s, StreamCursor&, Operation& op) {
        op = hold(wait_for(TokenClass::kMbarrier, static_cast<std::uint8_t>(s), (total + kStages - 1 - s) / kStages));
      }};
  std::vector<Section> sections{only(leads, ring(0, warm)),
                                once(arrive_at_group()),
                                once(stamp(group_passed(c.group, 1))),
                                skewed_start(c),
                                ring(warm, chunks),
                                drain,
                                once(stamp())};
  return std::make_unique<Program>(std::move(l), std::move(sections), active_in(c.group));
}

std::unique_ptr<TraceSource> make_fabric(const FabricReadConfig& c) {
  Launch l = group_launch("fabric", c.group, kSweepWarps);
  few_streams(l);
  constexpr std::uint32_t kSweep = kSweepWarps * kWarpLanes * 16;
  const auto slice = [](const std::vector<int>& by, std::uint32_t bytes) {
    return [by, bytes](const StreamId& id) {
      return kFirstAddress + static_cast<std::uint64_t>(std::max(0, by[id.cta])) * bytes;
    };
  };
  const auto taking_part = [](const std::vector<int>& by) {
    return [by](const StreamId& id) { return by[id.cta] >= 0; };
  };
  const std::uint64_t fill = c.fill_bytes / kSweep;
  const std::uint64_t read = c.read_bytes / kSweep;
  std::vector<Section> steps{
      only(taking_part(c.fills), sweep(kSweep, kSweepWarps, fill, 0, slice(c.fills, c.fill_bytes)))};
  std::vector<std::uint64_t> done{fill};
  for (int k = 0; k < (c.again ? 2 : 1); ++k) {
    steps.push_back(
        only(taking_part(c.reads), sweep(kSweep, kSweepWarps, read, done.back(), slice(c.reads, c.read_bytes))));
    done.push_back(done.back() + read);
  }
  auto streams = steps_in_group(c.group, steps, done);
  return std::make_unique<Program>(std::move(l), std::move(streams), active_in(c.group));
}

std::unique_ptr<TraceSource> make_touches(const TouchConfig& c) {
  Launch l = group_launch("touches", c.group, 1);
  std::vector<Section> sections;
  for (std::size_t t = 0; t < c.turns.size(); ++t) {
    const TouchConfig::Turn turn = c.turns[t];
    const auto mine = [c, turn](const StreamId& id) { return c.group.rank_of(id) == turn.rank; };
    const std::uint64_t accesses = std::uint64_t{c.lines} * turn.touches;
    // Everyone waits for the turn; its owner touches, with a stamp before every access and one after the last.
    sections.push_back(once(hold(wait_for(TokenClass::kGlobalCounter, 0, t))));
    sections.push_back(
        Section{3 * accesses + 1, [=](const StreamId& id, std::uint64_t i, StreamCursor& cursor, Operation& op) {
                  // Loads of this CTA in earlier turns are counted by the cursor's caller.
                  std::uint64_t& issued = cursor.state[2];
                  if (i == 0) {
                    for (std::size_t k = 0; k < t; ++k) {
                      if (c.turns[k].rank == turn.rank) {
                        issued += std::uint64_t{c.lines} * c.turns[k].touches;
                      }
                    }
                  }
                  if (!mine(id)) {
                    op = hold({});
                    return;
                  }
                  if (i % 3 == 0) {
                    op = stamp({});
                    return;
                  }
                  if (i % 3 == 2) {  // the addition that waits for the value, before the clock is read again
                    op = compute(Pipe::kAlu, 1, 1);
                    op.dependent_latency = 1;
                    op.waits[0] = wait_scoreboard(issued);
                    return;
                  }
                  const std::uint64_t line = i / 3 / turn.touches * c.stride_lines;
                  op = contiguous(turn.store ? MemDir::kStore : MemDir::kLoad, kFirstAddress + line * kLineBytes, 4, 1);
                  op.completes[0] = signal_scoreboard();
                  ++issued;
                }});
    sections.push_back(Section{1, [mine](const StreamId& id, std::uint64_t, StreamCursor&, Operation& op) {
                                 op = mine(id) ? arrive_at_group() : hold({});
                               }});
  }
  return std::make_unique<Program>(std::move(l), std::move(sections), active_in(c.group));
}

}  // namespace strata::microbench

#include "workloads/kernels/microbench/l2_streams.hpp"

#include <algorithm>

namespace strata::microbench {

namespace {

constexpr std::uint32_t kThreadWarps = 32;
constexpr std::uint32_t kCopyWarps = 3;
constexpr std::uint32_t kStages = 2;
constexpr std::uint32_t kPerIteration = 4;  ///< chunks of the threads' unrolled loop
constexpr std::uint32_t kPitchRows = 128;
constexpr std::uint64_t kPitchBytes = 8192;
constexpr std::uint32_t kTileRowBytes = 128;

/// Which chunk an SM visits at step s: the Walker of l2_bandwidth.cu.
std::uint64_t chunk_at(const L2StreamConfig& c, std::uint64_t rank, std::uint64_t step) {
  const std::uint64_t chunks = c.chunks;
  switch (c.set) {
    case SharedSet::kPrivate:
      return rank * chunks + step % chunks;
    case SharedSet::kShared:
      return step % chunks;
    case SharedSet::kSkewed:
      return (rank * chunks / c.group.active + step) % chunks;
    case SharedSet::kRotate:
      return (rank + step / chunks) % c.group.active * chunks + step % chunks;
  }
  return 0;
}

/// The chunks of the warm-up: its own walk, or a share of the set where all SMs read the same.
std::uint64_t warm_chunk(const L2StreamConfig& c, const StreamId& id, std::uint64_t step) {
  if (c.warm_lane.empty()) {
    return chunk_at(c, c.group.rank_of(id), step);
  }
  return (c.warm_lane[id.cta] + step * c.warm_lanes[id.cta]) % c.chunks;
}

using Chunk = std::function<std::uint64_t(const StreamId&, std::uint64_t)>;

/// Instructions of a warp for one chunk: the loop of l2_bandwidth.cu walks regions and positions for every access. One
/// SM gets 66.9 B/clk by loads and 61.3 by cp.async whatever else is active up to 16 SMs: 245 and 267 clocks a chunk,
/// for the eight warps of a sub-partition.
std::uint32_t loop_instructions(Engine engine) {
  switch (engine) {
    case Engine::kLoad:
      return 30;
    case Engine::kCpAsync:
      return 33;
    default:
      return 8;
  }
}

/// 1024 threads, 16 bytes each per chunk; a stream does its share. `before`: operations that completed on the
/// scoreboard or as groups earlier.
Section thread_steps(Engine engine, const Chunk& chunk, std::uint64_t steps, std::uint64_t before) {
  constexpr std::uint32_t kShare = kStreamChunkBytes / kLoadStreams;
  constexpr std::uint32_t kWarps = kThreadWarps / kLoadStreams;
  return Section{steps, [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                   const std::uint64_t address = kFirstAddress + chunk(id, i) * kStreamChunkBytes + id.stream * kShare;
                   op = contiguous(engine == Engine::kStore ? MemDir::kStore : MemDir::kLoad, address, kShare, kWarps);
                   set_instructions(op, loop_instructions(engine), kWarps);
                   const std::uint64_t iteration = i / kPerIteration * kPerIteration;
                   if (engine == Engine::kLoad) {
                     // The four values of an iteration are used before the next four are asked for.
                     op.waits[0] = wait_scoreboard(before + iteration);
                     op.completes[0] = signal_scoreboard();
                   } else if (engine == Engine::kCpAsync) {
                     op.kind = OpKind::kCpAsync;
                     op.smem_write_wavefronts = kShare / kLineBytes;
                     // cp.async.wait_group 1: the group before the last one.
                     const std::uint64_t done = iteration > kPerIteration ? iteration - kPerIteration : 0;
                     op.waits[0] = wait_for(TokenClass::kAsyncGroup, 0, before + done);
                     op.completes[0] = signal(TokenClass::kAsyncGroup, 0);
                   } else {
                     op.completes[0] = signal_scoreboard();  // for the fence at the end
                   }
                 }};
}

/// Streams of a CTA that all warm up, wait for the group, run and finish; stream 0 stamps.
std::vector<std::vector<Section>> in_group(const Group& group, std::uint32_t streams,
                                           const std::function<Section(std::uint32_t)>& warm,
                                           const std::function<Operation(std::uint32_t)>& warmed,
                                           const std::function<Section(std::uint32_t)>& run,
                                           const std::function<Operation(std::uint32_t)>& finished) {
  const auto passed = [](std::uint64_t n) { return wait_for(TokenClass::kNamedBarrier, kCtaBarrier, n); };
  std::vector<std::vector<Section>> out;
  for (std::uint32_t s = 0; s < streams; ++s) {
    std::vector<Section> sections{warm(s), once(warmed(s))};
    if (s == 0) {
      sections.push_back(once(arrive_at_group(passed(1))));
      sections.push_back(once(stamp(group_passed(group, 1))));
    } else {
      sections.push_back(once(hold(group_passed(group, 1))));
    }
    sections.push_back(run(s));
    sections.push_back(once(finished(s)));
    if (s == 0) sections.push_back(once(stamp(passed(2))));
    out.push_back(std::move(sections));
  }
  return out;
}

std::unique_ptr<TraceSource> threads(const L2StreamConfig& c) {
  Launch l = group_launch("l2_stream_threads", c.group, kThreadWarps);
  few_streams(l);
  const Chunk warm = [c](const StreamId& id, std::uint64_t i) { return warm_chunk(c, id, i); };
  const std::uint64_t skip = c.warm_lane.empty() ? c.warm_steps : 0;
  const Chunk walk = [c, skip](const StreamId& id, std::uint64_t i) {
    return chunk_at(c, c.group.rank_of(id), skip + i);
  };
  const auto done = [engine = c.engine](std::uint64_t n) {
    const Wait all = engine == Engine::kCpAsync ? wait_for(TokenClass::kAsyncGroup, 0, n) : wait_scoreboard(n);
    return arrive(signal(TokenClass::kNamedBarrier, kCtaBarrier), all);
  };
  auto streams = in_group(
      c.group, kLoadStreams, [&](std::uint32_t) { return thread_steps(c.engine, warm, c.warm_steps, 0); },
      [&](std::uint32_t) { return done(c.warm_steps); },
      [&](std::uint32_t) { return thread_steps(c.engine, walk, c.steps, c.warm_steps); },
      [&](std::uint32_t) { return done(std::uint64_t{c.warm_steps} + c.steps); });
  return std::make_unique<Program>(std::move(l), std::move(streams), active_in(c.group));
}

void place_copy(const L2StreamConfig& c, std::uint64_t chunk, Operation& op) {
  op.mem.address = kFirstAddress + chunk * kStreamChunkBytes;
  op.mem.rows = 1;
  op.mem.row_bytes = kStreamChunkBytes;
  op.mem.row_pitch = kStreamChunkBytes;
  if (c.engine == Engine::kTile || c.engine == Engine::kPitchedTile) {
    op.mem.rows = kPitchRows;
    op.mem.row_bytes = kTileRowBytes;
    op.mem.row_pitch = kTileRowBytes;
  }
  if (c.engine == Engine::kPitchedTile) {
    const std::uint64_t across = kPitchBytes / kTileRowBytes;
    op.mem.address = kFirstAddress + chunk % across * kTileRowBytes + chunk / across * kPitchRows * kPitchBytes;
    op.mem.row_pitch = static_cast<std::int64_t>(kPitchBytes);
  }
}

/// One producer warp with a ring of two stages. `before`: its copies so far.
Section copy_steps(const L2StreamConfig& c, std::uint32_t warp, const Chunk& chunk, std::uint64_t copies,
                   std::uint64_t before) {
  return Section{copies, [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                   op.kind = OpKind::kTma;
                   set_instructions(op, 8, 1);  // the loop around a copy
                   place_copy(c, chunk(id, i * kCopyWarps + warp), op);
                   const std::uint64_t n = before + i;
                   if (c.engine == Engine::kBulkStore) {
                     op.mem.dir = MemDir::kStore;
                     // bulk.wait_group.read: at most one group still reads its source.
                     if (n >= kStages) op.waits[0] = wait_for(TokenClass::kAsyncGroup, 2, n - kStages + 1);
                     op.completes[0] = Signal{TokenClass::kAsyncGroup, 2, SignalAt::kOperandsRead, 1, 0};
                     op.completes[1] = signal(TokenClass::kAsyncGroup, 3);
                     return;
                   }
                   const auto slot = static_cast<std::uint8_t>(warp * kStages + n % kStages);
                   op.waits[0] = wait_for(TokenClass::kMbarrier, slot, n / kStages);
                   op.completes[0] = signal(TokenClass::kMbarrier, slot);
                 }};
}

std::unique_ptr<TraceSource> copies(const L2StreamConfig& c) {
  Launch l = group_launch("l2_stream_copies", c.group, kCopyWarps);
  one_stream_per_warp(l);
  l.num_descriptors = c.engine == Engine::kTile || c.engine == Engine::kPitchedTile ? 1 : 0;
  std::fill_n(l.mbarrier_arrivals.begin(), kCopyWarps * kStages, std::uint16_t{1});
  const std::uint64_t warm_copies = c.warm_steps / kCopyWarps;
  const std::uint64_t timed_copies = c.steps / kCopyWarps;
  const Chunk warm = [c](const StreamId& id, std::uint64_t i) { return warm_chunk(c, id, i); };
  const std::uint64_t skip = c.warm_lane.empty() ? warm_copies * kCopyWarps : 0;
  const Chunk walk = [c, skip](const StreamId& id, std::uint64_t i) {
    return chunk_at(c, c.group.rank_of(id), skip + i);
  };
  const auto drained = [&](std::uint32_t w, std::uint64_t n) {
    Operation op = arrive(signal(TokenClass::kNamedBarrier, kCtaBarrier));
    if (c.engine == Engine::kBulkStore) {
      op.waits[0] = wait_for(TokenClass::kAsyncGroup, 3, n);
      return op;
    }
    for (std::uint32_t s = 0; s < kStages; ++s) {
      op.waits[s] =
          wait_for(TokenClass::kMbarrier, static_cast<std::uint8_t>(w * kStages + s), (n + kStages - 1 - s) / kStages);
    }
    return op;
  };
  auto streams = in_group(
      c.group, kCopyWarps, [&](std::uint32_t w) { return copy_steps(c, w, warm, warm_copies, 0); },
      [&](std::uint32_t w) { return drained(w, warm_copies); },
      [&](std::uint32_t w) { return copy_steps(c, w, walk, timed_copies, warm_copies); },
      [&](std::uint32_t w) { return drained(w, warm_copies + timed_copies); });
  return std::make_unique<Program>(std::move(l), std::move(streams), active_in(c.group));
}

}  // namespace

std::unique_ptr<TraceSource> make_l2_stream(const L2StreamConfig& config) {
  const bool by_threads =
      config.engine == Engine::kLoad || config.engine == Engine::kCpAsync || config.engine == Engine::kStore;
  return by_threads ? threads(config) : copies(config);
}

}  // namespace strata::microbench

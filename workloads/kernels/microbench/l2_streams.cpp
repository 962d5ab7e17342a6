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

/// 1024 threads, 16 bytes each per chunk. `before`: operations that completed on the scoreboard or as groups earlier.
Section thread_steps(Engine engine, const Chunk& chunk, std::uint64_t steps, std::uint64_t before) {
  return Section{steps, [=](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                   const std::uint64_t address = kFirstAddress + chunk(id, i) * kStreamChunkBytes;
                   op = contiguous(engine == Engine::kStore ? MemDir::kStore : MemDir::kLoad, address,
                                   kStreamChunkBytes, kThreadWarps);
                   const std::uint64_t iteration = i / kPerIteration * kPerIteration;
                   if (engine == Engine::kLoad) {
                     // The four values of an iteration are used before the next four are asked for.
                     op.waits[0] = wait_scoreboard(before + iteration);
                     op.completes[0] = signal_scoreboard();
                   } else if (engine == Engine::kCpAsync) {
                     op.kind = OpKind::kCpAsync;
                     op.smem_write_wavefronts = kStreamChunkBytes / kLineBytes;
                     // cp.async.wait_group 1: the group before the last one.
                     const std::uint64_t done = iteration > kPerIteration ? iteration - kPerIteration : 0;
                     op.waits[0] = wait_for(TokenClass::kAsyncGroup, 0, before + done);
                     op.completes[0] = signal(TokenClass::kAsyncGroup, 0);
                   } else {
                     op.completes[0] = signal_scoreboard();  // for the fence at the end
                   }
                 }};
}

std::unique_ptr<TraceSource> threads(const L2StreamConfig& c) {
  Launch l = group_launch("l2_stream_threads", c.group, kThreadWarps);
  const Chunk warm = [c](const StreamId& id, std::uint64_t i) { return warm_chunk(c, id, i); };
  const std::uint64_t skip = c.warm_lane.empty() ? c.warm_steps : 0;
  const Chunk walk = [c, skip](const StreamId& id, std::uint64_t i) {
    return chunk_at(c, c.group.rank_of(id), skip + i);
  };
  const auto all = [&](std::uint64_t n) {
    return c.engine == Engine::kCpAsync ? wait_for(TokenClass::kAsyncGroup, 0, n) : wait_scoreboard(n);
  };
  std::vector<Section> sections{thread_steps(c.engine, warm, c.warm_steps, 0),
                                once(arrive_at_group(all(c.warm_steps))), once(stamp(group_passed(c.group, 1))),
                                thread_steps(c.engine, walk, c.steps, c.warm_steps),
                                once(stamp(all(std::uint64_t{c.warm_steps} + c.steps)))};
  return std::make_unique<Program>(std::move(l), std::move(sections), active_in(c.group));
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
  const Signal cta = signal(TokenClass::kNamedBarrier, kCtaBarrier);
  const auto cta_passed = [](std::uint64_t n) { return wait_for(TokenClass::kNamedBarrier, kCtaBarrier, n); };
  std::vector<std::vector<Section>> streams;
  for (std::uint32_t w = 0; w < kCopyWarps; ++w) {
    const auto drained = [&](std::uint64_t n) {
      Operation op = arrive(cta);
      if (c.engine == Engine::kBulkStore) {
        op.waits[0] = wait_for(TokenClass::kAsyncGroup, 3, n);
        return op;
      }
      for (std::uint32_t s = 0; s < kStages; ++s) {
        op.waits[s] = wait_for(TokenClass::kMbarrier, static_cast<std::uint8_t>(w * kStages + s),
                               (n + kStages - 1 - s) / kStages);
      }
      return op;
    };
    std::vector<Section> sections{copy_steps(c, w, warm, warm_copies, 0), once(drained(warm_copies))};
    if (w == 0) {
      sections.push_back(once(arrive_at_group(cta_passed(1))));
      sections.push_back(once(stamp(group_passed(c.group, 1))));
    } else {
      sections.push_back(once(hold(group_passed(c.group, 1))));
    }
    sections.push_back(copy_steps(c, w, walk, timed_copies, warm_copies));
    sections.push_back(once(drained(warm_copies + timed_copies)));
    if (w == 0) sections.push_back(once(stamp(cta_passed(2))));
    streams.push_back(std::move(sections));
  }
  return std::make_unique<Program>(std::move(l), std::move(streams), active_in(c.group));
}

}  // namespace

std::unique_ptr<TraceSource> make_l2_stream(const L2StreamConfig& config) {
  const bool by_threads =
      config.engine == Engine::kLoad || config.engine == Engine::kCpAsync || config.engine == Engine::kStore;
  return by_threads ? threads(config) : copies(config);
}

}  // namespace strata::microbench

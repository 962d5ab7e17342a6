#include "workloads/kernels/microbench/latency.hpp"

#include <algorithm>

namespace strata::microbench {

namespace {

constexpr std::uint32_t kReaders = 32;  ///< warps of the CTA that reads the set beforehand
constexpr std::uint64_t kJitterStep = 128 * 2999;
constexpr std::uint64_t kJitterMask = 0x1fff80;
constexpr std::uint64_t kReadsInFlight = 4;

/// The permutation of latency.cu: line i points to (a i + c) mod n.
struct Permutation {
  std::uint64_t a = 1;
  std::uint64_t c = 1;
  std::uint64_t n = 1;
  [[nodiscard]] std::uint64_t next(std::uint64_t i) const { return (a * i + c) % n; }
  explicit Permutation(std::uint64_t lines) : n(lines) {
    if (n < 2048) {
      c = (n > 8 ? 11 : 1) % n;
    } else {
      a = (420ULL * 2857 + 1) % n == 0 ? 1 : (420ULL * 2857 + 1) % n;
      c = 1299709 % n;
    }
  }
};

Section read_passes(const PointerChaseConfig& c) {
  // 1024 threads read four bytes of one line each: an operation covers 128 KiB.
  constexpr std::uint64_t kStep = std::uint64_t{kReaders} * kWarpLanes * kLineBytes;
  const std::uint64_t bytes = c.lines * c.stride;
  const std::uint64_t per_pass = (bytes + kStep - 1) / kStep;
  return Section{per_pass * c.passes, [=](const StreamId&, std::uint64_t i, StreamCursor&, Operation& op) {
                   const std::uint64_t at = i % per_pass * kStep;
                   op = contiguous(MemDir::kLoad, kFirstAddress + at, 4, kReaders);
                   op.mem.pattern = Pattern::kLanes;
                   op.mem.lane_bytes = 4;
                   op.mem.lane_pitch = kLineBytes;
                   op.mem.warp_pitch = kWarpLanes * kLineBytes;
                   if (i >= kReadsInFlight) op.waits[0] = wait_scoreboard(i - kReadsInFlight + 1);
                   op.completes[0] = signal_scoreboard();
                 }};
}

}  // namespace

std::unique_ptr<TraceSource> make_pointer_chase(const PointerChaseConfig& c) {
  const std::uint32_t warps = c.passes > 0 ? kReaders : 1;
  Launch l = bench_launch("pointer_chase", 1, warps);
  l.buffers = {Buffer{"set", kFirstAddress, c.lines * c.stride + kJitterMask}};
  const Section reads = read_passes(c);
  const std::uint64_t before = c.passes > 0 ? reads.count : 0;
  const Permutation permutation(c.lines);
  const auto chase = [&](std::uint64_t loads_before, std::uint64_t hops, std::uint64_t first) {
    return Section{hops, [=](const StreamId&, std::uint64_t i, StreamCursor& cursor, Operation& op) {
                     std::uint64_t& line = cursor.state[2];
                     if (i == 0) line = first;
                     op = contiguous(MemDir::kLoad, kFirstAddress + line * c.stride, 8, 1);
                     if (c.jitter) op.mem.address += line * kJitterStep & kJitterMask;
                     if (c.through_l1) op.mem.policy = CachePolicy::kDefault;
                     by_one_warp(op);  // the others are done
                     op.completes[0] = signal_scoreboard();
                     op.waits[0] = wait_scoreboard(loads_before + i);
                     line = permutation.next(line);
                   }};
  };
  std::uint64_t after_lag = 0;
  for (std::uint64_t k = 0; k < c.lag; ++k) {
    after_lag = permutation.next(after_lag);
  }
  std::vector<Section> sections;
  if (c.passes > 0) sections.push_back(reads);
  sections.push_back(chase(before, c.lag, 0));
  sections.push_back(once(stamp(wait_scoreboard(before + c.lag))));
  sections.push_back(chase(before + c.lag, c.hops, after_lag));
  sections.push_back(once(stamp(wait_scoreboard(before + c.lag + c.hops))));
  return std::make_unique<Program>(std::move(l), std::move(sections));
}

std::unique_ptr<TraceSource> make_shared_chase(std::uint32_t hops) {
  Launch l = bench_launch("shared_chase", 1, 1);
  l.smem_dynamic_bytes = 64 * 1024;
  const Section body{hops, [](const StreamId&, std::uint64_t i, StreamCursor&, Operation& op) {
                       op.kind = OpKind::kShared;
                       op.pipe = Pipe::kLsu;
                       op.pipe_work = 1;
                       set_instructions(op, 1, 1);
                       op.smem_read_wavefronts = 1;
                       op.waits[0] = wait_scoreboard(i);
                       op.completes[0] = signal_scoreboard();
                     }};
  auto streams = timed(l, {body}, wait_scoreboard(hops));
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

std::unique_ptr<TraceSource> make_copy_chase(const CopyChaseConfig& c) {
  Launch l = bench_launch("copy_chase", 1, 1);
  l.smem_dynamic_bytes = 64 * 1024;
  l.mbarrier_arrivals[0] = 1;
  l.num_descriptors = c.rows > 1 ? 1 : 0;
  const Section body{c.copies, [c](const StreamId&, std::uint64_t i, StreamCursor&, Operation& op) {
                       op.kind = OpKind::kTma;
                       set_instructions(op, 4, 1);  // expect, copy, try_wait and its branch
                       op.mem.address = kFirstAddress + i * c.step;
                       op.mem.rows = c.rows;
                       op.mem.row_bytes = c.row_bytes;
                       op.mem.row_pitch = static_cast<std::int64_t>(c.row_pitch);
                       op.waits[0] = wait_for(TokenClass::kMbarrier, 0, i);
                       op.completes[0] = signal(TokenClass::kMbarrier, 0);
                     }};
  auto streams = timed(l, {body}, wait_for(TokenClass::kMbarrier, 0, c.copies));
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

}  // namespace strata::microbench

#include "workloads/kernels/microbench/starts.hpp"

#include <algorithm>

namespace strata::microbench {

std::unique_ptr<TraceSource> make_first_touch(const FirstTouchConfig& c) {
  Launch l = bench_launch("first_touch", c.ctas, 1);
  l.code_bytes = 1024;
  const Section reads{c.words, [c](const StreamId& id, std::uint64_t i, StreamCursor&, Operation& op) {
                        op = contiguous(MemDir::kLoad, kFirstAddress + id.cta * c.per_cta + i * c.stride, 4, 1);
                        if (c.in_turn) op.waits[0] = wait_scoreboard(i);
                        if (!c.in_turn && i > 0) by_one_warp(op);  // lanes of one instruction
                        op.completes[0] = signal_scoreboard();
                      }};
  return std::make_unique<Program>(std::move(l), std::vector{reads, once(hold(wait_scoreboard(c.words)))});
}

std::unique_ptr<TraceSource> make_straight_code(std::uint32_t kib, std::uint32_t ctas) {
  constexpr std::uint32_t kPerKib = 64;  // instructions of 16 bytes
  Launch l = bench_launch("straight_code", ctas, 1);
  l.code_bytes = 1024 * kib;
  Operation op = compute(Pipe::kFma, kPerKib, 1);
  op.dependent_latency = kPerKib;
  const Section code{kib, [op](const StreamId&, std::uint64_t i, StreamCursor&, Operation& out) {
                       out = op;
                       out.pc = static_cast<std::uint16_t>(1 + i);
                     }};
  return std::make_unique<Program>(std::move(l), std::vector{code});
}

std::unique_ptr<TraceSource> make_one_sm_loads(const OneSmLoadsConfig& c) {
  Launch l = bench_launch("one_sm_loads", 1, std::max(1U, c.threads / kWarpLanes));
  if (l.warps_per_cta() > 1) one_stream_per_warp(l);
  // Steps of 4 clk from a round's last value to the next round's first load: the use of the values, 64-bit addresses
  // and the branch (one_sm_unroll1 at 32 threads: 333 clk a round, of which a load from the L2 takes 290).
  constexpr std::uint32_t kRoundSteps = 10;
  const std::uint32_t step = c.threads * 16;
  constexpr std::uint32_t kShare = kWarpLanes * 16;
  const std::uint64_t per_lap = c.bytes / step;
  const auto laps = [&](std::uint64_t count, std::uint64_t before) {
    const std::uint64_t parts = c.unroll + 1;
    return Section{count * per_lap / c.unroll * parts,
                   [=](const StreamId& id, std::uint64_t n, StreamCursor&, Operation& op) {
                     const std::uint64_t i = n / parts * c.unroll + n % parts;
                     if (n % parts == c.unroll) {
                       op = compute(Pipe::kAlu, 2, 1);
                       op.dependent_latency = kRoundSteps;
                       op.waits[0] = wait_scoreboard(before + i);
                       return;
                     }
                     op = contiguous(MemDir::kLoad, kFirstAddress + i % per_lap * step + id.stream * kShare, kShare, 1);
                     set_instructions(op, 6, 1);  // the load, its address and the use of its value
                     op.completes[0] = signal_scoreboard();
                   }};
  };
  const std::uint64_t before = c.resident ? per_lap : 0;
  auto streams = timed(l, {laps(c.laps, before)}, wait_scoreboard(before + c.laps * per_lap));
  for (auto& sections : streams) {
    if (c.resident) sections.insert(sections.begin(), laps(1, 0));
  }
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

}  // namespace strata::microbench

#include "workloads/kernels/microbench/clusters.hpp"

#include <algorithm>

namespace strata::microbench {

namespace {
constexpr std::uint32_t kWarps = 32;
/// Steps of 4 clk between the copies of one thread: 61 clk for copies of 1 KiB in any cluster (dsmem_bulk1024B).
constexpr std::uint32_t kCopySteps = 15;

Launch cluster_launch(const char* name, std::uint32_t ctas, std::uint32_t cluster, std::uint32_t warps) {
  Launch l = bench_launch(name, ctas, warps);
  l.cluster = Dim3{cluster, 1, 1};
  l.smem_dynamic_bytes = kWholeSmBytes;
  return l;
}
}  // namespace

std::unique_ptr<TraceSource> make_remote_reads(const RemoteReadConfig& c) {
  Launch l = cluster_launch("remote_reads", c.ctas, c.cluster, c.bulk ? 1 : kWarps);
  const Section body{c.operations, [c](const StreamId&, std::uint64_t i, StreamCursor&, Operation& op) {
                       op = contiguous(MemDir::kLoad, i % 2 * c.bytes, c.bytes, kWarps);
                       op.mem.space = MemSpace::kDsmem;
                       if (c.bulk) {
                         op.kind = OpKind::kTma;
                         op.pipe = Pipe::kNone;
                         op.pipe_work = 0;
                         set_instructions(op, 8, 1);
                         op.dependent_latency = kCopySteps;
                       } else if (i >= c.in_flight)
                         op.waits[0] = wait_scoreboard(i - c.in_flight + 1);
                       op.completes[0] = signal_scoreboard();
                     }};
  auto streams = timed(l, {body}, wait_scoreboard(c.operations));
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

std::unique_ptr<TraceSource> make_remote_chase(std::uint32_t hops) {
  Launch l = cluster_launch("remote_chase", 2, 2, 1);
  const Section body{hops, [](const StreamId&, std::uint64_t i, StreamCursor&, Operation& op) {
                       op = contiguous(MemDir::kLoad, 0, 4, 1);
                       op.mem.space = MemSpace::kDsmem;
                       op.waits[0] = wait_scoreboard(i);
                       op.completes[0] = signal_scoreboard();
                     }};
  auto streams = timed(l, {body}, wait_scoreboard(hops));
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

}  // namespace strata::microbench

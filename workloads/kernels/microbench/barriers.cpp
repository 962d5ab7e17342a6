#include "workloads/kernels/microbench/barriers.hpp"

namespace strata::microbench {

namespace {

/// Steps of kAluLatency that BAR.SYNC takes to read a register: 12 clk at any number of warps (named_barrier less
/// syncthreads).
constexpr std::uint32_t kRegisterSteps = 3;

struct Token {
  TokenClass cls;
  std::uint8_t slot;
};
Token token_of(BarrierKind kind) {
  switch (kind) {
    case BarrierKind::kCta:
      return {TokenClass::kNamedBarrier, 1};  // slot 0 serves the stamps
    case BarrierKind::kMbarrier:
      return {TokenClass::kMbarrier, 0};
    case BarrierKind::kCluster:
      return {TokenClass::kClusterBarrier, 0};
  }
  return {TokenClass::kNamedBarrier, 1};
}

}  // namespace

std::unique_ptr<TraceSource> make_barriers(const BarrierConfig& c) {
  Launch l = bench_launch("barriers", c.cluster, c.warps);
  l.cluster = Dim3{c.cluster, 1, 1};
  if (c.warps > 1) one_stream_per_warp(l);
  const auto warps = static_cast<std::uint16_t>(c.warps);
  l.named_barrier_warps[1] = warps;
  l.mbarrier_arrivals[0] = warps;
  l.cluster_barrier_arrivals = static_cast<std::uint16_t>(c.warps * c.cluster);
  const Token token = token_of(c.kind);
  const Section body{c.iterations, [token, c](const StreamId&, std::uint64_t i, StreamCursor&, Operation& op) {
                       // An arrival; the wait that belongs to it holds the next operation.
                       op = arrive(signal(token.cls, token.slot), wait_for(token.cls, token.slot, i));
                       if (c.kind == BarrierKind::kMbarrier) return;
                       op.pipe = Pipe::kNone;  // BAR and UCGABAR are no work of the integer pipe
                       op.pipe_work = 0;
                       op.dependent_latency = c.count_in_register ? kRegisterSteps : 0;
                     }};
  auto streams = timed(l, {body}, wait_for(token.cls, token.slot, c.iterations));
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

std::unique_ptr<TraceSource> make_mbarrier_wake(std::uint32_t work, std::uint32_t iterations,
                                                std::uint32_t alu_latency) {
  Launch l = bench_launch("mbarrier_wake", 1, 2);
  one_stream_per_warp(l);
  l.mbarrier_arrivals[0] = l.mbarrier_arrivals[1] = 1;
  // Warp 0 works, arrives at 0 and waits at 1; warp 1 waits at 0, works and arrives at 1.
  const auto player = [&](std::uint8_t arrives, std::uint8_t waits, std::uint64_t ahead) {
    return Section{2 * std::uint64_t{iterations}, [=](const StreamId&, std::uint64_t i, StreamCursor&, Operation& op) {
                     if (i % 2 == 1) {
                       op = arrive(signal(TokenClass::kMbarrier, arrives));
                       return;
                     }
                     op = compute(Pipe::kAlu, 1, 1);
                     op.dependent_latency = work / alu_latency;
                     op.waits[0] = wait_for(TokenClass::kMbarrier, waits, i / 2 + ahead);
                   }};
  };
  auto streams = timed(l, {player(0, 1, 0)}, wait_for(TokenClass::kMbarrier, 1, iterations));
  streams[1] = timed(l, {player(1, 0, 1)})[1];
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

}  // namespace strata::microbench

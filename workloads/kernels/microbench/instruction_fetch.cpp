#include "workloads/kernels/microbench/instruction_fetch.hpp"

namespace strata::microbench {

std::unique_ptr<TraceSource> make_repeated_code(const StraightCodeConfig& c) {
  constexpr std::uint32_t kChains = 4;
  constexpr std::uint32_t kSmsps = 4;
  Launch l = bench_launch("repeated_code", 1, c.warps);
  if (c.warps > 1) one_stream_per_warp(l);
  l.code_bytes += 1024 * c.kib;
  const Section delay{1, [c](const StreamId& id, std::uint64_t, StreamCursor&, Operation& op) {
                        op = compute(Pipe::kAlu, 1, 1);
                        op.dependent_latency = c.apart * (id.stream / kSmsps) / c.alu_latency;
                      }};
  Operation piece = compute(Pipe::kFma, kInstructionsPerKib, 1);
  piece.dependent_latency = kInstructionsPerKib / kChains;
  const Section code{std::uint64_t{c.laps} * c.kib,
                     [piece, c](const StreamId&, std::uint64_t i, StreamCursor&, Operation& op) {
                       op = piece;
                       op.pc = static_cast<std::uint16_t>(1 + i % c.kib);
                     }};
  auto streams = timed(l, {delay, code});
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

}  // namespace strata::microbench

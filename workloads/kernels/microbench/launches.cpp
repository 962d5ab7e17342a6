#include "workloads/kernels/microbench/launches.hpp"

#include <algorithm>
#include <vector>

#include "workloads/kernels/elementwise.hpp"

namespace strata::microbench {

namespace {

Launch cta_launch(const char* name, std::uint32_t ctas, std::uint32_t threads) {
  Launch l = bench_launch(name, ctas, std::max(1U, threads / kWarpLanes));
  l.code_bytes = 512;
  return l;
}
}  // namespace

std::unique_ptr<TraceSource> make_ctas(const CtaConfig& c) {
  Launch l = cta_launch("ctas", c.ctas, c.threads);
  l.smem_dynamic_bytes = c.smem_bytes;
  l.registers_per_thread = c.registers;
  l.cluster = Dim3{c.cluster, 1, 1};
  std::vector<Section> sections{once(stamp())};
  // Two reads of the clock and of the special registers: 79 clocks from start to end of a tiny CTA.
  constexpr std::uint32_t kStampClocks = 79;
  Operation spin = compute(Pipe::kAlu, 4, l.warps_per_cta());
  // Work ends by the clock; the reads themselves are instructions.
  spin.dependent_latency = std::max(kStampClocks / kAluLatency, c.work / c.alu_latency);
  sections.push_back(once(spin));
  sections.push_back(once(stamp()));
  if (c.store_last) {
    sections.push_back(Section{1, [](const StreamId& id, std::uint64_t, StreamCursor&, Operation& op) {
                                 op = contiguous(MemDir::kStore, kFirstAddress + id.cta * 32, 32, 1);
                                 by_one_warp(op);
                               }});
  }
  return std::make_unique<Program>(std::move(l), std::move(sections));
}

std::unique_ptr<TraceSource> make_empty(std::uint32_t ctas, std::uint32_t threads) {
  Launch l = cta_launch("empty", ctas, threads);
  l.code_bytes = 128;  // EXIT
  const Operation exit = compute(Pipe::kAlu, 1, l.warps_per_cta());
  return std::make_unique<Program>(std::move(l), std::vector{once(exit)});
}

std::unique_ptr<TraceSource> make_waits(std::uint32_t ctas, std::uint32_t threads, std::uint32_t clocks,
                                        std::uint32_t apart, std::uint32_t alu_latency) {
  const Launch l = cta_launch("waits", ctas, threads);
  const std::uint32_t warps = l.warps_per_cta();
  return std::make_unique<Program>(
      l, std::vector{Section{1, [=](const StreamId& id, std::uint64_t, StreamCursor&, Operation& op) {
                               op = compute(Pipe::kAlu, 4, warps);
                               op.dependent_latency =
                                   static_cast<std::uint32_t>((clocks + apart * id.cta) / alu_latency);
                             }}});
}

std::unique_ptr<TraceSource> make_short_ctas(std::uint32_t inputs, std::uint64_t bytes) {
  constexpr std::uint32_t kVector = 4;
  ElementwiseConfig c;
  c.elements = bytes / sizeof(float);
  c.vector = c.elements_per_thread = kVector;
  c.inputs.assign(inputs, Operand{});
  c.functor = inputs == 0 ? Functor::kFill : inputs == 1 ? Functor::kCopy : Functor::kAdd;
  c.registers = 16;
  return make_elementwise(c);
}

}  // namespace strata::microbench

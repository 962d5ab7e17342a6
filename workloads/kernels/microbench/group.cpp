#include "workloads/kernels/microbench/group.hpp"

#include "sim/base/error.hpp"

namespace strata::microbench {

Launch group_launch(const char* name, const Group& group, std::uint32_t warps) {
  if (group.active == 0) {
    throw InputError(Diagnostic{{}, 0, 0, name, "needs at least one active CTA"});
  }
  Launch l = bench_launch(name, group.ctas(), warps);
  l.smem_dynamic_bytes = kWholeSmBytes;
  l.global_counters = 1;
  return l;
}

Program::Active active_in(const Group& group) {
  return [rank = group.rank](std::uint64_t cta) { return rank[cta] >= 0; };
}

Operation arrive_at_group(Wait wait) { return arrive(signal(TokenClass::kGlobalCounter, 0), wait); }

Wait group_passed(const Group& group, std::uint32_t n) {
  return wait_for(TokenClass::kGlobalCounter, 0, std::uint64_t{n} * group.active);
}

std::unique_ptr<TraceSource> make_placement_probe(std::uint32_t sms) {
  Launch l = bench_launch("placement_probe", sms, 1);
  l.smem_dynamic_bytes = kWholeSmBytes;
  const Section body{1, [](const StreamId& id, std::uint64_t, StreamCursor&, Operation& op) {
                       op = compute(Pipe::kAlu, 1, 1);
                       op.dependent_latency = static_cast<std::uint32_t>(id.cta + 1) * kProbeSteps;
                     }};
  auto streams = timed(l, {body});
  return std::make_unique<Program>(std::move(l), std::move(streams));
}

}  // namespace strata::microbench

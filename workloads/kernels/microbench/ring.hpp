/// One thread that keeps a number of TMA copies under way, each in a slot of its own, and waits for a slot's copy
/// before it issues the next one into it.
#pragma once

#include "workloads/kernels/microbench/program.hpp"

namespace strata::microbench {

/// What a turn of such a loop costs its thread in hbm_shares.cu, where one SM alone gets 35.2 B/clk (series one_sm).
inline constexpr std::uint32_t kRingTurnClocks = 232;

/// Makes `op` copy `n` of a ring of `stages`. The first lap is issued without waiting.
inline void issue_in_ring(Operation& op, std::uint64_t n, std::uint32_t stages) {
  op.kind = OpKind::kTma;
  set_instructions(op, 8, 1);
  op.dependent_latency = n < stages ? 0 : kRingTurnClocks / kAluLatency;
  const auto slot = static_cast<std::uint8_t>(n % stages);
  op.waits[0] = wait_for(TokenClass::kMbarrier, slot, n / stages);
  op.completes[0] = signal(TokenClass::kMbarrier, slot);
}

/// Waits for the last lap of `copies` copies, one stage after the other.
inline Section drain_ring(std::uint64_t copies, std::uint32_t stages) {
  return Section{
      stages, [=](const StreamId&, std::uint64_t s, StreamCursor&, Operation& op) {
        op = hold(wait_for(TokenClass::kMbarrier, static_cast<std::uint8_t>(s), (copies + stages - 1 - s) / stages));
      }};
}

}  // namespace strata::microbench

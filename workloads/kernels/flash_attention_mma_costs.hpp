/// Instruction and wavefront counts of the public FlashAttention-2 kernel, and where they come from.
#pragma once

#include <cstdint>

#include "workloads/kernels/attention_common.hpp"

namespace strata {

/// Registers that a warp stores to local memory (one line per warp and store).
struct FlashMmaSpills {
  std::uint32_t once;
  std::uint32_t per_block;
};

/// At 255 registers, from stored sectors, 16 per CTA and store, of launches of 2.5 to 128 steps on average, H100 and
/// H200.
[[nodiscard]] inline FlashMmaSpills flash_mma_spills(const AttentionShape& shape, std::uint32_t registers, bool even) {
  if (registers < 255) return {0, 0};
  if (shape.head_dim > 64) {
    if (shape.causal) return {16, 14};
    return even ? FlashMmaSpills{14, 14} : FlashMmaSpills{7, 8};
  }
  if (shape.causal) return {26, 6};
  return even ? FlashMmaSpills{22, 6} : FlashMmaSpills{16, 6};
}

/// Warp instructions of a warp that the terms below leave, for the instances of the template that were recorded at
/// several lengths: exactly linear in the steps as well.
struct FlashMmaInstance {
  double once = 0;
  double per_block = 0;
};
[[nodiscard]] inline FlashMmaInstance flash_mma_instance(const AttentionShape& shape, std::uint32_t registers,
                                                         bool even, bool splits_keys) {
  if (splits_keys) return shape.head_dim > 64 ? FlashMmaInstance{59, -70} : FlashMmaInstance{};
  if (registers < 255 || !even) return {};
  if (shape.head_dim > 64) return shape.causal ? FlashMmaInstance{346, 19} : FlashMmaInstance{47, 22};
  return shape.causal ? FlashMmaInstance{41, -16} : FlashMmaInstance{};
}

namespace flash_mma_costs {

// Warp instructions, per warp. Counted from the algorithm: mma, ldmatrix, cp.async, one FFMA, MUFU, FADD and FMNMX per
// score, half an F2FP, one FMUL per output element, spill stores. The hardware's totals are exactly linear over 8 to
// 512 blocks (calibration rows of flash_fwd_kernel): 1676 per block for 128x128xd64, 1192 for 128x64xd128. What the
// counted ones leave, 1676 - 990 at 128 scores per thread and 1192 - 776 at 64, gives the two overhead terms.
inline constexpr double kOverheadPerBlock = 146.0;
inline constexpr double kOverheadPerScore = 4.21875;
inline constexpr double kCountedPerScore = 4.5;
// A causal block costs 302 more for 128 scores per thread (one calibration row): compare and select per score.
inline constexpr double kMaskPerScore = 2.36;
// Prologue and epilogue: 531 at 64 output elements per thread; 1234 at 128 in the kernel for ragged lengths, which
// also masks its first block (64 scores) and clears query rows out of range (128). The split-KV kernel, with 64 scores
// and 64 rows, has 1999 in all for one block, of which 1192 + 531 are the other terms: 2.5 a row in both.
inline constexpr double kOncePerCta = 300.0;
inline constexpr double kOncePerOutput = 3.61;
inline constexpr double kRaggedPerRow = 2.5;
inline constexpr std::uint32_t kPrologueSlots = 90;
inline constexpr std::uint32_t kCopyAddressSlots = 8;
inline constexpr std::uint32_t kBarrierSlots = 2;

// Warps that share rows take the keys of a step in turn, so that P stays where it is, and add up their outputs at the
// end. Wavefronts of seven launches of 1 to 128 steps (H200): 638 to 650 a step at d128, of which all but 11 are reads
// of K and V and fills; 1207 once, 214 of them as above; at d64 660 beyond.
inline constexpr std::uint32_t kSharedRowsStepWavefronts = 11;
inline constexpr double kSharedRowsOnceWavefronts = 337;
inline constexpr double kSharedRowsOnceWavefrontsPerOutput = 41;
// Prologues and epilogues of GEMMs take a warp alone 2.5 to 3.4 clk an instruction (docs/model/sm.md).
inline constexpr double kSharedRowsOnceClocks = 2.95;
inline constexpr double kFmaLatency = 4;

// Bank conflicts of the epilogue's staging through shared memory: 55 to 59 per CTA at d64.
inline constexpr std::uint32_t kEpilogueConflicts = 56;

// Time that a warp alone takes, from stall samples of every instruction (Nsight Compute, H200, three kernels at d64 and
// d128), waits for copies and barriers left out: 10.4 to 10.8 clk for each mma of Q K^T with its ldmatrix, 8.4 for each
// of P V, 1.46 for every other instruction. In latencies of mma.sync (24 clk) and of special functions (17 clk).
inline constexpr double kMmaLatency = 24;
inline constexpr double kMufuLatency = 17;
inline constexpr double kScoreMmaChain = 10.5 / kMmaLatency;
inline constexpr double kValueMmaChain = 8.4 / kMmaLatency;
inline constexpr double kOtherClocks = 1.46;
inline constexpr std::uint32_t kEpilogueChain = 40;

}  // namespace flash_mma_costs
}  // namespace strata

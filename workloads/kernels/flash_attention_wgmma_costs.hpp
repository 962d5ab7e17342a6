/// Instruction and wavefront counts of the TMA + wgmma attention kernel, and where they come from.
#pragma once

#include "workloads/kernels/flash_attention_wgmma.hpp"

namespace strata::flash_wgmma_costs {

// Warp instructions, from the calibration rows of cuDNN's sm90_flash_fprop_wgmma (2048 and 4096 tiles of 8 to 32
// blocks): 4668 per tile and block at d128, 4173 at d64; 2410 and 1523 once per tile. Counted from the algorithm:
// wgmma, one FFMA, MUFU, FADD and FMNMX per score, half an F2FP, one FMUL per output; the rest is linear in the
// outputs.
inline constexpr std::uint32_t kProducerPerLoad = 20;  ///< wait, arm, issue, advance (inferred)
inline constexpr std::uint32_t kProducerPerTile = 60;  ///< tile coordinates and hand-over (inferred)
inline constexpr double kOverheadPerBlock = 156.7;
inline constexpr double kPerOutput = 1.81;
inline constexpr double kPerScore = 4.5;
inline constexpr double kRescaleMufu = 2.0;
inline constexpr double kOncePerTile = 72.0;
inline constexpr double kOncePerOutput = 3.47;
// SASS: 137 instructions a diagonal block, 131 every block where the keys are no whole number of blocks, of 64 scores.
inline constexpr double kMaskPerScore = 2.1;

// Wavefronts beside the operand reads and the staging of O, from the same rows: 33 to 38 per block (mbarrier polls and
// arrivals, 4 a warp) and 102 to 126 per tile.
inline constexpr std::uint32_t kBarrierWavefronts = 8;
inline constexpr std::uint32_t kTileWavefronts = 56;

// Dependent steps: two rows per thread, so the row maximum and the row sum are two chains of half the scores each; two
// shuffle rounds of about six steps.
inline constexpr std::uint32_t kShuffleChain = 12;
inline constexpr std::uint32_t kEpilogueChain = 40;

/// The counts of cuDNN's kernel for a tile.
[[nodiscard]] inline FlashWgmmaCosts cudnn_costs(const FlashWgmmaConfig& c, std::uint32_t scores,
                                                 std::uint32_t outputs) {
  const std::uint32_t d = c.shape.head_dim;
  const double wgmmas = d / 16.0 + c.block_n / 16.0;
  const auto rounded = [](double v) { return static_cast<std::uint32_t>(v + 0.5); };
  return FlashWgmmaCosts{
      .producer_per_tile = kProducerPerTile,
      .producer_per_load = kProducerPerLoad,
      .block = rounded(wgmmas + kOverheadPerBlock + kPerOutput * outputs + kPerScore * scores + kRescaleMufu),
      .around = static_cast<std::uint32_t>(kOverheadPerBlock / 4),
      .mask = rounded(kMaskPerScore * scores),
      .once = rounded(kOncePerTile + kOncePerOutput * outputs),
      .exponential_chain = 2,
      .weaves = false,
      .block_wavefronts = 2 * kBarrierWavefronts,
      .once_wavefronts = kTileWavefronts,
      .takes_turns = true,
      .masks_last_keys = false,
      .rises = false};
}

}  // namespace strata::flash_wgmma_costs

/// Instructions of the ladder's attention kernels as compiled (sm_90a, CUDA 13.0.88), per warp, read off the SASS.
/// Summed over the CTAs of a launch they are the hardware's counts to the instruction (tests/unit/workloads/library/
/// ladder_attention_conformance_test.cpp).
#pragma once

#include <cstdint>

#include "workloads/kernels/ladder_attention.hpp"

namespace strata {

/// A kernel that loops over tiles of keys, or of the inner dimension.
struct LadderLoopCounts {
  std::uint32_t prologue;  ///< before the loop
  std::uint32_t block;     ///< of a block, what is listed below included, but `next` and `mask`
  std::uint32_t scores;    ///< of the block: the loop of Q K^T
  std::uint32_t values;    ///< of the block: the loop of weights V
  std::uint32_t first;     ///< once: copies of the first keys
  std::uint32_t next;      ///< of a block that another follows: copies of its keys
  std::uint32_t mask;      ///< of a block with hidden keys
  std::uint32_t epilogue;  ///< after the loop
  std::uint32_t registers;
  std::uint32_t moves_once;   ///< moves on the half-precision pipe, which the tensor counter includes: before the loop
  std::uint32_t moves_block;  ///< of a block
};

/// Throws UnsupportedError for a head dim or tile that the ladder does not have.
[[nodiscard]] const LadderLoopCounts& ladder_loop_counts(const LadderAttentionConfig& config);

}  // namespace strata

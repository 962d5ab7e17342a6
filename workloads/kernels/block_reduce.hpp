/// Reductions over the lanes of a warp and over the warps of a CTA, as PyTorch's kernels do them: shuffles, one value
/// per warp through shared memory, shuffles of the first warp.
#pragma once

#include <cstdint>

#include "workloads/kernels/cta_program.hpp"

namespace strata {

/// One level of a shuffle tree: its arithmetic beside the shuffle, and the latency it adds.
struct TreeLevel {
  Arithmetic combine;          ///< per value of the tree
  std::uint32_t shuffles = 1;  ///< values that move
};

/// Steps of ALU latency (4 clk) of a shuffle (24 clk), of a shared-memory access (23) and of __syncthreads (14.7 + 2
/// per warp), as measured (docs/model/measured.md).
inline constexpr double kShuffleSteps = 6;
inline constexpr double kSharedSteps = 6;
[[nodiscard]] double barrier_steps(std::uint32_t warps);

/// Shuffle tree over `lanes` lanes of every warp.
[[nodiscard]] CtaStep warp_reduce_step(const TreeLevel& level, std::uint32_t lanes, std::uint32_t warps);

/// Tree in every warp, one value per warp to shared memory, tree in the first warp, result to all through shared
/// memory: three barriers.
[[nodiscard]] CtaStep block_reduce_step(const TreeLevel& level, std::uint32_t warps);

}  // namespace strata

/// GEMM through the WMMA interface: tiles pass through registers into padded shared memory, fragments are loaded by the
/// compiler's own mix of instructions, results leave through a small patch of shared memory.
///
/// gemm_cta.hpp says how tiles come and go; what the compiler makes of the fragment loads differs by type and layout
/// and is given as counts.
#pragma once

#include <cstdint>
#include <memory>

#include "workloads/kernels/gemm_cta.hpp"

namespace strata {

struct GemmWmmaConfig : GemmCtaConfig {
  std::uint32_t mma_k = 16;               ///< elements of K of one m16n8 instruction
  std::uint32_t timed_k = 0;              ///< K of the instruction that takes as long; 0 = mma_k
  std::uint32_t insts_per_k_tile = 0;     ///< warp instructions of a warp and K tile, all together
  std::uint32_t lead_insts = 0;           ///< of these, before the first multiply-add: loads' addresses and predicates
  std::uint32_t fragment_wavefronts = 0;  ///< of a warp and K tile: fragment loads and register transposes
  std::uint32_t fragment_conflicts = 0;   ///< of these, beyond the minimum
  std::uint32_t generic_loads = 0;        ///< of a warp and K tile: fragment loads through generic addresses
  std::uint32_t k_contiguous_ways = 1;    ///< bank conflicts of storing a tile whose rows run along K
};

/// Throws InputError with the problems of check_gemm_cta().
[[nodiscard]] std::unique_ptr<TraceSource> make_gemm_wmma(const GemmWmmaConfig& config, const TargetFacts& target);

}  // namespace strata

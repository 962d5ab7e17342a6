/// FlashAttention-3 style forward: a TMA producer warp and two consumer warpgroups of 64 query rows each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "workloads/kernels/attention_common.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

enum class AttentionSchedule : std::uint8_t {
  kPlain,    ///< one query tile per CTA
  kDynamic,  ///< persistent CTAs take tiles from a counter: one atomic per tile and a last one per CTA
};

/// Warp instructions and shared-memory wavefronts of one implementation.
struct FlashWgmmaCosts {
  std::uint32_t producer_per_tile;  ///< of the producer warp: tile coordinates, Q
  std::uint32_t producer_per_load;  ///< of the producer warp and K or V tile: wait, arm, issue, advance
  std::uint32_t block;              ///< of a consumer warp and block, wgmmas included
  std::uint32_t around;             ///< of these, at each of the two products: waits and addresses
  std::uint32_t mask;               ///< more, in a block with hidden keys
  std::uint32_t once;               ///< of a consumer warp and tile
  std::uint32_t exponential_chain;  ///< of a block's exponentials, steps of one that wait for one another
  bool weaves;                      ///< sums and conversions of the weights are issued between the exponentials
  std::uint32_t block_wavefronts;   ///< of a warpgroup and block beside the operands: shuffles, barriers
  std::uint32_t once_wavefronts;
  bool takes_turns;      ///< one warpgroup's softmax at a time, and both end a tile together
  bool masks_last_keys;  ///< a ragged last block is masked by the softmax too
  bool rises;            ///< visits keys from the first to the last
};

struct FlashWgmmaConfig {
  AttentionShape shape;
  std::uint32_t block_n = 128;  ///< K/V rows of a step: 64, 128, 192 or 256
  std::uint32_t stages = 2;     ///< ring slots for K and for V each, 1..8
  AttentionSchedule schedule = AttentionSchedule::kDynamic;
  bool longest_first = true;  ///< causal: query tiles of a head from last to first
  std::uint32_t persistent_ctas = 132;
  bool pipelined = false;  ///< next QK^T is issued before this PV, so a warpgroup's softmax overlaps with its own PV
  bool writes_lse = false;
  std::optional<FlashWgmmaCosts> costs;  ///< none = cuDNN's
  std::uint32_t registers = 168;
  std::uint32_t smem_dynamic_bytes = 0;  ///< 0 = computed
  std::string name = "flash_attention_wgmma";
};

inline constexpr std::uint32_t kWgmmaAttentionBlockM = 128;  ///< query rows of a CTA's tile

/// Shared memory of a CTA in bytes: two Q tiles, `stages` K and V tiles, the O tile and barriers.
[[nodiscard]] std::uint64_t flash_wgmma_smem_bytes(const FlashWgmmaConfig& config);

/// Query tiles head after head, K/V blocks from last to first.
///
/// The tiles that a dynamic schedule hands out are dealt ahead of time to the CTA with the least work so far, in K/V
/// blocks; the cost of asking is simulated. Not modelled: split KV, paged KV, packed GQA.
[[nodiscard]] std::unique_ptr<TraceSource> make_flash_attention_wgmma(const FlashWgmmaConfig& config);

}  // namespace strata

/// The attention kernels of validation/kernels/attention, one generator for each rung of the ladder.
///
/// Their source is at hand, so tiles, order, barriers and waits mirror it; instruction counts are read off the compiled
/// code (sm_90a, CUDA 13.0). The TMA + wgmma rung is flash_attention_wgmma with counts of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/kernels/attention_common.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

enum class LadderAttentionKernel : std::uint8_t {
  kUnfusedScores,   ///< scores = Q K^T, 64x64x16 tiles
  kUnfusedSoftmax,  ///< softmax over rows of scores in memory
  kUnfusedValues,   ///< output = weights V
  kNaiveStrided,    ///< one CTA a row, one key a lane
  kNaiveCoalesced,  ///< one CTA a row, one key a warp
  kTiled,           ///< 32x32 tiles, scores and output in shared memory
  kFlash,           ///< 64x64 tiles, online softmax, output in registers, fp32
  kMma,             ///< FlashAttention-2 style: mma.sync
  kDecodeSplit,     ///< one query row, a split of the keys for each CTA
  kDecodeGrouped,   ///< the same for all query heads of a group at once, with mma.sync
  kDecodeCombine,   ///< puts the splits together
};

struct LadderAttentionConfig {
  LadderAttentionKernel kernel = LadderAttentionKernel::kFlash;
  AttentionShape shape;
  std::uint32_t query_rows = 64;   ///< mma: query rows of a CTA, 64 or 128
  std::uint32_t key_rows = 64;     ///< mma: keys of a block, 32 or 64
  bool padded = true;              ///< tiled: rows of d + 1 floats
  bool double_buffered = false;    ///< flash: two stages of K and V
  std::uint32_t split_keys = 256;  ///< decode: keys of a split
  std::uint32_t registers = 0;     ///< 0 = as compiled
  std::string name;
};

/// Throws UnsupportedError where the ladder has no such kernel (a head dim, a tile).
[[nodiscard]] std::unique_ptr<TraceSource> make_ladder_attention(const LadderAttentionConfig& config);

}  // namespace strata

/// FlashAttention-2 forward: cp.async, ldmatrix and mma.sync, all warps in step, one query tile (and split) per CTA.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/kernels/attention_common.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

/// How CTAs are numbered.
enum class FlashGrid : std::uint8_t {
  kTilesBatchHeads,   ///< FlashAttention-2
  kTilesSplitsHeads,  ///< FlashAttention-2 with split KV: z counts the heads of every batch
  kTilesHeadsBatch,   ///< cuDNN: x counts the tiles of every split
};

struct FlashMmaConfig {
  AttentionShape shape;
  std::uint32_t block_m = 128;  ///< query rows of a CTA, a multiple of 16
  std::uint32_t block_n = 128;  ///< K/V rows of a step, a multiple of 32
  std::uint32_t warps = 4;
  bool warps_share_rows =
      false;  ///< warps divide the keys of a step, not the query rows, and add up their outputs at the end
  FlashGrid grid = FlashGrid::kTilesBatchHeads;
  std::uint32_t splits = 1;       ///< CTAs that divide the keys of a query tile
  bool writes_partials = false;   ///< fp32 O and LSE of every split, for a launch that combines them
  double once_per_output = 0;     ///< warp instructions before and after the steps, by output element of a thread; 0 =
                                  ///< FlashAttention-2's
  double overhead_per_block = 0;  ///< warp instructions of a step beside the counted ones; 0 = FlashAttention-2's
  std::uint32_t registers = 255;
  bool even_mn = true;                   ///< compiled for lengths that are multiples of the blocks
  std::uint32_t resident_ctas = 264;     ///< CTAs on the GPU at once: spilled registers reuse that many frames
  std::uint32_t smem_dynamic_bytes = 0;  ///< 0 = computed: Q tile plus one K and one V tile
  std::string name = "flash_attention_mma";
};

/// Shared memory of a CTA in bytes: the Q tile and one tile each of K and V.
[[nodiscard]] std::uint64_t flash_mma_smem_bytes(const FlashMmaConfig& config);

/// Bytes of registers that all CTAs of a launch without splits spill.
[[nodiscard]] double flash_mma_spilled_bytes(const FlashMmaConfig& config);

/// Grid (query tiles, batch, heads), K/V blocks from last to first as the public kernel visits them.
/// Splits divide the steps as evenly as whole steps allow, the last one takes what is left, as the public kernel does.
/// Not modelled: reloads of spilled registers (they hit L1), dropout, ALiBi, windows, paged keys.
[[nodiscard]] std::unique_ptr<TraceSource> make_flash_attention_mma(const FlashMmaConfig& config);

}  // namespace strata

/// FlashAttention-2 forward: cp.async, ldmatrix and mma.sync, four warps in step, one query tile per CTA.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/kernels/attention_common.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

struct FlashMmaConfig {
  AttentionShape shape;
  std::uint32_t block_m = 128;  ///< query rows of a CTA, a multiple of 64
  std::uint32_t block_n = 128;  ///< K/V rows of a step, a multiple of 32
  std::uint32_t registers = 255;
  bool even_mn = true;                   ///< compiled for lengths that are multiples of the blocks
  std::uint32_t resident_ctas = 264;     ///< CTAs on the GPU at once: spilled registers reuse that many frames
  std::uint32_t smem_dynamic_bytes = 0;  ///< 0 = computed: Q tile plus one K and one V tile
  std::string name = "flash_attention_mma";
};

/// Shared memory of a CTA in bytes: the Q tile and one tile each of K and V.
[[nodiscard]] std::uint64_t flash_mma_smem_bytes(const FlashMmaConfig& config);

/// Grid (query tiles, batch, heads), K/V blocks from last to first as the public kernel visits them.
/// Not modelled: reloads of spilled registers (they hit L1), dropout, ALiBi, windows, split KV.
[[nodiscard]] std::unique_ptr<TraceSource> make_flash_attention_mma(const FlashMmaConfig& config);

}  // namespace strata

/// Which query tile and keys a CTA of the mma.sync attention has, and where its rows lie.
#pragma once

#include <cstdint>

#include "workloads/kernels/flash_attention_mma.hpp"

namespace strata {

class FlashMmaTiles {
 public:
  /// @param frame_bytes  spilled registers of one CTA
  FlashMmaTiles(const FlashMmaConfig& config, std::uint64_t frame_bytes);

  struct Tile {
    std::uint32_t first_row;
    std::uint32_t rows;
    std::uint32_t first_block;  ///< of K and V
    std::uint32_t blocks;
    std::uint64_t q_row;   ///< first row of the tile in Q
    std::uint64_t o_row;   ///< and in O, or in the partials
    std::uint64_t kv_row;  ///< first row of the head in K and V
    std::uint64_t frame;   ///< address of the CTA's spill frame
  };
  [[nodiscard]] Tile at(std::uint64_t cta) const;

  [[nodiscard]] Dim3 grid() const;
  [[nodiscard]] std::uint32_t q_tiles() const;
  /// Whether all splits have the same number of steps (without a causal mask).
  [[nodiscard]] bool equal_splits() const;

  AttentionLayout layout;
  std::uint32_t row_bytes = 0;    ///< of Q, K and V
  std::uint32_t o_row_bytes = 0;  ///< of O, or of the fp32 partials
  std::uint64_t o_base = 0;
  std::uint64_t lse_base = 0;
  std::uint64_t scratch_bytes = 0;  ///< partials and spill frames
  std::uint64_t partial_bytes = 0;  ///< fp32 O and LSE of every split

 private:
  struct Place {
    std::uint32_t tile;
    std::uint32_t split;
    std::uint32_t batch;
    std::uint32_t head;
  };
  [[nodiscard]] Place place_of(std::uint64_t cta) const;

  FlashMmaConfig c_;
  std::uint64_t frame_bytes_;
  std::uint64_t q_rows_ = 0;  ///< of all heads
  std::uint64_t spill_base_ = 0;
};

}  // namespace strata

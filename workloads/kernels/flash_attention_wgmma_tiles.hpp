/// Which query tiles a CTA of the wgmma attention kernel works on, in order.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/kernels/flash_attention_wgmma.hpp"

namespace strata {

struct WgmmaAttentionTile {
  std::uint32_t first_row;  ///< within the sequence
  std::uint32_t blocks;     ///< K/V blocks it visits
  std::uint64_t q_row;      ///< first row of the tile in Q and O
  std::uint64_t kv_row;     ///< first row of the head in K and V
};

/// Plain: CTA i takes tile i. Dynamic: the tiles are dealt in order, each to the CTA with the least work so far (lowest
/// index first), which is what a counter gives when blocks take equally long. A tile's start and end weigh half a
/// block.
class WgmmaAttentionTiles {
 public:
  /// Dynamic: without tiles [gap, gap + gap_size).
  WgmmaAttentionTiles(const FlashWgmmaConfig& config, std::uint64_t gap, std::uint64_t gap_size);

  [[nodiscard]] bool dynamic() const { return dynamic_; }
  [[nodiscard]] std::uint64_t count() const { return num_tiles_; }
  [[nodiscard]] std::uint32_t q_tiles() const { return q_tiles_; }
  [[nodiscard]] std::uint64_t count_of(std::uint64_t cta) const {
    return dynamic_ ? first_tile_[cta + 1] - first_tile_[cta] : 1;
  }
  [[nodiscard]] WgmmaAttentionTile tile(std::uint64_t cta, std::uint64_t index) const;

 private:
  [[nodiscard]] std::uint32_t first_row_of(std::uint64_t tile) const;
  void deal(std::uint32_t ctas, std::uint64_t gap, std::uint64_t gap_size);

  AttentionShape shape_;
  std::uint32_t block_n_;
  bool dynamic_;
  bool backwards_;
  std::uint32_t q_tiles_;
  std::uint64_t num_tiles_;
  std::vector<std::uint64_t> first_tile_;  ///< per CTA, where its tiles start in dealt_
  std::vector<std::uint32_t> dealt_;
};

}  // namespace strata

#include "workloads/kernels/flash_attention_mma_tiles.hpp"

#include <algorithm>

namespace strata {

FlashMmaTiles::FlashMmaTiles(const FlashMmaConfig& config, std::uint64_t frame_bytes)
    : layout(lay_out(config.shape)), c_(config), frame_bytes_(frame_bytes) {
  constexpr std::uint64_t kPartialBytes = 4;
  const AttentionShape& s = c_.shape;
  q_rows_ = std::uint64_t{s.batch} * s.heads * s.q_len;
  row_bytes = static_cast<std::uint32_t>(s.head_dim * layout.element_bytes);
  o_row_bytes = c_.writes_partials ? s.head_dim * kPartialBytes : row_bytes;
  o_base = c_.writes_partials ? layout.scratch : layout.o;
  lse_base = c_.writes_partials ? layout.scratch + c_.splits * q_rows_ * o_row_bytes : layout.lse;
  partial_bytes = c_.writes_partials ? c_.splits * q_rows_ * (o_row_bytes + kPartialBytes) : 0;
  spill_base_ = layout.scratch + (partial_bytes + 127) / 128 * 128;
  scratch_bytes = spill_base_ - layout.scratch + frame_bytes * c_.resident_ctas;
}

std::uint32_t FlashMmaTiles::q_tiles() const { return (c_.shape.q_len + c_.block_m - 1) / c_.block_m; }

bool FlashMmaTiles::equal_splits() const { return (c_.shape.kv_len + c_.block_n - 1) / c_.block_n % c_.splits == 0; }

Dim3 FlashMmaTiles::grid() const {
  const AttentionShape& s = c_.shape;
  switch (c_.grid) {
    case FlashGrid::kTilesSplitsHeads:
      return {q_tiles(), c_.splits, s.batch * s.heads};
    case FlashGrid::kTilesHeadsBatch:
      return {q_tiles() * c_.splits, s.heads, s.batch};
    default:
      return {q_tiles(), s.batch, s.heads};
  }
}

FlashMmaTiles::Place FlashMmaTiles::place_of(std::uint64_t cta) const {
  const Dim3 g = grid();
  const auto x = static_cast<std::uint32_t>(cta % g.x);
  const auto y = static_cast<std::uint32_t>(cta / g.x % g.y);
  const auto z = static_cast<std::uint32_t>(cta / g.x / g.y);
  switch (c_.grid) {
    case FlashGrid::kTilesSplitsHeads:
      return {x, y, z / c_.shape.heads, z % c_.shape.heads};
    case FlashGrid::kTilesHeadsBatch:
      return {x % q_tiles(), x / q_tiles(), z, y};
    default:
      return {x, 0, y, z};
  }
}

FlashMmaTiles::Tile FlashMmaTiles::at(std::uint64_t cta) const {
  const AttentionShape& s = c_.shape;
  const Place place = place_of(cta);
  Tile t{};
  t.first_row = place.tile * c_.block_m;
  t.rows = std::min(c_.block_m, s.q_len - t.first_row);
  const std::uint32_t all = (s.kv_len + c_.block_n - 1) / c_.block_n;
  const std::uint32_t per_split = (all + c_.splits - 1) / c_.splits;
  const std::uint32_t visible = visible_kv_blocks(s, t.first_row, c_.block_m, c_.block_n);
  t.first_block = std::min(place.split * per_split, visible);
  t.blocks = std::min(t.first_block + per_split, visible) - t.first_block;
  t.q_row = (std::uint64_t{place.batch} * s.heads + place.head) * s.q_len + t.first_row;
  t.kv_row = (std::uint64_t{place.batch} * s.kv_heads + place.head / (s.heads / s.kv_heads)) * s.kv_len;
  t.o_row = c_.writes_partials ? place.split * q_rows_ + t.q_row : t.q_row;
  t.frame = spill_base_ + cta % c_.resident_ctas * frame_bytes_;
  return t;
}

}  // namespace strata

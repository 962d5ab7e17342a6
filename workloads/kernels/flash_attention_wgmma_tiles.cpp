#include "workloads/kernels/flash_attention_wgmma_tiles.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace strata {
namespace {

constexpr std::uint32_t kBlockM = kWgmmaAttentionBlockM;

}  // namespace

WgmmaAttentionTiles::WgmmaAttentionTiles(const FlashWgmmaConfig& config, std::uint64_t gap, std::uint64_t gap_size)
    : shape_(config.shape),
      block_n_(config.block_n),
      dynamic_(config.schedule == AttentionSchedule::kDynamic),
      backwards_(config.shape.causal && config.longest_first),
      q_tiles_((config.shape.q_len + kBlockM - 1) / kBlockM),
      num_tiles_(std::uint64_t{q_tiles_} * config.shape.heads * config.shape.batch) {
  if (dynamic_) deal(std::max(1U, config.persistent_ctas), gap, gap_size);
}

std::uint32_t WgmmaAttentionTiles::first_row_of(std::uint64_t tile) const {
  const auto q_tile = static_cast<std::uint32_t>(tile % q_tiles_);
  return (backwards_ ? q_tiles_ - 1 - q_tile : q_tile) * kBlockM;
}

WgmmaAttentionTile WgmmaAttentionTiles::tile(std::uint64_t cta, std::uint64_t index) const {
  const std::uint64_t tile = dynamic_ ? dealt_[first_tile_[cta] + index] : cta;
  const std::uint64_t head = tile / q_tiles_ % shape_.heads;
  const std::uint64_t batch = tile / q_tiles_ / shape_.heads;
  WgmmaAttentionTile t{};
  t.first_row = first_row_of(tile);
  t.blocks = visible_kv_blocks(shape_, t.first_row, kBlockM, block_n_);
  t.q_row = (batch * shape_.heads + head) * shape_.q_len + t.first_row;
  t.kv_row = (batch * shape_.kv_heads + head / (shape_.heads / shape_.kv_heads)) * shape_.kv_len;
  return t;
}

void WgmmaAttentionTiles::deal(std::uint32_t ctas, std::uint64_t gap, std::uint64_t gap_size) {
  using Load = std::pair<std::uint64_t, std::uint32_t>;  // half blocks, CTA
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (std::uint32_t i = 0; i < ctas; ++i) loads.emplace(0, i);
  std::vector<std::vector<std::uint32_t>> tiles_of(ctas);
  for (std::uint64_t tile = 0; tile < num_tiles_; ++tile) {
    if (tile >= gap && tile - gap < gap_size) continue;
    const auto [load, cta] = loads.top();
    loads.pop();
    tiles_of[cta].push_back(static_cast<std::uint32_t>(tile));
    loads.emplace(load + 2 * visible_kv_blocks(shape_, first_row_of(tile), kBlockM, block_n_) + 1, cta);
  }
  first_tile_.assign(1, 0);
  for (const std::vector<std::uint32_t>& tiles : tiles_of) {
    dealt_.insert(dealt_.end(), tiles.begin(), tiles.end());
    first_tile_.push_back(dealt_.size());
  }
}

}  // namespace strata

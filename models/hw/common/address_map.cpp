#include "models/hw/common/address_map.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "models/hw/common/chunk.hpp"

namespace strata {

AddressMap::AddressMap(const GpuConfig& config) {
  partitions_ = static_cast<std::uint32_t>(config.l2.partitions);
  group_shift_ = partitions_ == 2 ? 1 : 0;
  slices_per_partition_ = static_cast<std::uint32_t>(config.l2.slices) / partitions_;
  const std::uint32_t channels = static_cast<std::uint32_t>(config.num_pseudo_channels()) / partitions_;
  channels_per_partition_ = FixedDivisor(channels);
  for (std::uint32_t c = 0; c < channels && c < channel_.size(); ++c) {
    channel_[c].slice = static_cast<std::uint8_t>(c * slices_per_partition_ / channels);
  }
  channels_of_slice_.fill(0);
  const std::uint32_t known = std::min(channels, static_cast<std::uint32_t>(channel_.size()));
  for (std::uint32_t c = known; c-- > 0;) {
    first_channel_[channel_[c].slice] = static_cast<std::uint8_t>(c);
    ++channels_of_slice_[channel_[c].slice];
  }
  for (std::uint32_t c = 0; c < known; ++c) {
    channel_[c].in_slice = channels_of_slice_[channel_[c].slice];
    channel_[c].of_slice = static_cast<std::uint8_t>(c - first_channel_[channel_[c].slice]);
  }
  const std::uint32_t block = static_cast<std::uint32_t>(config.l2.home_interleave_bytes) / kLineBytes;
  block_shift_ = static_cast<std::uint32_t>(std::countr_zero(std::bit_floor(std::max(1U, block))));
  banks_ = std::bit_floor(static_cast<std::uint32_t>(config.hbm.bank_groups * config.hbm.banks_per_group));
  const std::uint32_t lines_per_super = static_cast<std::uint32_t>(config.num_pseudo_channels()) *
                                        static_cast<std::uint32_t>(config.hbm.row_bytes) / kLineBytes;
  blocks_per_super_ = FixedDivisor(std::max(partitions_, lines_per_super / block));
  const auto lines =
      static_cast<std::uint64_t>(config.l2.data_share * static_cast<double>(config.l2.size_bytes) / kLineBytes);
  sets_per_slice_ = static_cast<std::uint32_t>(std::max<std::uint64_t>(
      1, lines / static_cast<std::uint64_t>(config.l2.slices) / static_cast<std::uint64_t>(config.l2.ways)));
  sets_ = FixedDivisor(sets_per_slice_);
  const std::uint32_t dealt = blocks_per_super_.divisor() / partitions_ << block_shift_;
  turns_per_super_ = FixedDivisor((dealt / 2 + channels - 1) / channels * 2);
  blocks_ = std::max(1U, dealt >> kBlockShift);
  first_pair_.resize(std::size_t{kOrders} * blocks_);
  block_at_.resize(first_pair_.size());
  for (std::uint32_t o = 0; o < kOrders; ++o) {
    std::uint16_t* const at = &block_at_[std::size_t{o} * blocks_];
    std::iota(at, at + blocks_, std::uint16_t{0});
    for (std::uint32_t i = blocks_; i > 1; --i) {
      std::swap(at[i - 1], at[mix(o * blocks_ + i) % i]);
    }
    for (std::uint32_t turn = 0; turn < blocks_; ++turn) {
      const std::uint32_t first = mix(~(o * blocks_ + turn)) & 3U;
      first_pair_[std::size_t{o} * blocks_ + at[turn]] = static_cast<std::uint16_t>(turn << 2 | first);
    }
  }
}

std::uint32_t AddressMap::line_of(const Place& p) const {
  const std::uint32_t round = p.tag / 2;
  const std::uint32_t slice = sets_.quotient(p.set);
  std::uint32_t set = sets_.remainder(p.set) + sets_per_slice_ - rotation(round);
  set -= set >= sets_per_slice_ ? sets_per_slice_ : 0U;
  const std::uint32_t order = round * sets_per_slice_ + set;
  const std::uint32_t turn = order / channels_of_slice_[slice];
  const std::uint32_t local = first_channel_[slice] + order % channels_of_slice_[slice];
  const std::uint32_t super = turns_per_super_.quotient(turn);
  const std::uint32_t h = mix(super);
  const std::uint32_t channels = channels_per_partition_.divisor();
  const std::uint32_t offset = channels_per_partition_.remainder(local + channels - start_of(h));
  const std::uint32_t lap = turns_per_super_.remainder(turn);
  const std::uint32_t dealt = pair_at(lap / 2 * channels + offset, h) << 1 | (lap & 1U);
  std::uint32_t index = dealt >> block_shift_;
  if (partitions_ == 2) {
    const std::uint32_t group = index;
    index = 2 * group + ((p.tag + (h >> 20) + group) & 1U);
  }
  const std::uint32_t in_block = dealt & ((1U << block_shift_) - 1);
  return ((super * blocks_per_super_.divisor() + index) << block_shift_) + in_block;
}

}  // namespace strata

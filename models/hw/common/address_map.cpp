#include "models/hw/common/address_map.hpp"

#include <algorithm>
#include <bit>

#include "models/hw/common/chunk.hpp"

namespace strata {

AddressMap::AddressMap(const GpuConfig& config) {
  partitions_ = static_cast<std::uint32_t>(config.l2.partitions);
  slices_per_partition_ = static_cast<std::uint32_t>(config.l2.slices) / partitions_;
  const std::uint32_t channels = static_cast<std::uint32_t>(config.num_pseudo_channels()) / partitions_;
  channels_per_partition_ = FixedDivisor(channels);
  for (std::uint32_t c = 0; c < channels && c < slice_of_channel_.size(); ++c) {
    slice_of_channel_[c] = static_cast<std::uint8_t>(c * slices_per_partition_ / channels);
  }
  const std::uint32_t block = static_cast<std::uint32_t>(config.l2.home_interleave_bytes) / kLineBytes;
  block_shift_ = static_cast<std::uint32_t>(std::countr_zero(std::bit_floor(std::max(1U, block))));
  banks_ = std::bit_floor(static_cast<std::uint32_t>(config.hbm.bank_groups * config.hbm.banks_per_group));
  const std::uint32_t lines_per_super = static_cast<std::uint32_t>(config.num_pseudo_channels()) *
                                        static_cast<std::uint32_t>(config.hbm.row_bytes) / kLineBytes;
  blocks_per_super_ = FixedDivisor(std::max(partitions_, lines_per_super / block));
  const std::uint64_t lines = static_cast<std::uint64_t>(config.l2.size_bytes) / kLineBytes;
  sets_per_slice_ = static_cast<std::uint32_t>(std::max<std::uint64_t>(
      1, lines / static_cast<std::uint64_t>(config.l2.slices) / static_cast<std::uint64_t>(config.l2.ways)));
}

}  // namespace strata

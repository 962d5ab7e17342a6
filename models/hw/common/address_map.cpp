#include "models/hw/common/address_map.hpp"

#include <algorithm>

#include "models/hw/common/chunk.hpp"

namespace strata {

AddressMap::AddressMap(const GpuConfig& config) {
  partitions_ = static_cast<std::uint32_t>(config.l2.partitions);
  slices_per_partition_ = static_cast<std::uint32_t>(config.l2.slices) / partitions_;
  channels_per_partition_ = static_cast<std::uint32_t>(config.num_pseudo_channels()) / partitions_;
  lines_per_block_ = static_cast<std::uint32_t>(config.l2.home_interleave_bytes) / kLineBytes;
  banks_ = static_cast<std::uint32_t>(config.hbm.bank_groups * config.hbm.banks_per_group);
  const std::uint32_t lines_per_super = static_cast<std::uint32_t>(config.num_pseudo_channels()) *
                                        static_cast<std::uint32_t>(config.hbm.row_bytes) / kLineBytes;
  blocks_per_super_ = std::max(partitions_, lines_per_super / lines_per_block_);
  const std::uint64_t lines = static_cast<std::uint64_t>(config.l2.size_bytes) / kLineBytes;
  sets_per_slice_ = static_cast<std::uint32_t>(std::max<std::uint64_t>(
      1, lines / static_cast<std::uint64_t>(config.l2.slices) / static_cast<std::uint64_t>(config.l2.ways)));
}

}  // namespace strata

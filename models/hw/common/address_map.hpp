/// Where a line lives: home partition, slice, pseudo-channel, bank, row and tag set.
#pragma once

#include <array>
#include <cstdint>

#include "sim/config/gpu_config.hpp"

namespace strata {

/// Division by a number that is fixed for a run, as one multiplication. Exact for 32-bit dividends.
class FixedDivisor {
 public:
  FixedDivisor() = default;
  explicit FixedDivisor(std::uint32_t d) : divisor_(d), factor_(~std::uint64_t{0} / d + 1) {}
  [[nodiscard]] std::uint32_t quotient(std::uint32_t x) const {
    return divisor_ == 1 ? x : static_cast<std::uint32_t>((static_cast<Wide>(factor_) * x) >> 64);
  }
  [[nodiscard]] std::uint32_t remainder(std::uint32_t x) const { return x - quotient(x) * divisor_; }
  [[nodiscard]] std::uint32_t divisor() const { return divisor_; }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint32_t divisor_ = 1;
  std::uint64_t factor_ = 0;
};

struct LineHome {
  std::uint8_t partition;        ///< L2 partition of the point of coherence
  std::uint16_t slice;           ///< slice within a partition, 0 .. slices / partitions - 1
  std::uint16_t pseudo_channel;  ///< over the whole GPU
  std::uint8_t bank;
  std::uint32_t row;
};

/// The memory is cut into super-blocks that hold one row of every pseudo-channel. Inside one, blocks of
/// `home_interleave_bytes` alternate between partitions, and lines are dealt to the partition's pseudo-channels by a
/// rotation with coprime strides, so any run of consecutive lines and any column of a power-of-two pitch spreads
/// evenly. Source: consecutive 8 KiB alternate between partitions (measured on A100); the rest of the real hash is not
/// public.
class AddressMap {
 public:
  AddressMap() = default;
  explicit AddressMap(const GpuConfig& config);

  [[nodiscard]] LineHome home(std::uint32_t line) const {
    const std::uint32_t block = line >> block_shift_;
    const std::uint32_t in_block = line & ((1U << block_shift_) - 1);
    const std::uint32_t super = blocks_per_super_.quotient(block);
    const std::uint32_t index = block - super * blocks_per_super_.divisor();
    const std::uint32_t h = mix(super);
    const std::uint32_t group = index / 2;
    LineHome out;
    out.partition = static_cast<std::uint8_t>(partitions_ == 2 ? (index + (h >> 20) + group) & 1U : 0U);
    const std::uint32_t local = channels_per_partition_.remainder(in_block + group * kGroupStride + (h & 0xffffU));
    out.slice = slices_per_partition_ == channels_per_partition_.divisor()
                    ? static_cast<std::uint16_t>(local)
                    : static_cast<std::uint16_t>(slice_of_channel_[local]);
    out.pseudo_channel = static_cast<std::uint16_t>(out.partition * channels_per_partition_.divisor() + local);
    out.bank = static_cast<std::uint8_t>((super ^ (h >> 8)) & (banks_ - 1));
    out.row = super;
    return out;
  }
  /// The name under which tag arrays know a line: a bijection, so that its upper bits can choose the set.
  [[nodiscard]] static std::uint32_t tag(std::uint32_t line) { return mix(line); }
  /// Tag set of a line within its partition. The near copy of a far line uses the slice and set it would have at home.
  [[nodiscard]] std::uint32_t set(std::uint32_t tag, std::uint32_t slice) const {
    return slice * sets_per_slice_ + static_cast<std::uint32_t>((std::uint64_t{tag} * sets_per_slice_) >> 32);
  }
  /// With this many sets a slice's set implies the upper 8 bits of the tag.
  [[nodiscard]] bool set_implies_top() const { return sets_per_slice_ >= 256; }
  /// The line behind a tag found in `set` of a partition; `tag` may lack its upper 8 bits when the set implies them.
  [[nodiscard]] std::uint32_t line_of(std::uint32_t tag, std::uint32_t set) const {
    if (set_implies_top()) {
      const std::uint64_t s = set % sets_per_slice_;
      const auto first = static_cast<std::uint32_t>(((s << 32) + sets_per_slice_ - 1) / sets_per_slice_);
      tag = (first & 0xff000000U) | (tag & 0xffffffU);
      tag += tag < first ? 0x1000000U : 0U;
    }
    return unmix(tag);
  }
  [[nodiscard]] std::uint32_t sets_per_slice() const { return sets_per_slice_; }
  [[nodiscard]] std::uint32_t slices_per_partition() const { return slices_per_partition_; }
  [[nodiscard]] std::uint32_t partitions() const { return partitions_; }

 private:
  static constexpr std::uint32_t kGroupStride = 37;  ///< coprime to 40, 80 and 96 channels per partition
  static std::uint32_t mix(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    x ^= x >> 16;
    return x;
  }
  static std::uint32_t unmix(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x43021123U;  // inverse of 0x846ca68b modulo 2^32
    x ^= x >> 15 ^ x >> 30;
    x *= 0x1d69e2a5U;  // inverse of 0x7feb352d
    x ^= x >> 16;
    return x;
  }
  std::uint32_t block_shift_ = 6;  ///< log2 of the lines of an interleave block
  FixedDivisor blocks_per_super_;
  std::uint32_t partitions_ = 2;
  std::uint32_t slices_per_partition_ = 40;
  FixedDivisor channels_per_partition_;
  std::array<std::uint8_t, 256> slice_of_channel_{};
  std::uint32_t banks_ = 16;
  std::uint32_t sets_per_slice_ = 320;
};

}  // namespace strata

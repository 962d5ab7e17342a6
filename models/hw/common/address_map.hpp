/// Where a line lives: home partition, slice, pseudo-channel, bank, row and tag set.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

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
  std::uint32_t row;    ///< piece of a row, counted over the memory
  std::uint32_t order;  ///< counts the lines of a slice in the order of their addresses
};

/// The memory is cut into super-blocks that hold one row of every pseudo-channel. Inside one, the two halves of every
/// two times `home_interleave_bytes` belong to one partition each. In a partition every 1 KiB goes, in an order hashed
/// from the super-block, to the next four pseudo-channels, two lines to each; their two slices take them by turns.
/// Source: latencies of 4 MiB of lines from eight SMs of an H200, which tell the slices apart: docs/model/l2.md. The
/// order that the real hash makes is not public.
class AddressMap {
 public:
  /// A piece of a row is what lies together in memory, two lines; the bank counts each as a row of its own, because
  /// hardware opens a row anew for the next one: reads of 64 B are as slow 256 B apart as at random places.
  static constexpr std::uint32_t kPiecesOfRow = 8;

  AddressMap() = default;
  explicit AddressMap(const GpuConfig& config);

  /// What lines that lie near one another have in common, kept from one look-up to the next.
  struct Common {
    std::uint32_t super = 0;
    std::uint32_t first_block = 0;
    std::uint32_t blocks = 0;  ///< of the super-block; 0 = nothing known yet
    std::uint32_t hash = 0;
    std::uint32_t start = 0;  ///< where dealing starts
    std::uint32_t round = 0;
    std::uint32_t first_order = 0;
    std::uint32_t sets = 0;  ///< likewise, for the round
    std::uint32_t rotation = 0;
  };

  [[nodiscard]] LineHome home(std::uint32_t line) const {
    Common none;
    return home(line, none);
  }
  [[nodiscard]] LineHome home(std::uint32_t line, Common& near) const {
    const std::uint32_t block = line >> block_shift_;
    const std::uint32_t in_block = line & ((1U << block_shift_) - 1);
    if (block - near.first_block >= near.blocks) {
      near.blocks = blocks_per_super_.divisor();
      near.super = blocks_per_super_.quotient(block);
      near.first_block = near.super * near.blocks;
      near.hash = mix(near.super);
      near.start = start_of(near.hash);
    }
    const std::uint32_t super = near.super;
    const std::uint32_t index = block - near.first_block;
    const std::uint32_t h = near.hash;
    const std::uint32_t group = index >> group_shift_;
    LineHome out;
    out.partition = static_cast<std::uint8_t>((index + (h >> 20) + group) & group_shift_);
    const std::uint32_t dealt = (group << block_shift_) + in_block;
    const std::uint32_t channels = channels_per_partition_.divisor();
    const std::uint32_t pair = pair_of(dealt, h);
    const std::uint32_t laps = channels_per_partition_.quotient(pair);
    const std::uint32_t turns = 2 * laps + (dealt & 1U);
    std::uint32_t local = pair - laps * channels + near.start;
    local -= local >= channels ? channels : 0U;
    const Channel& channel = channel_[local];
    out.slice = channel.slice;
    out.pseudo_channel = static_cast<std::uint16_t>(out.partition * channels + local);
    out.bank = static_cast<std::uint8_t>((super ^ (h >> 8) ^ laps * kBankStep) & (banks_ - 1));
    out.row = super * kPiecesOfRow + laps;
    const std::uint32_t turn = super * turns_per_super_.divisor() + turns;
    out.order = turn * channel.in_slice + channel.of_slice;
    return out;
  }
  /// A line's tag set within its partition and the tag that tells it from the others of that set. The near copy of a
  /// far line uses the slice and set it would have at home.
  struct Place {
    std::uint32_t set;
    std::uint32_t tag;
  };
  /// Consecutive lines of a slice go to consecutive sets and every round starts elsewhere, so that any footprint up to
  /// the whole L2 fills the sets evenly. Source: measured, a chase through 24 MiB has no misses after two passes,
  /// private sets of all SMs keep their rate up to 40 MiB (docs/model/l2.md).
  [[nodiscard]] Place place(const LineHome& home) const {
    Common none;
    return place(home, none);
  }
  [[nodiscard]] Place place(const LineHome& home, Common& near) const {
    if (home.order - near.first_order >= near.sets) {
      near.sets = sets_per_slice_;
      near.round = sets_.quotient(home.order);
      near.first_order = near.round * sets_per_slice_;
      near.rotation = rotation(near.round);
    }
    std::uint32_t set = home.order - near.first_order + near.rotation;
    set -= set >= sets_per_slice_ ? sets_per_slice_ : 0U;
    return {home.slice * sets_per_slice_ + set, near.round * 2 + home.partition};
  }
  /// The line that place() put there.
  [[nodiscard]] std::uint32_t line_of(const Place& p) const;
  [[nodiscard]] std::uint32_t sets_per_slice() const { return sets_per_slice_; }
  [[nodiscard]] std::uint32_t slices_per_partition() const { return slices_per_partition_; }
  [[nodiscard]] std::uint32_t partitions() const { return partitions_; }

 private:
  static constexpr std::uint32_t kBankStep = 5;    ///< between the pieces of a row
  static constexpr std::uint32_t kBlockShift = 3;  ///< log2 of the lines of 1 KiB
  static constexpr std::uint32_t kOrders = 64;     ///< different orders of the blocks of a super-block
  /// Which two lines of their super-block and partition a line belongs to, in the order in which channels take them.
  /// @param dealt  the line's place by address
  /// @param h      the super-block's hash
  [[nodiscard]] std::uint32_t pair_of(std::uint32_t dealt, std::uint32_t h) const {
    return first_pair_[(h >> 26) * blocks_ + (dealt >> kBlockShift)] ^ by_turns(dealt >> 1 & 3U);
  }
  [[nodiscard]] std::uint32_t pair_at(std::uint32_t pair, std::uint32_t h) const {
    const std::uint32_t block = block_at_[(h >> 26) * blocks_ + (pair >> 2)];
    return block << 2 | by_turns((pair ^ first_pair_[(h >> 26) * blocks_ + block]) & 3U);
  }
  /// The channel at which a super-block starts: the first one of a block's four.
  [[nodiscard]] std::uint32_t start_of(std::uint32_t h) const {
    return channels_per_partition_.remainder(h & 0xffffU) & ~3U;
  }
  /// 0 2 1 3: two channels of a slice have every other pair of a block.
  static std::uint32_t by_turns(std::uint32_t pair) { return (pair >> 1 | pair << 1) & 3U; }
  static std::uint32_t mix(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    x ^= x >> 16;
    return x;
  }
  [[nodiscard]] std::uint32_t rotation(std::uint32_t round) const {
    return static_cast<std::uint32_t>((std::uint64_t{mix(round)} * sets_per_slice_) >> 32);
  }
  std::uint32_t block_shift_ = 6;  ///< log2 of the lines of an interleave block
  FixedDivisor blocks_per_super_;
  std::uint32_t partitions_ = 2;
  std::uint32_t group_shift_ = 1;  ///< log2 of the blocks of which each partition has one: 1 or, for one partition, 0
  std::uint32_t slices_per_partition_ = 40;
  FixedDivisor channels_per_partition_;
  struct Channel {
    std::uint8_t slice = 0;     ///< within its partition
    std::uint8_t in_slice = 0;  ///< channels of that slice
    std::uint8_t of_slice = 0;  ///< which of them it is
  };
  std::array<Channel, 256> channel_{};             ///< of a partition
  std::array<std::uint8_t, 256> first_channel_{};  ///< of a slice, within its partition
  std::array<std::uint8_t, 256> channels_of_slice_{};
  FixedDivisor turns_per_super_;  ///< lines of a super-block in one pseudo-channel
  std::uint32_t banks_ = 16;
  std::uint32_t blocks_ = 1;  ///< of 1 KiB, of a partition in a super-block
  /// By order and block, where its first pair goes. Which of its four channels that is differs from block to block, so
  /// that columns spread.
  std::vector<std::uint16_t> first_pair_;
  std::vector<std::uint16_t> block_at_;  ///< by order and turn, the block
  std::uint32_t sets_per_slice_ = 320;
  FixedDivisor sets_;
};

}  // namespace strata

/// What travels between SM and memory: chunks of at most sixteen lines, grouped into transfers.
#pragma once

#include <array>
#include <cstdint>

#include "sim/base/time.hpp"

namespace strata {

inline constexpr std::uint32_t kChunkLines = 16;
inline constexpr std::uint32_t kNoHandle = 0xffffffffU;
inline constexpr std::uint32_t kSectorsPerLine = 4;
inline constexpr std::uint32_t kLineBytes = 128;
inline constexpr std::uint32_t kSectorBytes = 32;

/// Sectors in a 4-bit mask; a table, because the baseline instruction set has no population count.
[[nodiscard]] constexpr std::uint32_t count_sectors(std::uint32_t mask) {
  return static_cast<std::uint32_t>(0x4332322132212110ULL >> (4 * (mask & 0xfU)) & 0xfU);
}

/// The sectors that are fetched for `mask` where HBM brings at least two aligned sectors.
[[nodiscard]] constexpr std::uint32_t sector_pairs(std::uint32_t mask) {
  return mask | (mask & 0x5U) << 1 | (mask & 0xaU) >> 1;
}

/// The farthest place that had to serve a request; orders stall reasons.
enum class ServedBy : std::uint8_t { kSm, kL1, kCrossbar, kL2, kFabric, kHbm };

/// One line of an access and the sectors of it that are wanted, bit i = bytes [32 i, 32 i + 32).
struct LineAccess {
  std::uint32_t line;  ///< byte address / 128
  std::uint8_t mask;
};

/// Lines that follow a pattern: rows of 2^row_shift consecutive lines, `stride` lines apart, all with one mask.
struct LinePattern {
  std::uint32_t first = 0;
  std::int32_t stride = 1;
  std::uint8_t row_shift = 0;
  std::uint8_t mask = 0xf;
  std::uint8_t requests = 1;  ///< look-ups of a line: rows of a TMA box that share it are asked for one by one

  [[nodiscard]] std::uint32_t line(std::uint32_t i) const {
    return first + (i >> row_shift) * static_cast<std::uint32_t>(stride) + (i & ((1U << row_shift) - 1));
  }
  bool operator==(const LinePattern&) const = default;
};

/// Lines of a chunk that follow no pattern.
using LineList = std::array<LineAccess, kChunkLines>;

/// Where the lines of a chunk live (LinePlaceCache), and which wanted sectors of them need no fetch.
struct alignas(64) LinePlaces {
  std::array<std::uint32_t, kChunkLines> tag{};
  std::array<std::uint32_t, kChunkLines> set{};
  std::array<std::uint8_t, kChunkLines> slice{};  ///< within a partition
  std::uint32_t homes = 0;                        ///< bit i: home partition of line i
  std::array<std::uint8_t, kChunkLines> near{};   ///< sectors of far lines that the near partition has or awaits
  std::array<std::uint8_t, kChunkLines> home{};   ///< sectors that the home has or awaits, or that are `near`
  std::uint32_t chunk = kNoHandle;
  std::uint32_t generation = 0;
  bool partial = false;  ///< any of `near` or `home`
};
static_assert(sizeof(LinePlaces) == 192);

/// At most 2 KiB of lines requested together. One host cache line: millions of them are under way in a run, so their
/// lines are a pattern wherever possible (Context::line, Context::mask).
struct alignas(64) Chunk {
  LinePattern pattern;
  std::uint32_t list = kNoHandle;      ///< LineList instead of the pattern
  std::uint32_t transfer = kNoHandle;  ///< Transfer, or MulticastGroup when `multicast` is set
  std::uint32_t waiters = kNoHandle;   ///< list of WaiterNode: who waits for lines this chunk fetches
  std::uint32_t generation = 0;        ///< grows each time the slot is reused
  std::uint32_t places = kNoHandle;    ///< LinePlaces kept for the steps after a miss
  std::uint16_t sm = 0;
  std::uint16_t sectors = 0;      ///< sum of the masks
  std::uint16_t oob_sectors = 0;  ///< requested and delivered beyond the tensor's edge; folded onto the last line
  std::uint16_t multicast = 0;    ///< cluster ranks that receive it; 0 = the requester alone
  std::uint16_t near_mask = 0;    ///< near-homed lines on their way from HBM
  std::uint16_t far_mask = 0;     ///< far-homed lines on their way from the other partition
  std::uint16_t oob_merged = 0;   ///< of oob_sectors, those that ride on others before the L2
  std::uint16_t oob_rows = 0;  ///< of oob_sectors, those of rows that lie outside whole: the same few slices serve all
  std::uint8_t count = 0;      ///< lines
  std::uint8_t partition = 0;  ///< near partition of the requester
  std::uint8_t outstanding = 0;  ///< pieces (HBM, fabric, merged lines) still on their way
  std::uint8_t deliveries = 0;   ///< SMs still to be reached
  std::uint8_t mask_flits = 0;   ///< stores: byte masks of lines of which a sector is covered in part
  std::uint8_t recent = 0;       ///< where LinePlaceCache may have its places
  ServedBy served = ServedBy::kL2;
  bool write : 1 = false;
  bool replied : 1 = false;      ///< has left the L2, or will at `ready`
  bool merged : 1 = false;       ///< rides on another chunk's reply
  bool allocate_l1 : 1 = false;  ///< fills L1 on return
  bool from_tma : 1 = false;
  bool fills_smem : 1 = false;  ///< lands in shared memory (TMA, cp.async)
  bool atomic : 1 = false;
  bool pieces : 1 = false;  ///< several requests for each line, which do not merge with those of other SMs
  Tick ready = 0;           ///< latest known time at which all its lines are at the near partition

  /// What a store takes of the ports on its way (measured: one flit a sector and one more for a line with partial
  /// sectors, at the port of an SM and of all SMs, whatever part of them is stored).
  [[nodiscard]] std::int64_t flit_bytes() const { return std::int64_t{sectors + mask_flits} * kSectorBytes; }
};
static_assert(sizeof(Chunk) == 64);

/// An operation's memory work, done when its last chunk is.
struct Transfer {
  std::uint32_t remaining = 0;   ///< chunks not yet done
  std::uint32_t unsent = 0;      ///< stores: chunks that have not left the SM
  std::uint32_t path_bytes = 0;  ///< loads to registers: what a sector that comes takes of the LSU's data path
  Tick done_at = 0;
  std::uint64_t signals = 0;  ///< packed by the SM: what to signal, for whom
  std::uint64_t signals2 = 0;
  std::uint16_t sm = 0;
  std::uint16_t cta_slot = 0;
  std::uint16_t stream = 0;
  ServedBy served = ServedBy::kL1;
  bool counts_in_stream = false;  ///< the CTA may not retire before it is done
};

/// The transfers that a multicast operation completes, by cluster rank.
struct MulticastGroup {
  std::array<std::uint32_t, 16> transfer{};
  std::array<std::uint16_t, 16> sm{};
  std::uint32_t chunks_left = 0;
};

inline constexpr std::uint8_t kAtCoalescer = 0xfe;  ///< woken when the chunk's reply passes the request coalescer
inline constexpr std::uint8_t kAtSm = 0xff;         ///< woken when the chunk's data reaches the SM

/// Someone who waits for lines that another chunk is fetching.
struct WaiterNode {
  std::uint32_t next = kNoHandle;
  std::uint32_t handle = kNoHandle;  ///< chunk, or transfer when `is_transfer`
  std::uint8_t partition = 0;        ///< woken when the lines are valid in this partition, or one of the marks below
  bool is_transfer = false;
};

}  // namespace strata

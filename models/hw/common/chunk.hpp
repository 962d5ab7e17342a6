/// What travels between SM and memory: chunks of at most eight lines, grouped into transfers.
#pragma once

#include <array>
#include <cstdint>

#include "sim/base/time.hpp"

namespace strata {

inline constexpr std::uint32_t kChunkLines = 8;
inline constexpr std::uint32_t kNoHandle = 0xffffffffU;
inline constexpr std::uint32_t kSectorsPerLine = 4;
inline constexpr std::uint32_t kLineBytes = 128;
inline constexpr std::uint32_t kSectorBytes = 32;

/// Sectors in a 4-bit mask; a table, because the baseline instruction set has no population count.
[[nodiscard]] constexpr std::uint32_t count_sectors(std::uint32_t mask) {
  return static_cast<std::uint32_t>(0x4332322132212110ULL >> (4 * (mask & 0xfU)) & 0xfU);
}

/// The farthest place that had to serve a request; orders stall reasons.
enum class ServedBy : std::uint8_t { kSm, kL1, kCrossbar, kL2, kFabric, kHbm };

/// At most 1 KiB of lines requested together.
struct alignas(64) Chunk {
  // what every step reads: one host cache line
  std::array<std::uint32_t, kChunkLines> line{};  ///< byte address / 128
  std::array<std::uint8_t, kChunkLines> mask{};   ///< sectors wanted, bit i = bytes [32 i, 32 i + 32)
  std::uint32_t transfer = kNoHandle;             ///< Transfer, or MulticastGroup when `multicast` is set
  std::uint32_t waiters = kNoHandle;              ///< list of WaiterNode: who waits for lines this chunk fetches
  std::uint16_t sm = 0;
  std::uint16_t sectors = 0;  ///< sum of the masks
  std::uint8_t count = 0;
  std::uint8_t partition = 0;    ///< near partition of the requester
  std::uint8_t near_mask = 0;    ///< near-homed lines on their way from HBM
  std::uint8_t far_mask = 0;     ///< far-homed lines on their way from the other partition
  std::uint8_t outstanding = 0;  ///< pieces (HBM, fabric, merged lines) still on their way
  std::uint8_t deliveries = 0;   ///< SMs still to be reached
  ServedBy served = ServedBy::kL2;
  bool write : 1 = false;
  bool replied : 1 = false;      ///< has left the L2: later requests no longer merge with it
  bool merged : 1 = false;       ///< rides on another chunk's reply
  bool allocate_l1 : 1 = false;  ///< fills L1 on return
  bool from_tma : 1 = false;
  bool fills_smem : 1 = false;  ///< lands in shared memory (TMA, cp.async)
  bool atomic : 1 = false;
  // the rest
  std::uint16_t multicast = 0;    ///< cluster ranks that receive it; 0 = the requester alone
  std::uint32_t generation = 0;   ///< grows each time the slot is reused
  std::uint32_t oob_sectors = 0;  ///< requested and delivered beyond the tensor's edge; folded onto the last line
  std::array<std::uint8_t, kChunkLines> near_way{};  ///< way of the near partition's set that takes each line
  std::array<std::uint8_t, kChunkLines> home_way{};  ///< the same at home
  Tick at_l2 = 0;                                    ///< when the request left the coalescer
  Tick ready = 0;  ///< latest known time at which all its lines are at the near partition
};
static_assert(sizeof(Chunk) == 128);

/// An operation's memory work, done when its last chunk is.
struct Transfer {
  std::uint32_t remaining = 0;  ///< chunks not yet done
  std::uint32_t unsent = 0;     ///< stores: chunks that have not left the SM
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

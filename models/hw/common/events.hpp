/// Every kind of event that hardware units post. The Gpu in models/hw/system dispatches them, so that units never
/// include one another.
#pragma once

#include <cstdint>

namespace strata {

enum class EventKind : std::uint16_t {
  kCtaStart,      ///< unit = SM, a = CTA slot: its streams may issue
  kCtaFree,       ///< unit = SM, a = CTA slot: its resources are free
  kCtaEnded,      ///< unit = SM, a = cluster: the scheduler learns of it
  kStreamRun,     ///< unit = SM, a = CTA slot, b = stream
  kIssueTurn,     ///< unit = SM: streams that wait for an issue port may have their turn
  kSignal,        ///< unit = SM, a, b = packed signal (sm/tokens.hpp)
  kWgmmaRun,      ///< unit = SM: the tensor core takes the next quantum of queued wgmma work
  kReadAtL2,      ///< a = chunk: request reaches the coalescer and the near slices
  kReadAtHome,    ///< a = chunk, b = line mask: misses of far-homed lines reach their home slices
  kReadAtHbm,     ///< a = chunk, b = line_event(): misses of a partition go to memory
  kHbmDone,       ///< a = chunk, b = line_event(): lines are filled at home
  kCrossFabric,   ///< a = chunk, b = line mask: far lines leave their home's slices
  kFabricDone,    ///< a = chunk, b = line mask: far lines are filled near
  kReadPortFree,  ///< unit = GPC: its read port takes the next reply
  kReadAtSm,      ///< unit = SM, a = chunk, b = cluster rank: data reaches the SM's port
  kTransferDone,  ///< unit = SM, a = transfer
  kWriteAtL2,     ///< a = chunk: a store reaches the near slices
  kWriteAtHome,   ///< a = chunk, b = line mask
  kWriteDone,     ///< unit = SM, a = chunk: the last acknowledgement
  kCount
};

/// Lines of a chunk (one bit each) and the partition they are wanted in, as one word of an event.
[[nodiscard]] constexpr std::uint32_t line_event(std::uint32_t line_mask, std::uint32_t partition) {
  return line_mask | partition << 16;
}
[[nodiscard]] constexpr std::uint32_t lines_of(std::uint32_t b) { return b & 0xffffU; }
[[nodiscard]] constexpr std::uint32_t partition_of(std::uint32_t b) { return b >> 16; }

[[nodiscard]] constexpr std::uint16_t id(EventKind k) { return static_cast<std::uint16_t>(k); }

}  // namespace strata

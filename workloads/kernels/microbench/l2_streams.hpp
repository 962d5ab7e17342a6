/// Bytes per clock between the L2 and a chosen set of SMs, by plain loads, cp.async, bulk copies, tensor tiles and
/// stores, from private and from shared sets: validation/microbench/l2_bandwidth.cu.
#pragma once

#include <memory>

#include "workloads/kernels/microbench/group.hpp"

namespace strata::microbench {

enum class Engine : std::uint8_t { kLoad, kCpAsync, kBulk, kTile, kPitchedTile, kStore, kBulkStore };
enum class SharedSet : std::uint8_t {
  kPrivate,  ///< every SM has a region of its own
  kShared,   ///< all walk one set in step
  kSkewed,   ///< all walk one set, each from another place
  kRotate,   ///< every SM walks its own region, then its neighbour's, and so on
};

inline constexpr std::uint32_t kStreamChunkBytes = 16 * 1024;  ///< of one step

struct L2StreamConfig {
  Group group;
  Engine engine = Engine::kLoad;
  SharedSet set = SharedSet::kPrivate;
  std::uint32_t chunks = 4;  ///< of a region (private, rotate) or of the whole set (shared, skewed)
  std::uint32_t warm_steps = 12;
  std::uint32_t steps = 12;
  /// Shared and skewed sets: the warm-up is dealt to the SMs of each side of the L2. By CTA, its place and how many
  /// share.
  std::vector<std::uint32_t> warm_lane;
  std::vector<std::uint32_t> warm_lanes;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_l2_stream(const L2StreamConfig& config);

}  // namespace strata::microbench

/// Boxes of which a part lies outside their tensor, read by many SMs at once. validation/microbench/tma_beyond.cu.
#pragma once

#include <memory>

#include "workloads/kernels/microbench/group.hpp"

namespace strata::microbench {

struct BeyondConfig {
  Group group;
  std::uint32_t cluster = 1;  ///< 2: each of a pair fetches half of every box for both
  bool own = false;           ///< a tensor for each SM or pair
  std::uint32_t rows = 128;   ///< of a box
  std::uint32_t inside = 128;
  std::uint32_t columns = 64;  ///< of 64 that exist
};
inline constexpr std::uint32_t kBeyondBoxes = 48;  ///< of an SM in a lap
/// One lap brings the boxes into the L2, the next is timed.
[[nodiscard]] std::unique_ptr<TraceSource> make_beyond(const BeyondConfig& config);

}  // namespace strata::microbench

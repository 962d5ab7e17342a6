/// Mirrors validation/microbench/hbm_shares.cu: who gets how much of HBM.
#pragma once

#include <cstdint>
#include <memory>

#include "workloads/kernels/microbench/group.hpp"

namespace strata::microbench {

/// Every member of a group reads `bytes_each` that no cache holds, from the same moment on.
struct HbmSharesConfig {
  Group group;
  std::uint64_t bytes_each = 2ULL << 20;  ///< whole chunks of 8 KiB
  std::uint32_t stages = 1;               ///< bulk copies of 8 KiB under way, at least 1
  bool in_turn = false;                   ///< chunks dealt to the members in turn, instead of a range for each
};
[[nodiscard]] std::unique_ptr<TraceSource> make_hbm_shares(const HbmSharesConfig& config);

}  // namespace strata::microbench

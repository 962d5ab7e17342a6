/// Mirrors validation/microbench/hbm_load.cu: what HBM reads come to by how much is under way.
#pragma once

#include <cstdint>
#include <memory>

#include "workloads/spec/trace_source.hpp"

namespace strata::microbench {

inline constexpr std::uint32_t kLoadBoxBytes = 16384;
inline constexpr std::uint32_t kLoadBoxes = 192;  ///< that each CTA reads; stamped after a quarter and three quarters

/// CTAs, one per SM, read boxes of a matrix whose rows are 8 KiB apart, which no cache holds.
struct HbmLoadConfig {
  std::uint32_t ctas = 1;
  std::uint32_t row_bytes = 128;  ///< of a box; divides 8 KiB
  std::uint32_t stages = 1;       ///< boxes under way, 1 to 12
};
[[nodiscard]] std::unique_ptr<TraceSource> make_hbm_load(const HbmLoadConfig& config);

}  // namespace strata::microbench

/// How many CTAs of a launch fit on one SM, and what stops the next one.
#pragma once

#include <cstdint>
#include <string>

#include "sim/config/gpu_config.hpp"
#include "workloads/spec/launch.hpp"

namespace strata {

struct SmOccupancy {
  std::uint32_t ctas = 0;
  std::uint32_t warps = 0;
  std::string limiter;            ///< "registers", "shared memory", "warps", "threads" or "CTAs"
  std::int64_t smem_per_cta = 0;  ///< bytes, the system's share included
  std::int64_t l1_bytes = 0;      ///< what is left of the unified memory for L1
};

/// Throws InputError, naming the limit, when not even one CTA fits.
[[nodiscard]] SmOccupancy occupancy(const GpuConfig& gpu, const Launch& launch);

}  // namespace strata

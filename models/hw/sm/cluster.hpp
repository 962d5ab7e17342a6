/// Where the CTAs of each resident cluster sit, so that multicast and remote arrivals find them.
#pragma once

#include <array>
#include <cstdint>

#include "sim/base/slot_pool.hpp"

namespace strata {

inline constexpr std::uint32_t kMaxClusterSize = 16;

struct Cluster {
  std::array<std::uint16_t, kMaxClusterSize> sm{};
  std::array<std::uint16_t, kMaxClusterSize> slot{};
  std::uint32_t size = 0;
  std::uint32_t alive = 0;
  std::uint32_t barrier_phase = 0;
  std::uint32_t barrier_arrived = 0;
};

using ClusterTable = SlotPool<Cluster>;

}  // namespace strata

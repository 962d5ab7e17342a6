#include "sim/app/launch_limits.hpp"

#include <fmt/format.h>

#include <utility>

namespace strata::app {

namespace {

constexpr std::uint32_t kMaxGridX = 0x7fffffff;
constexpr std::uint32_t kMaxGridYz = 65535;
constexpr std::uint32_t kMaxBlockZ = 64;
constexpr std::uint32_t kMaxThreads = 1024;

/// Whether each dimension is 1 to its limit.
bool within(const Dim3& d, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return d.x > 0 && d.y > 0 && d.z > 0 && d.x <= x && d.y <= y && d.z <= z;
}

bool divides(const Dim3& part, const Dim3& whole) {
  return whole.x % part.x == 0 && whole.y % part.y == 0 && whole.z % part.z == 0;
}

}  // namespace

std::optional<ImpossibleCell> impossible_cell(const LaunchRow& row) {
  if (row.grid && !within(*row.grid, kMaxGridX, kMaxGridYz, kMaxGridYz)) {
    return ImpossibleCell{LaunchCell::kGrid,
                          fmt::format("1 to {} CTAs along x and 1 to {} along y and z", kMaxGridX, kMaxGridYz)};
  }
  if (row.block && (!within(*row.block, kMaxThreads, kMaxThreads, kMaxBlockZ) || row.block->count() > kMaxThreads)) {
    return ImpossibleCell{LaunchCell::kBlock,
                          fmt::format("1 to {} threads, at most {} of them along z", kMaxThreads, kMaxBlockZ)};
  }
  if (row.cluster &&
      (!within(*row.cluster, kMaxCluster, kMaxCluster, kMaxCluster) || row.cluster->count() > kMaxCluster)) {
    return ImpossibleCell{LaunchCell::kCluster, fmt::format("at most {} CTAs, or 0x0x0 for none", kMaxCluster)};
  }
  if (row.cluster && row.grid && !divides(*row.cluster, *row.grid)) {
    return ImpossibleCell{LaunchCell::kCluster, fmt::format("dimensions that divide the grid's, {}x{}x{}", row.grid->x,
                                                            row.grid->y, row.grid->z)};
  }
  if (row.registers && (*row.registers < 1 || *row.registers > kMaxRegisters)) {
    return ImpossibleCell{LaunchCell::kRegisters, fmt::format("1 to {} registers of a thread", kMaxRegisters)};
  }
  for (const auto& [bytes, cell] :
       {std::pair{row.smem_dynamic, LaunchCell::kSmemDynamic}, std::pair{row.smem_static, LaunchCell::kSmemStatic}}) {
    if (bytes && *bytes > kMaxCtaSmemBytes) {
      return ImpossibleCell{cell, fmt::format("at most {} bytes", kMaxCtaSmemBytes)};
    }
  }
  const std::uint32_t dynamic = row.smem_dynamic.value_or(0);
  if (row.smem_static.value_or(0) > kMaxCtaSmemBytes - dynamic) {
    return ImpossibleCell{
        LaunchCell::kSmemStatic,
        fmt::format("at most {} bytes beside the {} of dynamic shared memory", kMaxCtaSmemBytes - dynamic, dynamic)};
  }
  return std::nullopt;
}

}  // namespace strata::app

#include "workloads/kernels/cluster_places.hpp"

#include <algorithm>
#include <numeric>

namespace strata {

namespace {

constexpr std::uint32_t kTpcSms = 2;

/// Clusters that a GPC holds, those on lone TPCs and the others.
struct Room {
  std::uint32_t lone = 0;
  std::uint32_t in_turn = 0;
};

Room room_of(const GpcFacts& gpc, std::uint32_t size) {
  const std::uint32_t lone_sms = gpc.sms - std::min(gpc.sms, gpc.cluster_sms);
  return {size <= kTpcSms ? lone_sms / size : 0, gpc.cluster_sms / size};
}

/// GPC of each cluster in the order of their placement.
std::vector<std::uint32_t> placed_gpcs(const TargetFacts& target, std::uint32_t size) {
  std::vector<std::uint32_t> gpcs;
  for (std::uint32_t g = 0; g < target.gpcs.size(); ++g) {
    gpcs.insert(gpcs.end(), room_of(target.gpcs[g], size).lone, g);
  }
  bool placed = true;
  for (std::uint32_t round = 0; placed; ++round) {
    placed = false;
    for (std::uint32_t g = 0; g < target.gpcs.size(); ++g) {
      if (round < room_of(target.gpcs[g], size).in_turn) {
        gpcs.push_back(g);
        placed = true;
      }
    }
  }
  return gpcs;
}

}  // namespace

std::uint32_t resident_clusters(const TargetFacts& target, std::uint32_t size) {
  if (target.gpcs.empty()) {
    return target.num_sms / size;
  }
  return static_cast<std::uint32_t>(placed_gpcs(target, size).size());
}

std::vector<std::uint32_t> clusters_by_gpc(const TargetFacts& target, std::uint32_t size, std::uint32_t count) {
  std::vector<std::uint32_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::vector<std::uint32_t> gpcs = placed_gpcs(target, size);
  std::vector<std::uint32_t> sorted(std::min<std::size_t>(count, gpcs.size()));
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) { return gpcs[a] < gpcs[b]; });
  for (std::uint32_t rank = 0; rank < sorted.size(); ++rank) {
    ranks[sorted[rank]] = rank;
  }
  return ranks;
}

}  // namespace strata

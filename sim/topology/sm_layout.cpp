#include "sim/topology/sm_layout.hpp"

#include <algorithm>
#include <cstddef>

namespace strata {

std::vector<SmPlace> sm_layout(const TopologyConfig& topology) {
  const std::size_t gpcs = topology.gpc_sms.size();
  const int width = std::max(1, topology.sms_per_tpc);
  std::vector<int> tpcs(gpcs);     // of each GPC
  std::vector<int> in_turn(gpcs);  // of these, numbered in turn with the other GPCs'
  int rounds = 0;
  for (std::size_t g = 0; g < gpcs; ++g) {
    tpcs[g] = topology.gpc_sms[g] / width;
    in_turn[g] = g < topology.gpc_cluster_sms.size() ? std::min(topology.gpc_cluster_sms[g] / width, tpcs[g]) : tpcs[g];
    rounds = std::max(rounds, in_turn[g]);
  }
  std::vector<int> first_cpc(gpcs, 0);
  std::vector<int> cpcs(gpcs, 1);  // of each GPC
  for (std::size_t g = 0; g < gpcs; ++g) {
    first_cpc[g] = g == 0 ? 0 : first_cpc[g - 1] + cpcs[g - 1];
    if (topology.tpcs_per_cpc > 0) {
      cpcs[g] = (tpcs[g] + topology.tpcs_per_cpc - 1) / topology.tpcs_per_cpc;
    }
  }
  std::vector<SmPlace> out;
  std::vector<int> used(gpcs, 0);
  std::uint16_t tpc = 0;
  const auto add = [&](std::size_t g, bool lone) {
    const int cpc = first_cpc[g] + used[g] % cpcs[g];
    for (int i = 0; i < width; ++i) {
      out.push_back(SmPlace{static_cast<std::uint16_t>(g), tpc, static_cast<std::uint16_t>(cpc), lone});
    }
    ++used[g];
    ++tpc;
  };
  for (int r = 0; r < rounds; ++r) {
    for (std::size_t g = 0; g < gpcs; ++g) {
      if (r < in_turn[g]) {
        add(g, false);
      }
    }
  }
  for (std::size_t g = 0; g < gpcs; ++g) {
    while (used[g] < tpcs[g]) {
      add(g, true);
    }
  }
  return out;
}

}  // namespace strata

/// Which TPC, CPC and GPC each SM belongs to, in the order in which the hardware numbers SMs.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/config/gpu_config.hpp"

namespace strata {

struct SmPlace {
  std::uint16_t gpc = 0;
  std::uint16_t tpc = 0;  ///< over the whole GPU
  std::uint16_t cpc = 0;  ///< over the whole GPU; the GPC's index where the part has no CPCs
  bool lone_tpc = false;  ///< its TPC takes no part in clusters larger than a TPC
};

/// Place of every SM by its number. Numbers run over the GPCs in turn, one TPC of each, and end with the TPCs that take
/// no part in larger clusters; the TPCs of a GPC are dealt to its CPCs in turn. Source: SM numbers against cluster
/// co-residency on an H100 SXM (validation/microbench/topology.cu).
[[nodiscard]] std::vector<SmPlace> sm_layout(const TopologyConfig& topology);

}  // namespace strata

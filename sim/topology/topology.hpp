/// How the parts of a GPU hang together: SM, TPC, CPC, GPC, crossbar, L2 slice, fabric, HBM channel.
///
/// A Boost.Graph graph is built from the configuration and checked once; the simulator then works with the frozen
/// tables. Partitions, slices and pseudo-channels are numbered so that partition p owns an equal, contiguous range.
/// Not modelled: floor plan and wire lengths; hop distance is a parameter of the crossbar.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/config/gpu_config.hpp"

namespace strata {

/// What the models read while they run. All indices are zero-based.
struct TopologyTables {
  std::vector<std::uint16_t> sm_tpc;
  std::vector<std::uint16_t> sm_cpc;  ///< the GPC's index where the part has no CPC level
  std::vector<std::uint16_t> sm_gpc;
  std::vector<std::uint8_t> sm_partition;
  std::vector<std::uint8_t> gpc_partition;
  std::vector<std::uint8_t> slice_partition;
  std::vector<std::vector<std::uint16_t>> slice_channels;  ///< pseudo-channels behind each slice
  std::vector<std::uint16_t> channel_stack;                ///< HBM stack of each pseudo-channel
  std::vector<std::uint8_t> channel_partition;
  std::uint16_t num_tpcs = 0;
  std::uint16_t num_cpcs = 0;
  std::uint16_t num_gpcs = 0;
};

/// Sums over the graph for `strata describe topology`. Bandwidths in GB/s at the clocks of the configuration, SM side
/// at clocks.sm_max_mhz.
struct TopologySummary {
  std::uint32_t gpcs = 0;
  std::uint32_t cpcs = 0;  ///< 0 = no such level
  std::uint32_t tpcs = 0;
  std::uint32_t sms = 0;
  std::uint32_t partitions = 0;
  std::uint32_t slices = 0;
  std::uint32_t stacks = 0;
  std::uint32_t pseudo_channels = 0;
  std::vector<std::uint32_t> partition_sms;
  std::int64_t l2_bytes = 0;
  double sm_read_gb_per_s = 0;        ///< all SM ports
  double gpc_read_gb_per_s = 0;       ///< all GPC ports
  double slice_read_gb_per_s = 0;     ///< all slices
  double fabric_gb_per_s = 0;         ///< one direction
  double hbm_gb_per_s = 0;            ///< sum of the channel edges
  double hbm_datasheet_gb_per_s = 0;  ///< clock x width
  std::uint32_t max_clusters_2 = 0;   ///< CTA clusters that fit at one CTA per SM
  std::uint32_t max_clusters_4 = 0;
  std::uint32_t max_clusters_8 = 0;
  std::uint32_t edges = 0;
};

/// Clusters of `size` CTAs, one per SM, that fit at once when a cluster has to stay inside a GPC.
[[nodiscard]] std::uint32_t resident_clusters(const GpuConfig& config, int size);

struct Topology {
  TopologyTables tables;
  TopologySummary summary;
  std::string dot;  ///< the graph in Graphviz's language, every link labelled with its capacity
};

/// Builds, checks and freezes. Throws InputError with every problem: an SM that does not reach a slice or channel, or
/// capacities that miss the data sheet by more than 1 %.
[[nodiscard]] Topology build_topology(const GpuConfig& config);

/// The summary as aligned text with units.
[[nodiscard]] std::string topology_text(const Topology& topology);
/// For Graphviz: `dot -Tsvg`.
[[nodiscard]] std::string topology_dot(const Topology& topology);

}  // namespace strata

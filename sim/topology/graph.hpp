/// The Boost.Graph side of the topology; only this folder includes it.
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/config/gpu_config.hpp"

namespace strata::topology {

enum class NodeKind : std::uint8_t { kSm, kTpc, kCpc, kGpc, kCrossbar, kSlice, kFabric, kChannel };

struct Node {
  NodeKind kind;
  std::uint32_t index;      ///< within its kind
  std::uint32_t partition;  ///< L2 partition; the crossbar and the fabric belong to none
  std::uint32_t parent;     ///< GPC of a CPC or TPC, stack of a channel
};

/// Edges point from SM to HBM; the data of a load flows the other way.
struct Link {
  double read_gb_per_s;  ///< towards the SM
};

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, Node, Link>;
using Vertex = boost::graph_traits<Graph>::vertex_descriptor;

/// Builds the graph of a configuration that passed validate_config.
[[nodiscard]] Graph build_graph(const GpuConfig& config);

/// Every SM reaches every slice and channel; capacities add up to the data sheet within 1 %.
[[nodiscard]] std::vector<Diagnostic> check_graph(const Graph& graph, const GpuConfig& config);

/// Sum of the capacities of the links that leave nodes of one kind towards nodes of another.
[[nodiscard]] double capacity(const Graph& graph, NodeKind from, NodeKind to);

[[nodiscard]] std::uint32_t count(const Graph& graph, NodeKind kind);
[[nodiscard]] std::string name(const Node& node);
[[nodiscard]] std::string to_graphviz(const Graph& graph);

}  // namespace strata::topology

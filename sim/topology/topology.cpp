#include "sim/topology/topology.hpp"

#include <fmt/format.h>

#include "sim/config/gpu_description.hpp"
#include "sim/config/gpu_fields.hpp"
#include "sim/topology/graph.hpp"

namespace strata {

namespace {

using topology::Graph;
using topology::NodeKind;
using topology::Vertex;

/// The only neighbour towards memory of one of the kinds up to the crossbar.
Vertex above(const Graph& graph, Vertex v) { return boost::target(*boost::out_edges(v, graph).first, graph); }

template <typename T>
T narrow(std::uint32_t value) {
  return static_cast<T>(value);  // counts are bounded by the ranges of the field table
}

TopologyTables freeze(const Graph& graph) {
  TopologyTables t;
  // Vertices of a kind were added in index order.
  for (const Vertex v : boost::make_iterator_range(boost::vertices(graph))) {
    const topology::Node& node = graph[v];
    switch (node.kind) {
      case NodeKind::kSm: {
        const Vertex tpc = above(graph, v);
        const topology::Node& parent = graph[above(graph, tpc)];
        t.sm_tpc.push_back(narrow<std::uint16_t>(graph[tpc].index));
        t.sm_cpc.push_back(narrow<std::uint16_t>(parent.index));
        t.sm_gpc.push_back(narrow<std::uint16_t>(node.parent));
        t.sm_partition.push_back(narrow<std::uint8_t>(node.partition));
        break;
      }
      case NodeKind::kGpc:
        t.gpc_partition.push_back(narrow<std::uint8_t>(node.partition));
        break;
      case NodeKind::kSlice: {
        t.slice_partition.push_back(narrow<std::uint8_t>(node.partition));
        std::vector<std::uint16_t> channels;
        for (const auto e : boost::make_iterator_range(boost::out_edges(v, graph))) {
          const topology::Node& target = graph[boost::target(e, graph)];
          if (target.kind == NodeKind::kChannel) {
            channels.push_back(narrow<std::uint16_t>(target.index));
          }
        }
        t.slice_channels.push_back(std::move(channels));
        break;
      }
      case NodeKind::kChannel:
        t.channel_stack.push_back(narrow<std::uint16_t>(node.parent));
        t.channel_partition.push_back(narrow<std::uint8_t>(node.partition));
        break;
      case NodeKind::kTpc:
      case NodeKind::kCpc:
      case NodeKind::kCrossbar:
      case NodeKind::kFabric:
        break;
    }
  }
  t.num_tpcs = narrow<std::uint16_t>(count(graph, NodeKind::kTpc));
  t.num_gpcs = narrow<std::uint16_t>(count(graph, NodeKind::kGpc));
  const std::uint32_t cpcs = count(graph, NodeKind::kCpc);
  t.num_cpcs = cpcs > 0 ? narrow<std::uint16_t>(cpcs) : t.num_gpcs;
  return t;
}

TopologySummary summarise(const Graph& graph, const TopologyTables& tables, const GpuConfig& c) {
  TopologySummary s;
  s.gpcs = count(graph, NodeKind::kGpc);
  s.cpcs = count(graph, NodeKind::kCpc);
  s.tpcs = count(graph, NodeKind::kTpc);
  s.sms = count(graph, NodeKind::kSm);
  s.partitions = static_cast<std::uint32_t>(c.l2.partitions);
  s.slices = count(graph, NodeKind::kSlice);
  s.stacks = static_cast<std::uint32_t>(c.hbm.stacks);
  s.pseudo_channels = count(graph, NodeKind::kChannel);
  s.partition_sms.resize(s.partitions);
  for (const std::uint8_t partition : tables.sm_partition) {
    ++s.partition_sms[partition];
  }
  s.l2_bytes = c.l2.size_bytes;
  s.sm_read_gb_per_s = capacity(graph, NodeKind::kSm, NodeKind::kTpc);
  s.gpc_read_gb_per_s = capacity(graph, NodeKind::kGpc, NodeKind::kCrossbar);
  s.slice_read_gb_per_s = capacity(graph, NodeKind::kCrossbar, NodeKind::kSlice);
  s.fabric_gb_per_s = capacity(graph, NodeKind::kSlice, NodeKind::kFabric) / s.partitions;
  s.hbm_gb_per_s = capacity(graph, NodeKind::kSlice, NodeKind::kChannel);
  s.hbm_datasheet_gb_per_s = c.hbm_peak_gb_per_s();
  s.max_clusters_2 = resident_clusters(c, 2);
  s.max_clusters_4 = resident_clusters(c, 4);
  s.max_clusters_8 = resident_clusters(c, 8);
  s.edges = static_cast<std::uint32_t>(boost::num_edges(graph));
  return s;
}

}  // namespace

std::uint32_t resident_clusters(const GpuConfig& config, int size) {
  std::uint32_t clusters = 0;
  for (const int sms : size > 2 ? config.topology.gpc_cluster_sms : config.topology.gpc_sms) {
    clusters += static_cast<std::uint32_t>(sms / size);
  }
  return clusters;
}

Topology build_topology(const GpuConfig& config) {
  validate_config(config);
  const Graph graph = topology::build_graph(config);
  if (auto problems = check_graph(graph, config); !problems.empty()) {
    throw InputError(std::move(problems));
  }
  Topology t;
  t.tables = freeze(graph);
  t.summary = summarise(graph, t.tables, config);
  t.dot = to_graphviz(graph);
  return t;
}

std::string topology_dot(const Topology& topology) { return topology.dot; }

std::string topology_text(const Topology& topology) {
  const TopologySummary& s = topology.summary;
  std::string out;
  const auto line = [&out](const char* label, const std::string& value) {
    out += fmt::format("  {:<18}{}\n", label, value);
  };
  line("SMs", fmt::format("{} in {} TPCs{}, {} GPCs", s.sms, s.tpcs,
                          s.cpcs > 0 ? fmt::format(", {} CPCs", s.cpcs) : std::string(), s.gpcs));
  std::string beside;
  for (const std::uint32_t sms : s.partition_sms) {
    beside += (beside.empty() ? "" : " and ") + std::to_string(sms);
  }
  line("L2", fmt::format("{} in {} slices, {} partitions beside {} SMs", binary_bytes(s.l2_bytes), s.slices,
                         s.partitions, beside));
  line("HBM", fmt::format("{} pseudo-channels in {} stacks", s.pseudo_channels, s.stacks));
  line("resident clusters", fmt::format("{} of 2, {} of 4, {} of 8 CTAs at one CTA per SM", s.max_clusters_2,
                                        s.max_clusters_4, s.max_clusters_8));
  line("read capacity", fmt::format("SM ports {:.0f} GB/s, GPC ports {:.0f} GB/s, L2 slices {:.0f} GB/s",
                                    s.sm_read_gb_per_s, s.gpc_read_gb_per_s, s.slice_read_gb_per_s));
  if (s.partitions > 1) {
    line("fabric", fmt::format("{:.0f} GB/s each direction", s.fabric_gb_per_s));
  }
  line("HBM bandwidth", fmt::format("{:.1f} GB/s over the channels, {:.1f} GB/s by clock and width", s.hbm_gb_per_s,
                                    s.hbm_datasheet_gb_per_s));
  line("checks", "every SM reaches every slice and channel; capacities add up");
  return out;
}

}  // namespace strata

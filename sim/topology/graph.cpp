#include "sim/topology/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/graphviz.hpp>
#include <cmath>
#include <sstream>

namespace strata::topology {

namespace {

double gb_per_s(double bytes_per_cycle, double mhz) { return bytes_per_cycle * mhz * 1e-3; }

class Builder {
 public:
  explicit Builder(const GpuConfig& config) : c_(config) {}

  Graph build() {
    crossbar_ = add(NodeKind::kCrossbar, 0, 0, 0);
    for (std::uint32_t gpc = 0; gpc < c_.topology.gpc_sms.size(); ++gpc) {
      add_gpc(gpc);
    }
    add_memory_side();
    return std::move(graph_);
  }

 private:
  Vertex add(NodeKind kind, std::uint32_t index, std::uint32_t partition, std::uint32_t parent) {
    return boost::add_vertex(Node{kind, index, partition, parent}, graph_);
  }
  void link(Vertex from, Vertex to, double read_gb_per_s) { boost::add_edge(from, to, Link{read_gb_per_s}, graph_); }

  void add_gpc(std::uint32_t gpc) {
    const auto partition = static_cast<std::uint32_t>(c_.topology.gpc_partition[gpc]);
    const Vertex gpc_vertex = add(NodeKind::kGpc, gpc, partition, gpc);
    link(gpc_vertex, crossbar_, gb_per_s(c_.xbar.gpc_read_bytes_per_cycle, c_.clocks.l2_mhz));
    const int tpcs = c_.topology.gpc_sms[gpc] / c_.topology.sms_per_tpc;
    Vertex above = gpc_vertex;
    for (int tpc = 0; tpc < tpcs; ++tpc) {
      if (c_.topology.tpcs_per_cpc > 0 && tpc % c_.topology.tpcs_per_cpc == 0) {
        above = add(NodeKind::kCpc, cpcs_++, partition, gpc);
        const int in_cpc = std::min(c_.topology.tpcs_per_cpc, tpcs - tpc);
        // 0 = the CPC is no limit: as wide as its TPCs.
        const double width = c_.xbar.cpc_read_bytes_per_cycle > 0 ? c_.xbar.cpc_read_bytes_per_cycle
                                                                  : in_cpc * c_.xbar.tpc_read_bytes_per_cycle;
        link(above, gpc_vertex, gb_per_s(width, c_.clocks.sm_max_mhz));
      }
      const Vertex tpc_vertex = add(NodeKind::kTpc, tpcs_++, partition, gpc);
      link(tpc_vertex, above, gb_per_s(c_.xbar.tpc_read_bytes_per_cycle, c_.clocks.sm_max_mhz));
      for (int sm = 0; sm < c_.topology.sms_per_tpc; ++sm) {
        const Vertex sm_vertex = add(NodeKind::kSm, sms_++, partition, gpc);
        link(sm_vertex, tpc_vertex, gb_per_s(c_.xbar.sm_read_bytes_per_cycle, c_.clocks.sm_max_mhz));
      }
    }
  }

  void add_memory_side() {
    const auto partitions = static_cast<std::uint32_t>(c_.l2.partitions);
    const auto slices = static_cast<std::uint32_t>(c_.l2.slices);
    const auto channels = static_cast<std::uint32_t>(c_.num_pseudo_channels());
    const auto channels_per_stack =
        static_cast<std::uint32_t>(c_.hbm.channels_per_stack * c_.hbm.pseudo_channels_per_channel);
    std::vector<Vertex> slice_vertex;
    for (std::uint32_t slice = 0; slice < slices; ++slice) {
      slice_vertex.push_back(add(NodeKind::kSlice, slice, slice / (slices / partitions), 0));
      link(crossbar_, slice_vertex.back(), gb_per_s(c_.l2.slice_bytes_per_cycle, c_.clocks.l2_mhz));
    }
    std::vector<Vertex> channel_vertex;
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
      channel_vertex.push_back(
          add(NodeKind::kChannel, channel, channel / (channels / partitions), channel / channels_per_stack));
    }
    // Several channels behind a slice, or several slices in front of a channel.
    const double channel_rate = gb_per_s(c_.hbm.pseudo_channel_bits / 8.0 * 2, c_.clocks.hbm_mhz);
    const std::uint32_t links = std::max(slices, channels);
    for (std::uint32_t i = 0; i < links; ++i) {
      const std::uint32_t slice = i / (links / slices);
      const std::uint32_t channel = i / (links / channels);
      link(slice_vertex[slice], channel_vertex[channel], channel_rate * channels / links);
    }
    if (partitions > 1) {
      // A slice reaches the other partition's slices through the fabric.
      const Vertex fabric = add(NodeKind::kFabric, 0, 0, 0);
      const double share = gb_per_s(c_.fabric.bytes_per_cycle, c_.clocks.l2_mhz) / (slices / partitions);
      for (const Vertex v : slice_vertex) {
        link(v, fabric, share);
        link(fabric, v, share);
      }
    }
  }

  const GpuConfig& c_;
  Graph graph_;
  Vertex crossbar_ = 0;
  std::uint32_t cpcs_ = 0;
  std::uint32_t tpcs_ = 0;
  std::uint32_t sms_ = 0;
};

/// Marks what one SM reaches.
std::vector<bool> reached_from(const Graph& graph, Vertex start) {
  std::vector<boost::default_color_type> colours(boost::num_vertices(graph), boost::white_color);
  boost::breadth_first_search(
      graph, start,
      boost::color_map(boost::make_iterator_property_map(colours.begin(), boost::get(boost::vertex_index, graph))));
  std::vector<bool> reached(colours.size());
  std::transform(colours.begin(), colours.end(), reached.begin(),
                 [](boost::default_color_type colour) { return colour != boost::white_color; });
  return reached;
}

void check_close(std::vector<Diagnostic>& found, const char* key, const char* what, double sum, double expected) {
  if (std::fabs(sum - expected) > 0.01 * expected) {
    found.push_back(
        {{}, 0, 0, key, fmt::format("{} add up to {:.1f} GB/s, expected {:.1f} within 1 %", what, sum, expected)});
  }
}

}  // namespace

Graph build_graph(const GpuConfig& config) { return Builder(config).build(); }

std::vector<Diagnostic> check_graph(const Graph& graph, const GpuConfig& config) {
  std::vector<Diagnostic> found;
  for (const Vertex sm : boost::make_iterator_range(boost::vertices(graph))) {
    if (graph[sm].kind != NodeKind::kSm) {
      continue;
    }
    const std::vector<bool> reached = reached_from(graph, sm);
    for (const Vertex v : boost::make_iterator_range(boost::vertices(graph))) {
      const NodeKind kind = graph[v].kind;
      if ((kind == NodeKind::kSlice || kind == NodeKind::kChannel) && !reached[v]) {
        found.push_back({{}, 0, 0, "topology", name(graph[sm]) + " does not reach " + name(graph[v])});
      }
    }
    if (!found.empty()) {
      break;  // one SM's list says it all
    }
  }
  check_close(found, "hbm.stacks", "channel links", capacity(graph, NodeKind::kSlice, NodeKind::kChannel),
              config.hbm_peak_gb_per_s());
  check_close(found, "l2.slices", "slice links", capacity(graph, NodeKind::kCrossbar, NodeKind::kSlice),
              gb_per_s(static_cast<double>(config.l2.slices) * config.l2.slice_bytes_per_cycle, config.clocks.l2_mhz));
  if (count(graph, NodeKind::kSm) != static_cast<std::uint32_t>(config.num_sms())) {
    found.push_back(
        {{},
         0,
         0,
         "topology.gpc_sms",
         fmt::format("{} SMs in the graph, {} in the configuration", count(graph, NodeKind::kSm), config.num_sms())});
  }
  return found;
}

double capacity(const Graph& graph, NodeKind from, NodeKind to) {
  double sum = 0;
  for (const auto e : boost::make_iterator_range(boost::edges(graph))) {
    if (graph[boost::source(e, graph)].kind == from && graph[boost::target(e, graph)].kind == to) {
      sum += graph[e].read_gb_per_s;
    }
  }
  return sum;
}

std::uint32_t count(const Graph& graph, NodeKind kind) {
  std::uint32_t n = 0;
  for (const Vertex v : boost::make_iterator_range(boost::vertices(graph))) {
    n += graph[v].kind == kind ? 1 : 0;
  }
  return n;
}

std::string name(const Node& node) {
  switch (node.kind) {
    case NodeKind::kSm:
      return fmt::format("SM {}", node.index);
    case NodeKind::kTpc:
      return fmt::format("TPC {}", node.index);
    case NodeKind::kCpc:
      return fmt::format("CPC {}", node.index);
    case NodeKind::kGpc:
      return fmt::format("GPC {}", node.index);
    case NodeKind::kCrossbar:
      return "crossbar";
    case NodeKind::kSlice:
      return fmt::format("L2 slice {}", node.index);
    case NodeKind::kFabric:
      return "fabric";
    case NodeKind::kChannel:
      return fmt::format("HBM {}.{}", node.parent, node.index);
  }
  return {};
}

std::string to_graphviz(const Graph& graph) {
  std::ostringstream out;
  boost::write_graphviz(
      out, graph, [&graph](std::ostream& os, Vertex v) { os << "[label=\"" << name(graph[v]) << "\"]"; },
      [&graph](std::ostream& os, const auto& e) {
        os << fmt::format("[label=\"{:.0f} GB/s\"]", graph[e].read_gb_per_s);
      },
      [](std::ostream& os) { os << "rankdir=LR;\nnode [shape=box];\n"; });
  return out.str();
}

}  // namespace strata::topology

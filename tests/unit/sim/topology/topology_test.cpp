#include "sim/topology/topology.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "sim/config/gpu_description.hpp"
#include "sim/topology/graph.hpp"

using namespace strata;
using topology::Graph;
using topology::NodeKind;

TEST_CASE("Topology: every GPU builds, and its channels add up to the data sheet", "[topology]") {
  for (const std::string& name : list_gpus()) {
    INFO(name);
    const GpuConfig config = load_gpu(name).config;
    const Topology t = build_topology(config);
    CHECK(t.summary.sms == static_cast<std::uint32_t>(config.num_sms()));
    CHECK(t.summary.hbm_gb_per_s == Approx(config.hbm_peak_gb_per_s()).epsilon(0.01));
    CHECK(std::accumulate(t.summary.partition_sms.begin(), t.summary.partition_sms.end(), 0U) == t.summary.sms);
    CHECK(topology_text(t).find("GB/s") != std::string::npos);
  }
}

TEST_CASE("Topology: the text has the L2's size in MiB", "[topology]") {
  const std::string text = topology_text(build_topology(load_gpu("h100-sxm5-80gb").config));
  CHECK(text.find("50 MiB in 80 slices") != std::string::npos);
}

TEST_CASE("Topology: H100 SXM has 132 SMs and room for 66, 30 and 15 clusters of 2, 4 and 8", "[topology][h100]") {
  const TopologySummary s = build_topology(load_gpu("h100-sxm5-80gb").config).summary;
  CHECK(s.sms == 132);
  CHECK(s.tpcs == 66);
  CHECK(s.gpcs == 8);
  CHECK(s.max_clusters_2 == 66);
  CHECK(s.max_clusters_4 == 30);
  CHECK(s.max_clusters_8 == 15);
  CHECK(s.pseudo_channels == 160);
  CHECK(s.hbm_gb_per_s == Approx(3352).epsilon(0.01));
}

TEST_CASE("Topology: frozen tables agree with the configuration", "[topology]") {
  const GpuConfig c = load_gpu("h100-sxm5-80gb").config;
  const TopologyTables t = build_topology(c).tables;
  std::size_t sm = 0;
  for (std::size_t gpc = 0; gpc < c.topology.gpc_sms.size(); ++gpc) {
    CHECK(t.gpc_partition[gpc] == c.topology.gpc_partition[gpc]);
    for (int i = 0; i < c.topology.gpc_sms[gpc]; ++i, ++sm) {
      CHECK(t.sm_gpc[sm] == gpc);
      CHECK(t.sm_partition[sm] == t.gpc_partition[gpc]);
      CHECK(t.sm_tpc[sm] == sm / 2);
    }
  }
  CHECK(t.sm_cpc.size() == sm);
  CHECK(t.num_tpcs == 66);
  CHECK(t.num_cpcs == 24);  // 3 CPCs of up to 3 TPCs in GPCs of 16 and 18 SMs
  std::set<std::uint16_t> channels;
  for (std::size_t slice = 0; slice < t.slice_channels.size(); ++slice) {
    CHECK(t.slice_partition[slice] == slice / 40);
    CHECK(t.slice_channels[slice].size() == 2);
    for (const std::uint16_t channel : t.slice_channels[slice]) {
      CHECK(channels.insert(channel).second);
      CHECK(t.channel_partition[channel] == t.slice_partition[slice]);
    }
  }
  CHECK(channels.size() == 160);
  CHECK(t.channel_stack.back() == 4);
}

TEST_CASE("Topology: a part without CPCs numbers them as its GPCs", "[topology]") {
  const TopologyTables t = build_topology(load_gpu("a100-sxm4-80gb").config).tables;
  CHECK(t.sm_cpc == t.sm_gpc);
  CHECK(t.num_cpcs == t.num_gpcs);
}

TEST_CASE("Topology: one partition needs no fabric, several slices may share a channel", "[topology]") {
  const GpuConfig one =
      load_gpu("h100-sxm5-80gb", {"l2.partitions=1", "topology.gpc_partition=[0,0,0,0,0,0,0,0]"}).config;
  CHECK(build_topology(one).summary.fabric_gb_per_s == 0);
  const GpuConfig shared = load_gpu("h100-sxm5-80gb", {"hbm.channels_per_stack=4"}).config;
  const Topology t = build_topology(shared);
  CHECK(t.summary.pseudo_channels == 40);
  CHECK(t.tables.slice_channels[3] == std::vector<std::uint16_t>{1});
  CHECK(t.summary.hbm_gb_per_s == Approx(shared.hbm_peak_gb_per_s()));
}

TEST_CASE("Topology: a cut link and a missing capacity are noticed", "[topology][error]") {
  const GpuConfig config = load_gpu("h100-sxm5-80gb").config;
  Graph graph = topology::build_graph(config);
  REQUIRE(topology::check_graph(graph, config).empty());
  for (const auto v : boost::make_iterator_range(boost::vertices(graph))) {
    if (graph[v].kind == NodeKind::kChannel && graph[v].index == 17) {
      boost::clear_vertex(v, graph);
      break;
    }
  }
  const auto found = topology::check_graph(graph, config);
  REQUIRE_FALSE(found.empty());
  CHECK(found[0].message == "SM 0 does not reach HBM 0.17");

  Graph narrow = topology::build_graph(config);
  for (const auto e : boost::make_iterator_range(boost::edges(narrow))) {
    narrow[e].read_gb_per_s *= 0.98;
  }
  CHECK(topology::check_graph(narrow, config).size() == 2);
}

TEST_CASE("Topology: Graphviz text names every node", "[topology]") {
  const std::string dot = topology_dot(build_topology(load_gpu("a100-sxm4-80gb").config));
  CHECK(dot.starts_with("digraph"));
  for (const char* name :
       {"\"SM 107\"", "\"TPC 53\"", "\"GPC 6\"", "\"crossbar\"", "\"L2 slice 79\"", "\"fabric\"", "\"HBM 4.79\""}) {
    CHECK(dot.find(name) != std::string::npos);
  }
}

TEST_CASE("Topology: a configuration with problems is refused before anything is built", "[topology][error]") {
  GpuConfig config = load_gpu("h100-sxm5-80gb").config;
  config.l2.slices = 0;
  CHECK_THROWS_AS(build_topology(config), InputError);
}

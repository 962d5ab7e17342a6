#include "models/hw/system/cta_scheduler.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/hw/noc/crossbar.hpp"
#include "models/hw/sm/occupancy.hpp"
#include "sim/config/gpu_description.hpp"
#include "sim/topology/sm_layout.hpp"
#include "tests/unit/models/hw/support/script_source.hpp"

using namespace strata;
using namespace strata::test;

namespace {

/// An H100 that has just been filled: which SM every CTA went to, in launch order.
class Filled {
 public:
  Filled(std::uint32_t ctas, std::uint32_t cluster, std::uint32_t ctas_per_sm = 1)
      : config_(load_gpu("h100-sxm5-80gb").config), source_(make_launch(ctas, cluster, ctas_per_sm), {compute(1)}) {
    context_.config = &config_;
    context_.time = TimeBase(1980, config_.clocks.l2_mhz, config_.clocks.hbm_mhz);
    Crossbar crossbar(context_);
    environment_.context = &context_;
    environment_.source = &source_;
    environment_.clusters = &clusters_;
    environment_.global_counters = &counters_;
    environment_.sms = &sms_;
    environment_.occupancy = occupancy(config_, source_.launch());
    environment_.fetch_buffer.resize(256);
    const int n = config_.num_sms();
    sms_.reserve(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
      sms_.emplace_back(environment_, static_cast<std::uint16_t>(i), crossbar.port(static_cast<std::uint32_t>(i)));
    }
    CtaScheduler scheduler(context_, source_.launch(), sms_, clusters_);
    scheduler.start(0);
    launched_ = scheduler.launched();
    // Every placement posts one start event; posting order is launch order.
    std::map<std::uint32_t, std::uint32_t> by_sequence;
    Event e{};
    while (context_.events.pop(e)) by_sequence[e.sequence_low] = e.unit;
    for (const auto& [sequence, sm] : by_sequence) sms_in_order_.push_back(sm);
  }
  [[nodiscard]] const std::vector<std::uint32_t>& sms() const { return sms_in_order_; }
  [[nodiscard]] std::uint64_t launched() const { return launched_; }

 private:
  static Launch make_launch(std::uint32_t ctas, std::uint32_t cluster, std::uint32_t ctas_per_sm) {
    Launch l = plain_launch(ctas);
    l.cluster = Dim3{cluster, 1, 1};
    l.smem_dynamic_bytes = 228 * 1024 / ctas_per_sm - 1024;
    return l;
  }
  GpuConfig config_;
  ScriptSource source_;
  Context context_;
  ClusterTable clusters_;
  std::vector<Token> counters_;
  SmEnvironment environment_;
  std::vector<Sm> sms_;
  std::vector<std::uint32_t> sms_in_order_;
  std::uint64_t launched_ = 0;
};

std::vector<std::uint32_t> first(const std::vector<std::uint32_t>& v, std::size_t n) {
  return {v.begin(), v.begin() + static_cast<std::ptrdiff_t>(std::min(n, v.size()))};
}

}  // namespace

TEST_CASE("SM layout: numbers run over the GPCs a TPC at a time and end with the lone TPCs of GPC 0", "[layout]") {
  const std::vector<SmPlace> layout = sm_layout(load_gpu("h100-sxm5-80gb").config.topology);
  REQUIRE(layout.size() == 132);
  std::map<int, std::vector<std::uint32_t>> gpc;
  for (std::uint32_t sm = 0; sm < 132; ++sm) {
    gpc[layout[sm].gpc].push_back(sm);
    CHECK(layout[sm].tpc == layout[sm ^ 1U].tpc);
    CHECK(layout[sm].lone_tpc == (sm >= 124));
  }
  CHECK(gpc[0] == std::vector<std::uint32_t>{0, 1, 16, 17, 32, 33, 48, 49, 124, 125, 126, 127, 128, 129, 130, 131});
  CHECK(gpc[1] == std::vector<std::uint32_t>{2, 3, 18, 19, 34, 35, 50, 51, 64, 65, 78, 79, 92, 93, 106, 107});
  CHECK(gpc[7].size() == 18);
  // SMs of GPC 2 that get more of a saturated HBM than the others, on an H200: those of the CPC of two TPCs.
  std::map<int, std::set<std::uint32_t>> cpc_of_gpc_2;
  for (const std::uint32_t sm : gpc[2]) cpc_of_gpc_2[layout[sm].cpc].insert(sm);
  CHECK(cpc_of_gpc_2.size() == 3);
  CHECK(cpc_of_gpc_2[layout[36].cpc] == std::set<std::uint32_t>{36, 37, 80, 81});
  std::set<int> tpcs;
  for (const SmPlace& p : layout) tpcs.insert(p.tpc);
  CHECK(tpcs.size() == 66);
}

TEST_CASE("CTA scheduler: single CTAs fill the lone TPCs, then GPC after GPC", "[scheduler]") {
  const Filled gpu(132, 1);
  CHECK(gpu.launched() == 132);
  CHECK(first(gpu.sms(), 36) == std::vector<std::uint32_t>{124, 125, 126, 127, 128, 129, 130, 131,  // lone TPCs
                                                           0,   1,   16,  17,  32,  33,  48,  49,   // GPC 0
                                                           2,   3,   18,  19,  34,  35,  50,  51,  64, 65,
                                                           78,  79,  92,  93,  106, 107, 4,   5,   20, 21});
  CHECK(std::set<std::uint32_t>(gpu.sms().begin(), gpu.sms().end()).size() == 132);
}

TEST_CASE("CTA scheduler: fewer CTAs than SMs go where an H200 sends them, GPC by GPC", "[scheduler]") {
  std::ifstream in(std::string(STRATA_SOURCE_DIR) + "/validation/data/h200-sxm-141gb/cta_placement.csv");
  std::map<std::uint32_t, std::vector<std::uint32_t>> recorded;  // SMs in the order of the CTAs, by the number of these
  std::string line;
  std::getline(in, line);
  REQUIRE(line == "grid,cta,sm");
  std::uint32_t grid = 0;
  std::uint32_t cta = 0;
  std::uint32_t sm = 0;
  for (char comma = 0; in >> grid >> comma >> cta >> comma >> sm;) recorded[grid].push_back(sm);
  REQUIRE(recorded.size() == 30);
  const std::vector<SmPlace> layout = sm_layout(load_gpu("h100-sxm5-80gb").config.topology);
  for (const auto& [ctas, sms] : recorded) {
    // Which GPC comes first differs from launch to launch on hardware, as does the order of the lone TPCs.
    const auto of_gpc = [&](const std::vector<std::uint32_t>& all, std::uint16_t gpc) {
      std::vector<std::uint32_t> out;
      for (const std::uint32_t s : all) {
        if (layout[s].gpc == gpc && !layout[s].lone_tpc) out.push_back(s);
      }
      return out;
    };
    const Filled gpu(ctas, 1);
    CAPTURE(ctas);
    CHECK(std::set<std::uint32_t>(gpu.sms().begin(), gpu.sms().end()) ==
          std::set<std::uint32_t>(sms.begin(), sms.end()));
    for (std::uint16_t gpc = 0; gpc < 8; ++gpc) CHECK(of_gpc(gpu.sms(), gpc) == of_gpc(sms, gpc));
  }
}

TEST_CASE("CTA scheduler: clusters of two take TPCs by number, the lone ones first", "[scheduler][cluster]") {
  const Filled gpu(132, 2);
  CHECK(gpu.launched() == 132);
  std::vector<std::uint32_t> expected{124, 125, 126, 127, 128, 129, 130, 131};
  for (std::uint32_t sm = 0; sm < 124; ++sm) expected.push_back(sm);
  CHECK(gpu.sms() == expected);
}

TEST_CASE("CTA scheduler: 66, 30, 15 and 7 clusters of 2, 4, 8 and 16 are resident", "[scheduler][cluster]") {
  CHECK(Filled(16 * 100, 2).launched() / 2 == 66);
  CHECK(Filled(16 * 100, 4).launched() / 4 == 30);
  CHECK(Filled(16 * 100, 8).launched() / 8 == 15);
  CHECK(Filled(16 * 100, 16).launched() / 16 == 7);
}

TEST_CASE("CTA scheduler: a cluster stays within a GPC and off the lone TPCs", "[scheduler][cluster]") {
  const std::vector<SmPlace> layout = sm_layout(load_gpu("h100-sxm5-80gb").config.topology);
  for (const std::uint32_t size : {4U, 8U, 16U}) {
    const Filled gpu(16 * 100, size);
    for (std::size_t i = 0; i < gpu.sms().size(); ++i) {
      CHECK_FALSE(layout[gpu.sms()[i]].lone_tpc);
      CHECK(layout[gpu.sms()[i]].gpc == layout[gpu.sms()[i / size * size]].gpc);
    }
  }
}

TEST_CASE("CTA scheduler: with room for two, every SM gets one before any gets a second", "[scheduler]") {
  const Filled gpu(264, 1, 2);
  REQUIRE(gpu.launched() == 264);
  for (std::size_t i = 0; i < 132; ++i) CHECK(gpu.sms()[i] == gpu.sms()[i + 132]);
}

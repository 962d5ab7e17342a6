/// Issue slots that stay empty because no warp of the sub-partition has an instruction ready.
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string_view>

#include "models/hw/system/simulator.hpp"
#include "sim/config/gpu_description.hpp"
#include "tests/support/h100.hpp"
#include "tests/unit/models/hw/support/script_source.hpp"

using namespace strata;
using namespace strata::test;

namespace {

/// Cycles of 64 instructions a warp, of which `chain` wait for one another for 4 cycles each.
double cycles_each(std::uint32_t warps_per_smsp, std::uint32_t chain) {
  Operation op = compute(64, Pipe::kFma);
  op.dependent_latency = chain;
  const auto cycles = [&](std::size_t times) {
    const ScriptSource source(plain_launch(1, 4 * warps_per_smsp), std::vector<Operation>(times, op));
    return simulate(h100(), source, SimulationOptions{1980, {}}).sm_cycles;
  };
  return (cycles(101) - cycles(1)) / 100;
}

/// When the CTAs of each SM end.
class CtaEnds final : public ObserverSink {
 public:
  void on_span(const Span& span) override {
    if (std::string_view(span.lane) == "CTAs") {
      of_sm[span.sm].insert(span.end);
    }
  }
  std::map<std::uint32_t, std::set<Tick>> of_sm;
};

struct Pairs {
  double cycles = 0;
  double first_of_last = 0;  ///< end of the CTA of an SM that ends first, of its last one's, mean
  double apart = 0;          ///< of the SMs' first ends, cycles
};

/// Two CTAs on each SM that work on tile after tile.
Pairs pairs(const std::vector<std::string>& overrides) {
  std::vector<std::string> values{"sm.greedy_gap_cycles=0"};
  values.insert(values.end(), overrides.begin(), overrides.end());
  const GpuConfig gpu = load_gpu("h100-sxm5-80gb", values).config;
  const std::vector<Operation> tiles(64, compute(4096, Pipe::kFma));
  Launch l = plain_launch(2 * static_cast<std::uint32_t>(gpu.num_sms()), 4);
  l.smem_dynamic_bytes = 100 << 10;
  CtaEnds ends;
  SimulationOptions options{1980, {}};
  options.observer = &ends;
  Pairs p;
  p.cycles = simulate(gpu, ScriptSource(l, tiles), options).sm_cycles;
  Tick first = 0;
  Tick last = 0;
  for (const auto& [sm, both] : ends.of_sm) {
    REQUIRE(both.size() == 2);
    p.first_of_last += static_cast<double>(*both.begin()) / static_cast<double>(*both.rbegin()) / gpu.num_sms();
    first = first == 0 ? *both.begin() : std::min(first, *both.begin());
    last = std::max(last, *both.begin());
  }
  p.apart = TimeBase(1980, gpu.clocks.l2_mhz, gpu.clocks.hbm_mhz).sm_cycles(last - first);
  return p;
}

}  // namespace

TEST_CASE("Issue: of two CTAs on an SM the older ends first, and both together lose nothing by it", "[issue]") {
  const Pairs fair = pairs({"sm.oldest_first_share=0"});
  const Pairs always = pairs({"sm.oldest_first_share=1"});
  const Pairs sometimes = pairs({});
  CHECK(fair.first_of_last > 0.98);
  CHECK(always.first_of_last == Approx(0.5).margin(0.03));
  CHECK(sometimes.first_of_last > 0.6);
  CHECK(sometimes.first_of_last < 0.95);
  CHECK(always.cycles == Approx(fair.cycles).epsilon(0.005));
  CHECK(sometimes.cycles == Approx(fair.cycles).epsilon(0.005));
}

TEST_CASE("Issue: SMs with alike pairs of CTAs do not stay in step", "[issue]") {
  CHECK(pairs({"sm.oldest_first_share=0"}).apart < 400);
  const Pairs drawn = pairs({});
  CHECK(drawn.apart > 2000);
  CHECK(drawn.cycles == pairs({}).cycles);  // the same turns in every run
}

TEST_CASE("Issue: a CTA that comes to an SM full of greedy warps gets its turn when theirs are over", "[issue]") {
  // Measured on an H200 (gelu_warps.csv): warps that start beside computing ones have issued ten instructions 2800 clk
  // later.
  Operation arithmetic = compute(1024, Pipe::kFma);
  const auto wait_of_fifth = [&](std::uint32_t chain, const std::vector<std::string>& overrides) {
    arithmetic.dependent_latency = chain;
    const GpuConfig gpu = load_gpu("h100-sxm5-80gb", overrides).config;
    Launch l = plain_launch(5 * static_cast<std::uint32_t>(gpu.num_sms()), 4);
    l.smem_dynamic_bytes = 50 << 10;  // four CTAs an SM
    CtaEnds ends;
    SimulationOptions options{1980, {}};
    options.observer = &ends;
    REQUIRE(simulate(gpu, ScriptSource(l, {compute(16), arithmetic}), options).sm_cycles > 0);
    const std::set<Tick>& of_one = ends.of_sm.at(0);
    return static_cast<double>(*of_one.rbegin() - *of_one.begin()) / static_cast<double>(*of_one.rbegin());
  };
  // Greedy: one CTA after the other ends. Of a full chain: the first four end together, as without the rule.
  CHECK(wait_of_fifth(0, {}) > 1.8 * wait_of_fifth(0, {"sm.greedy_gap_cycles=0"}));
  CHECK(wait_of_fifth(1024, {}) == wait_of_fifth(1024, {"sm.greedy_gap_cycles=0"}));
}

TEST_CASE("Issue slots: two warps that are each ready half of the time fill four fifths", "[issue]") {
  CHECK(cycles_each(1, 32) == Approx(128).epsilon(0.002));  // alone: the chain
  // One warp uses 1/2 and is at the queue as often; two use 2 / (1 + 1 + 1/2).
  CHECK(cycles_each(2, 32) == Approx(128 / 0.8).epsilon(0.002));
}

TEST_CASE("Issue slots: warps whose chains leave three quarters to others", "[issue]") {
  // One to four warps with gaps of three use 1/4, 2/4.25, 3/4.588 and 4/5.038.
  CHECK(cycles_each(4, 64) == Approx(4 * 64 / 0.7939).epsilon(0.002));
}

TEST_CASE("Issue slots: many warps, and warps that never wait, leave none empty", "[issue]") {
  CHECK(cycles_each(8, 32) == Approx(8 * 64).epsilon(0.002));
  CHECK(cycles_each(2, 16) == Approx(2 * 64).epsilon(0.002));
}

TEST_CASE("Issue slots: CTAs that only wait do not hold one another up", "[issue]") {
  // Measured on an H200: 528 CTAs of 256 threads that wait 4000 cycles take 1124 cycles more than one of them, all of
  // it for starts and ends; 264, 523.
  Operation wait = compute(4);
  wait.dependent_latency = 1000;
  const auto cycles = [&](std::uint32_t ctas) {
    return simulate(h100(), ScriptSource(plain_launch(ctas, 8), {wait}), SimulationOptions{1980, {}}).sm_cycles;
  };
  CHECK(cycles(264) - cycles(1) < 700);
  CHECK(cycles(528) - cycles(1) < 1124);
}

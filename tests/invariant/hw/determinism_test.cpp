// Same inputs, same result: twice in a row, and whatever ran before.
#include <catch2/catch.hpp>

#include "tests/invariant/hw/runs.hpp"
#include "workloads/kernels/microbench.hpp"

using namespace strata;
using namespace strata::test;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

void check_equal(const Result& a, const Result& b) {
  CHECK(a.counters.value == b.counters.value);
  CHECK(a.cycle_stack == b.cycle_stack);
  CHECK(a.sm_cycles == b.sm_cycles);
  CHECK(a.sm_active_cycles_avg == b.sm_active_cycles_avg);
  CHECK(a.duration_us == b.duration_us);
  CHECK(a.events == b.events);
  CHECK(a.utilization.hbm == b.utilization.hbm);
  CHECK(a.utilization.l2 == b.utilization.l2);
  CHECK(a.utilization.fabric == b.utilization.fabric);
  CHECK(a.utilization.issue == b.utilization.issue);
}

StreamConfig triad() {
  StreamConfig c;
  c.bytes = 8 * kMiB;
  c.reads = 2;
  c.writes = 1;
  return c;
}

}  // namespace

TEST_CASE("Determinism: two runs give identical results", "[invariant][determinism]") {
  const auto source = make_stream(triad());
  check_equal(run(h100(), *source), run(h100(), *source));
  const auto tensor = make_wgmma_stream({});
  check_equal(run(h100(), *tensor), run(h100(), *tensor));
}

TEST_CASE("Determinism: a result does not depend on what ran before, on this GPU or another",
          "[invariant][determinism]") {
  const auto source = make_stream(triad());
  const Result alone = run(h100(), *source);
  (void)run(load_gpu("a100-sxm4-40gb").config, *source);
  (void)run(h100(), *make_wgmma_stream({}));
  check_equal(alone, run(h100(), *source));
}

TEST_CASE("Determinism: progress reports change nothing", "[invariant][determinism]") {
  const auto source = make_stream(triad());
  SimulationOptions options{kClockMhz, [](double, double) {}};
  check_equal(run(h100(), *source), simulate(h100(), *source, options));
}

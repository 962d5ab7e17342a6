/// Issue slots that stay empty because no warp of the sub-partition has an instruction ready.
#include <catch2/catch.hpp>

#include "models/hw/system/simulator.hpp"
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

}  // namespace

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

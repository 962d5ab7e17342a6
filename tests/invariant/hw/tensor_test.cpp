// One warpgroup that issues wgmma back to back: the measured interval for every N.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/invariant/hw/runs.hpp"
#include "workloads/kernels/microbench.hpp"

using namespace strata;
using namespace strata::test;

namespace {
double cycles_per_wgmma(WgmmaStreamConfig c) {
  c.per_group = 4;
  c.groups = 16;
  const double shorter = run(h100(), *make_wgmma_stream(c)).sm_cycles;
  c.groups = 48;
  const double longer = run(h100(), *make_wgmma_stream(c)).sm_cycles;
  return (longer - shorter) / (32.0 * c.per_group * c.warpgroups);
}
}  // namespace

TEST_CASE("Tensor core: one wgmma stream takes max(N/2, 16 + N/4) cycles per instruction", "[invariant][tensor]") {
  for (std::uint32_t n = 8; n <= 256; n += 8) {
    WgmmaStreamConfig c;
    c.n = n;
    INFO("N = " << n);
    CHECK(cycles_per_wgmma(c) == Approx(std::max(n / 2.0, 16 + n / 4.0)).epsilon(0.05));
  }
}

TEST_CASE("Tensor core: with A in registers only B is read, and 13 cycles is the floor", "[invariant][tensor]") {
  for (const std::uint32_t n : {8U, 16U, 32U, 64U, 128U, 256U}) {
    WgmmaStreamConfig c;
    c.n = n;
    c.a_in_registers = true;
    c.depth = 4;  // two groups of short instructions do not cover the latency
    INFO("N = " << n);
    CHECK(cycles_per_wgmma(c) == Approx(std::max(n / 2.0, 13.0)).epsilon(0.05));
  }
}

TEST_CASE("Tensor core: two warpgroups share the rate of one, and 8-bit doubles K", "[invariant][tensor]") {
  WgmmaStreamConfig c;
  c.n = 128;
  c.warpgroups = 2;
  CHECK(cycles_per_wgmma(c) == Approx(64).epsilon(0.05));
  c.warpgroups = 1;
  c.bits = 8;
  c.mma_k = 32;
  CHECK(cycles_per_wgmma(c) == Approx(64).epsilon(0.05));
}

TEST_CASE("Tensor core: a single drained wgmma takes 55.5 + N/2 cycles", "[invariant][tensor]") {
  // With one instruction per group and one group in flight, every interval is a whole latency.
  for (const std::uint32_t n : {64U, 128U, 256U}) {
    WgmmaStreamConfig c;
    c.n = n;
    c.per_group = 1;
    c.depth = 1;
    c.groups = 16;
    const double shorter = run(h100(), *make_wgmma_stream(c)).sm_cycles;
    c.groups = 48;
    const double longer = run(h100(), *make_wgmma_stream(c)).sm_cycles;
    INFO("N = " << n);
    CHECK((longer - shorter) / 32.0 == Approx(55.5 + std::max(n / 2.0, 16 + n / 4.0)).epsilon(0.05));
  }
}

TEST_CASE("Tensor core: mma.sync m16n8k16 takes 6 cycles per instruction and sub-partition", "[invariant][tensor]") {
  MmaStreamConfig c;
  c.operations = 16;
  const double shorter = run(h100(), *make_mma_stream(c)).sm_cycles;
  c.operations = 48;
  const double longer = run(h100(), *make_mma_stream(c)).sm_cycles;
  CHECK((longer - shorter) / (32.0 * c.per_operation) == Approx(6).epsilon(0.05));
}

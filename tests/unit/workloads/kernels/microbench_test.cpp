/// Microbenchmark traces: what they ask for, and that they finish.
#include "workloads/kernels/microbench.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/support/trace_totals.hpp"
#include "tests/unit/workloads/kernels/untimed_run.hpp"

using namespace strata;

TEST_CASE("microbench: a load chain visits its addresses in order, each load after the last",
          "[workloads][microbench]") {
  LoadChainConfig c;
  c.addresses = strided_addresses(1 << 20, 4096, 128);
  c.passes = 2;
  REQUIRE(c.addresses.size() == 32);
  const auto source = make_load_chain(c);
  std::uint32_t i = 0;
  test::walk_cta(*source, 0, [&](const StreamId&, const Operation& op) {
    CHECK(op.mem.address == c.addresses[i % 32]);
    CHECK(op.waits[0].count == i);
    ++i;
  });
  CHECK(i == 64);
  CHECK(test::UntimedRun(*source, 0).finishes());
  CHECK_THROWS_AS(make_load_chain({}), InputError);
}

TEST_CASE("microbench: a stream moves its bytes once per pass", "[workloads][microbench]") {
  StreamConfig c;
  c.bytes = 8 << 20;
  c.reads = 2;
  c.writes = 1;
  c.passes = 2;
  const auto source = make_stream(c);
  const test::TraceTotals t = test::trace_totals(*source);
  CHECK(32.0 * static_cast<double>(t.delivered_sectors) == 2 * source->launch().work.compulsory_read_bytes);
  CHECK(32.0 * static_cast<double>(t.stored_sectors) == 2 * source->launch().work.compulsory_write_bytes);
  CHECK(source->launch().buffers[0].bytes >= c.bytes);
  CHECK(test::UntimedRun(*source, 7).finishes());
}

TEST_CASE("microbench: tensor streams issue what they say", "[workloads][microbench]") {
  WgmmaStreamConfig w;
  w.warpgroups = 2;
  const auto wgmma = make_wgmma_stream(w);
  CHECK(test::trace_totals(*wgmma).tensor_insts == 4 * 4 * 256 * 2);
  CHECK(test::UntimedRun(*wgmma, 0).finishes());
  const auto mma = make_mma_stream({});
  CHECK(test::trace_totals(*mma).tensor_insts == 64 * 64 * 4);
  CHECK_THROWS_AS(make_wgmma_stream({.n = 100}), InputError);
}

TEST_CASE("microbench: bank conflicts multiply wavefronts", "[workloads][microbench]") {
  BankConflictConfig c;
  const std::uint64_t free = test::trace_totals(*make_bank_conflicts(c)).smem_wavefronts;
  c.ways = 8;
  const auto source = make_bank_conflicts(c);
  CHECK(test::trace_totals(*source).smem_wavefronts == 8 * free);
  CHECK(test::UntimedRun(*source, 0).finishes());
  CHECK(test::UntimedRun(*make_shared_chain(100), 0).finishes());
  CHECK(test::UntimedRun(*make_empty_kernel(1), 0).finishes());
  CHECK(test::UntimedRun(*make_compute_stream({}), 0).finishes());
}

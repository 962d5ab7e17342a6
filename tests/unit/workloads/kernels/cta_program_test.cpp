/// CTA programs: which rows and columns a CTA touches, ragged ends, shares of counts, waits.
#include "workloads/kernels/cta_program.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "sim/base/error.hpp"
#include "tests/support/trace_totals.hpp"
#include "tests/unit/workloads/kernels/untimed_run.hpp"
#include "workloads/kernels/block_reduce.hpp"

using namespace strata;

namespace {

/// 10 rows of 100 fp32 in CTAs of 4 rows, 64 columns a trip: 3 CTAs, 2 trips; the last CTA has 2 rows.
CtaProgram ragged() {
  CtaProgram p;
  p.launch.grid.x = 3;
  p.launch.block.x = 128;
  const std::uint64_t base = add_buffer(p.launch, "input", 10 * 100 * 4);
  CtaLoop loop;
  loop.tile.rows = 4;
  loop.tile.rows_total = 10;
  loop.tile.cols = 64;
  loop.tile.cols_total = 100;
  loop.trips = 2;
  CtaStep work = compute_step(Arithmetic{.fma = 10}, 4);
  loop.steps = {access_step(MemDir::kLoad, base, 32, 400, 2, 4), work};
  p.loops = {loop};
  return p;
}

std::vector<Operation> operations(const TraceSource& source, std::uint64_t cta) {
  std::vector<Operation> ops;
  test::walk_cta(source, cta, [&](const StreamId&, const Operation& op) { ops.push_back(op); });
  return ops;
}

}  // namespace

TEST_CASE("CTA program: rows and columns out of range are left out", "[workloads][cta_program]") {
  const auto source = make_cta_program(ragged());
  const std::vector<Operation> first = operations(*source, 0);
  REQUIRE(first.size() == 4);
  CHECK(first[0].mem.rows == 4);
  CHECK(first[0].mem.row_bytes == 256);
  CHECK(first[0].mem.row_pitch == 400);
  CHECK(first[2].mem.address == first[0].mem.address + 256);
  CHECK(first[2].mem.row_bytes == 144);  // 36 columns
  CHECK(first[1].waits[0].count == 1);
  CHECK(first[3].waits[0].count == 2);
  const std::vector<Operation> last = operations(*source, 2);
  CHECK(last[0].mem.rows == 2);
  CHECK(last[0].mem.address == first[0].mem.address + 8 * 400);
  CHECK(first[1].warp_insts == 40);
  CHECK(last[1].warp_insts == 20);  // two of four rows: half of the warps
  for (std::uint64_t cta = 0; cta < 3; ++cta) CHECK(test::UntimedRun(*source, cta).finishes());
}

TEST_CASE("CTA program: groups of warps share the rows", "[workloads][cta_program]") {
  CtaProgram p = ragged();
  p.groups = 2;
  const auto source = make_cta_program(std::move(p));
  REQUIRE(source->launch().streams.size() == 2);
  CHECK(source->launch().streams[1].first_warp == 2);
  const std::vector<Operation> ops = operations(*source, 0);
  REQUIRE(ops.size() == 8);
  CHECK(ops[4].mem.rows == 2);
  CHECK(ops[4].mem.address == ops[0].mem.address + 2 * 400);
  CHECK(ops[1].warp_insts == 20);
  CHECK(ops[1].issue_slots == 10);  // of each warp
  CHECK(test::trace_totals(*make_cta_program(ragged())).delivered_sectors ==
        test::trace_totals(*source).delivered_sectors);
}

TEST_CASE("CTA program: sweeps touch the same sectors again", "[workloads][cta_program]") {
  CtaProgram p = ragged();
  p.loops[0].tile = CtaTile{};
  p.loops[0].tile.cols = p.loops[0].tile.cols_total = 128;
  p.loops[0].trips = 1;
  p.loops[0].steps[0].sweeps = 4;
  const auto source = make_cta_program(std::move(p));
  const Operation load = operations(*source, 0)[0];
  CHECK(load.mem.rows == 4);
  CHECK(load.mem.row_pitch == 4);
  CHECK(load.mem.row_bytes == 512 - 12);
  CHECK(test::totals_of(load, 4).delivered_sectors == 4 * 16);
}

TEST_CASE("CTA program: programs that cannot be walked are refused", "[workloads][cta_program]") {
  CtaProgram p = ragged();
  p.groups = 3;
  CHECK_THROWS_AS(make_cta_program(std::move(p)), ModelBug);
  p = ragged();
  p.loops[0].tile.cols = 0;
  CHECK_THROWS_AS(make_cta_program(std::move(p)), ModelBug);
  p = ragged();
  p.loops[0].steps.resize(TraceSource::kMinFetch + 1);
  CHECK_THROWS_AS(make_cta_program(std::move(p)), ModelBug);
}

TEST_CASE("arithmetic: the slowest pipe, and the time one warp needs to issue", "[workloads][cta_program]") {
  const Operation fma = compute_operation(Arithmetic{.fma = 30, .alu = 10}, 2);
  CHECK(fma.pipe == Pipe::kFma);
  CHECK(fma.issue_slots == 40);
  CHECK(fma.warp_insts == 80);
  CHECK(fma.dependent_latency == 33);  // 40 instructions at 3.3 clk, in steps of 4
  CHECK(compute_operation(Arithmetic{.fma = 20, .alu = 10}, 1).pipe == Pipe::kAlu);
  const Operation mufu = compute_operation(Arithmetic{.fma = 20, .alu = 10, .mufu = 10, .chain = 55}, 1);
  CHECK(mufu.pipe == Pipe::kMufu);
  CHECK(mufu.dependent_latency == 10);  // 55 steps of 4 clk in latencies of 22
}

TEST_CASE("reductions of a CTA: shuffles are wavefronts, barriers are latency", "[workloads][cta_program]") {
  const TreeLevel level{.combine = {.fma = 1, .chain = 1}, .shuffles = 1};
  const CtaStep warp = warp_reduce_step(level, 32, 4);
  CHECK(warp.op.issue_slots == 10);
  CHECK(warp.op.smem_read_wavefronts == 20);
  CHECK(warp.op.dependent_latency == 35);
  const CtaStep block = block_reduce_step(level, 4);
  CHECK(block.op.smem_read_wavefronts == 30);
  CHECK(block.op.dependent_latency > 3 * barrier_steps(4));
}

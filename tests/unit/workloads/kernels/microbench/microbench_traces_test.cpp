/// Microbenchmark traces: what they ask for, by hand, and that they finish.
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/support/trace_totals.hpp"
#include "tests/unit/workloads/kernels/untimed_run.hpp"
#include "workloads/kernels/microbench/barriers.hpp"
#include "workloads/kernels/microbench/clusters.hpp"
#include "workloads/kernels/microbench/copies.hpp"
#include "workloads/kernels/microbench/hbm_streams.hpp"
#include "workloads/kernels/microbench/instruction_fetch.hpp"
#include "workloads/kernels/microbench/instructions.hpp"
#include "workloads/kernels/microbench/l2_streams.hpp"
#include "workloads/kernels/microbench/latency.hpp"
#include "workloads/kernels/microbench/launches.hpp"
#include "workloads/kernels/microbench/shared_memory.hpp"
#include "workloads/kernels/microbench/sides.hpp"
#include "workloads/kernels/microbench/starts.hpp"

using namespace strata;
using namespace strata::microbench;

namespace {

bool finishes(const TraceSource& source) { return test::UntimedRun(source, 0).finishes(); }

Group alone() { return Group{{0, -1, -1, -1}, 1}; }

}  // namespace

TEST_CASE("microbench traces: wavefronts of shared-memory instructions are those measured", "[workloads][microbench]") {
  using S = SharedOp;
  // words apart: gcd with 32 lanes share a bank
  CHECK(shared_wavefronts(S::kLoad32, 4) == 1);
  CHECK(shared_wavefronts(S::kLoad32, 12) == 1);
  CHECK(shared_wavefronts(S::kLoad32, 4 * 24) == 8);
  CHECK(shared_wavefronts(S::kLoad32, 128) == 32);
  CHECK(shared_wavefronts(S::kLoad32, 4, 0) == 1);   // broadcast
  CHECK(shared_wavefronts(S::kLoad32, 4, 30) == 1);  // pairs
  CHECK(shared_wavefronts(S::kLoad64, 8) == 2);
  CHECK(shared_wavefronts(S::kLoad64, 16) == 4);
  CHECK(shared_wavefronts(S::kLoad128, 16) == 4);
  CHECK(shared_wavefronts(S::kLoad128, 48) == 4);
  CHECK(shared_wavefronts(S::kLoad128, 64) == 16);
  CHECK(shared_wavefronts(S::kMatrix1, 16) == 1);
  CHECK(shared_wavefronts(S::kMatrix2, 128) == 16);
  CHECK(shared_wavefronts(S::kMatrix4, 144) == 4);
  CHECK(shared_wavefronts(S::kStoreMatrix4, 256) == 32);
}

TEST_CASE("microbench traces: a chase visits every line once per lap", "[workloads][microbench]") {
  PointerChaseConfig c;
  c.lines = 4096;
  c.hops = 4096;
  const auto source = make_pointer_chase(c);
  std::vector<int> seen(4096, 0);
  std::uint64_t first = 0;
  test::walk_cta(*source, 0, [&](const StreamId&, const Operation& op) {
    if (op.kind != OpKind::kMemory) return;
    const std::uint64_t line = (op.mem.address - kFirstAddress) / 128;
    REQUIRE(line < 4096);
    if (first++ == 0) CHECK(line == 0);
    ++seen[line];
  });
  CHECK(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
  CHECK(finishes(*source));
}

TEST_CASE("microbench traces: warm-up passes read four bytes of every line", "[workloads][microbench]") {
  PointerChaseConfig c;
  c.lines = 8192;  // 1 MiB
  c.passes = 2;
  c.hops = 1;
  const test::TraceTotals t = test::trace_totals(*make_pointer_chase(c));
  CHECK(t.delivered_sectors == 2 * 8192 + 1);
}

TEST_CASE("microbench traces: an L2 stream moves its steps, warm-up included, by every engine",
          "[workloads][microbench]") {
  for (const Engine e : {Engine::kLoad, Engine::kCpAsync, Engine::kBulk, Engine::kTile, Engine::kPitchedTile}) {
    L2StreamConfig c;
    c.group = alone();
    c.engine = e;
    c.chunks = 8;
    const auto source = make_l2_stream(c);
    INFO(static_cast<int>(e));
    CHECK(test::trace_totals(*source).delivered_sectors == 24 * kStreamChunkBytes / 32);
    CHECK(finishes(*source));
  }
  for (const Engine e : {Engine::kStore, Engine::kBulkStore}) {
    L2StreamConfig c;
    c.group = alone();
    c.engine = e;
    const auto source = make_l2_stream(c);
    CHECK(test::trace_totals(*source).stored_sectors == 24 * kStreamChunkBytes / 32);
    CHECK(finishes(*source));
  }
  CHECK_THROWS_AS(make_l2_stream({}), InputError);
}

TEST_CASE("microbench traces: HBM streams read and write every byte once, and only the sectors asked for",
          "[workloads][microbench]") {
  HbmStreamConfig c;
  c.bytes = 3 << 20;
  c.pitch = 4 << 20;
  c.reads = 2;
  c.writes = 1;
  c.unroll = hbm_unroll(2);
  c.ctas = 16;
  const auto source = make_hbm_stream(c);
  const test::TraceTotals t = test::trace_totals(*source);
  CHECK(t.delivered_sectors == 2 * c.bytes / 32);
  CHECK(t.stored_sectors == c.bytes / 32);
  CHECK(finishes(*source));
  c.reads = 0;
  c.unroll = 4;
  c.write_sectors = 5;
  CHECK(test::trace_totals(*make_hbm_stream(c)).stored_sectors == c.bytes / 64);
  c.write_sectors = 7;
  CHECK(test::trace_totals(*make_hbm_stream(c)).stored_sectors == 3 * c.bytes / 128);
  CHECK(finishes(*make_hbm_bulk_read({1 << 20, 4, false})));
  const auto strided = make_strided_reads({1024, 16384, 2, false});
  CHECK(test::trace_totals(*strided).delivered_sectors == 16384);
}

TEST_CASE("microbench traces: random rows lie inside their set and share sectors only within a row",
          "[workloads][microbench]") {
  const auto source = make_random_rows({64, 4, 2, false});
  const auto lanes = source->lane_addresses(7);
  for (std::size_t l = 0; l < 32; ++l) {
    CHECK(lanes[l] >= kFirstAddress);
    CHECK(lanes[l] < kFirstAddress + (std::uint64_t{8} << 30));
    CHECK(lanes[l] / 64 == lanes[l / 4 * 4] / 64);  // four words of 16 bytes make a row of 64
  }
  CHECK(finishes(*source));
}

TEST_CASE("microbench traces: repeated code executes every piece in every lap, by every warp",
          "[workloads][microbench]") {
  const auto source = make_repeated_code({3, 8, 5, 1500});
  std::vector<std::uint64_t> instructions(4, 0);
  std::uint32_t late = 0;
  test::walk_cta(*source, 0, [&](const StreamId& id, const Operation& op) {
    if (op.pc > 0) instructions.at(op.pc) += op.warp_insts;
    if (op.pc == 0 && op.dependent_latency > 0) {
      CHECK(id.stream >= 4);
      CHECK(op.dependent_latency == 375);  // 1500 clocks of 4
      ++late;
    }
  });
  CHECK(instructions == std::vector<std::uint64_t>{0, 2560, 2560, 2560});  // 64 x 8 warps x 5 laps
  CHECK(late == 4);
  CHECK(source->launch().code_bytes >= 3 * 1024);
  CHECK(finishes(*source));
}

TEST_CASE("microbench traces: everything else finishes", "[workloads][microbench]") {
  CHECK(finishes(*make_shared_chase(10)));
  CHECK(finishes(*make_copy_chase({4, 128, 128, 512, 8})));
  SharedAccessConfig shared;
  shared.smsps = 2;
  CHECK(working_warps(shared) == 8);
  CHECK(finishes(*make_shared_access(shared)));
  shared.chained = true;
  CHECK(finishes(*make_shared_access(shared)));
  CHECK(finishes(*make_l1_access(true, 4, 4)));
  CHECK(finishes(*make_l1_access(false, 4, 4)));
  for (const char* name : {"ffma", "shfl_idx", "vote"}) {
    CHECK(finishes(*make_instructions({*thread_instruction(name), 4, 4, 4})));
  }
  CHECK_FALSE(thread_instruction("nothing"));
  CHECK(finishes(*make_mma_sync({*mma_shape("tf32_m16n8k4"), 2, 8, 4})));
  CHECK(finishes(*make_mma_beside({})));
  WgmmaConfig wgmma;
  wgmma.fill_warps = 2;
  wgmma.warpgroups = 2;
  CHECK(finishes(*make_wgmma(wgmma)));
  wgmma.drain = true;
  CHECK(finishes(*make_wgmma(wgmma)));
  CopyRingConfig ring;
  ring.warps = 4;
  CHECK(finishes(*make_copy_ring(ring)));
  ring.store = true;
  CHECK(finishes(*make_copy_ring(ring)));
  CHECK(finishes(*make_copy_burst(1024, 8, 4)));
  CHECK(finishes(*make_multicast({})));
  for (const BarrierKind kind : {BarrierKind::kCta, BarrierKind::kMbarrier, BarrierKind::kCluster}) {
    BarrierConfig barrier;
    barrier.kind = kind;
    barrier.warps = 8;
    CHECK(finishes(*make_barriers(barrier)));
  }
  CHECK(finishes(*make_mbarrier_wake(500, 8)));
  CHECK(finishes(*make_remote_reads({})));
  CHECK(finishes(*make_remote_chase(8)));
  CHECK(finishes(*make_ctas({})));
  CHECK(finishes(*make_empty(4, 128)));
  CHECK(finishes(*make_first_touch({2, 4, 4096, 8192, true})));
  CHECK(finishes(*make_first_touch({2, 4, 4096, 8192, false})));
  CHECK(finishes(*make_straight_code(4, 2)));
  for (const std::uint32_t threads : {32U, 128U, 1024U}) {
    CHECK(finishes(*make_one_sm_loads({threads, 4, 65536, 2, true})));
  }
  InStepConfig in_step;
  in_step.group = alone();
  in_step.bytes = 65536;
  CHECK(finishes(*make_in_step(in_step)));
  in_step.bulk = true;
  CHECK(finishes(*make_in_step(in_step)));
  CHECK(finishes(*make_fabric({alone(), {0, -1, -1, -1}, {0, -1, -1, -1}, 65536, 65536, true})));
  CHECK(finishes(*make_touches({alone(), {{0, 2, false}, {0, 1, true}}, 16, 97})));
}

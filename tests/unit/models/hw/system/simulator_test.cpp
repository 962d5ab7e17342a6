// Small traces through the whole machine: coalescing, boxes, barriers, stalls and refusals.
#include "models/hw/system/simulator.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/config/gpu_description.hpp"
#include "tests/support/h100.hpp"
#include "tests/unit/models/hw/support/script_source.hpp"

using namespace strata;
using namespace strata::test;

namespace {

constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

Result run(const TraceSource& source) { return simulate(h100(), source, SimulationOptions{1980, {}}); }

std::uint64_t load_sectors(std::uint64_t address, std::int32_t lane_pitch, std::uint8_t lane_bytes,
                           std::uint8_t lanes = 32) {
  const ScriptSource source(plain_launch(1), {access(MemDir::kLoad, address, lane_pitch, lane_bytes, lanes)});
  const Result r = run(source);
  CHECK(r.counters[Counter::kDeliveredSectors] == r.counters[Counter::kL1GlobalLoadSectors]);
  CHECK(r.counters[Counter::kGlobalRequests] == 1);
  return r.counters[Counter::kL1GlobalLoadSectors];
}

std::uint64_t store_sectors(std::uint64_t address, std::int32_t lane_pitch, std::uint8_t lane_bytes) {
  const ScriptSource source(plain_launch(1), {access(MemDir::kStore, address, lane_pitch, lane_bytes)});
  return run(source).counters[Counter::kStoredSectors];
}

std::uint64_t box_sectors(std::uint64_t address, std::uint32_t rows, std::uint32_t row_bytes, std::int64_t pitch,
                          std::uint32_t oob_rows = 0, std::uint32_t oob_bytes = 0) {
  Launch l = plain_launch(1);
  l.mbarrier_arrivals[0] = 1;
  Operation load = tma_load(address, rows, row_bytes, pitch);
  load.mem.oob_rows = oob_rows;
  load.mem.oob_bytes = oob_bytes;
  const ScriptSource source(l, {load, wait_mbarrier(1)});
  return run(source).counters[Counter::kDeliveredSectors];
}

/// One CTA of many loads, each of 32 lines.
class LongSource final : public TraceSource {
 public:
  [[nodiscard]] const Launch& launch() const override { return launch_; }
  std::uint32_t fetch(const StreamId& /*id*/, StreamCursor& cursor, std::span<Operation> out) const override {
    constexpr std::uint64_t kLoads = 300000;
    std::uint32_t n = 0;
    while (n < kMinFetch && n < out.size() && cursor.state[0] < kLoads) {
      out[n++] = access(MemDir::kLoad, kBase + cursor.state[0]++ * 4096, 128, 4);
    }
    return n;
  }
  [[nodiscard]] std::span<const std::uint64_t, 32> lane_addresses(std::uint32_t /*table_index*/) const override {
    return table_;
  }

 private:
  Launch launch_ = plain_launch(1);
  std::array<std::uint64_t, 32> table_{};
};

}  // namespace

TEST_CASE("CTAs of the last round go one to an SM, as the oldest of three ends first", "[scheduler]") {
  constexpr std::uint32_t kWork = 20000;
  constexpr std::uint32_t kLast = 116;
  Launch l = plain_launch(3 * 132 + kLast, 4);
  l.smem_dynamic_bytes = 228 * 1024 / 3 - 1024;
  const ScriptSource source(l, std::vector<Operation>(10, compute(kWork / 10, Pipe::kFma)));
  // Three beside one another, then one alone; on 39 SMs the last ones would take another three.
  const double cycles = run(source).sm_cycles;
  CHECK(cycles > 4.0 * kWork);
  CHECK(cycles < 4.0 * kWork * 1.1 + 5000);
}

TEST_CASE("Coalescing: 32 lanes of 4 bytes are four sectors", "[coalescing]") {
  CHECK(load_sectors(kBase, 4, 4) == 4);
  CHECK(store_sectors(kBase, 4, 4) == 4);
}

TEST_CASE("Coalescing: a stride of 8 bytes doubles the sectors, one of 32 takes a sector per lane", "[coalescing]") {
  CHECK(load_sectors(kBase, 8, 4) == 8);
  CHECK(load_sectors(kBase, 32, 4) == 32);
  CHECK(load_sectors(kBase, 128, 4) == 32);
  CHECK(load_sectors(kBase, 4096, 4) == 32);
}

TEST_CASE("Coalescing: an unaligned access touches one sector more", "[coalescing]") {
  CHECK(load_sectors(kBase + 4, 4, 4) == 5);
  CHECK(load_sectors(kBase + 28, 4, 4) == 5);
  CHECK(store_sectors(kBase + 4, 4, 4) == 5);
}

TEST_CASE("Coalescing: lanes that share a word share a sector; order does not matter", "[coalescing]") {
  CHECK(load_sectors(kBase, 0, 4) == 1);
  CHECK(load_sectors(kBase + 31 * 4, -4, 4) == 4);
}

TEST_CASE("Coalescing: 16 bytes a lane are 16 sectors, and inactive lanes cost nothing", "[coalescing]") {
  CHECK(load_sectors(kBase, 16, 16) == 16);
  CHECK(load_sectors(kBase, 16, 16, 7) == 4);
}

TEST_CASE("Coalescing: an address table is merged like a pattern", "[coalescing]") {
  Operation op = access(MemDir::kLoad, 0, 0, 4);
  op.mem.pattern = Pattern::kTable;
  ScriptSource source(plain_launch(1), {op});
  for (std::size_t lane = 0; lane < 32; ++lane) source.table[lane] = kBase + (lane * 7 % 32) * 64;
  CHECK(run(source).counters[Counter::kL1GlobalLoadSectors] == 32);
  for (std::size_t lane = 0; lane < 32; ++lane) source.table[lane] = kBase + lane % 4 * 1024;
  CHECK(run(source).counters[Counter::kL1GlobalLoadSectors] == 4);
}

TEST_CASE("L1: sectors of a pending line are not fetched twice", "[l1]") {
  const Operation load = access(MemDir::kLoad, kBase, 4, 4);
  const Result r = run(ScriptSource(plain_launch(1), {load, load, load}));
  CHECK(r.counters[Counter::kL1GlobalLoadSectors] == 12);
  CHECK(r.counters[Counter::kL1GlobalLoadHitSectors] == 8);
  CHECK(r.counters[Counter::kDeliveredSectors] == 4);
}

TEST_CASE("TMA: rows that start 16 bytes off a sector touch five sectors for four", "[tma]") {
  CHECK(box_sectors(kBase, 64, 128, 4096) == 64 * 4);
  CHECK(box_sectors(kBase + 16, 64, 128, 4096) == 64 * 5);
  // K = 1000 elements of two bytes: every other row is 16 bytes off.
  CHECK(box_sectors(kBase, 64, 128, 2000) == 32 * 4 + 32 * 5);
}

TEST_CASE("TMA: what lies beyond the tensor is delivered, and rows of it merge before the L2", "[tma]") {
  // As ncu counted single boxes of 64 rows of 128 B on an H200.
  CHECK(box_sectors(kBase, 48, 128, 4096, 16) == 64 * 4);
  CHECK(box_sectors(kBase, 64, 80, 2048, 0, 48) == 64 * 5);
  CHECK(box_sectors(kBase, 64, 112, 2048, 0, 16) == 64 * 5);
  CHECK(box_sectors(kBase, 64, 96, 2048, 0, 32) == 64 * 4);
  CHECK(box_sectors(kBase, 64, 112, 6000, 0, 16) == 64 * 5);
  Launch l = plain_launch(1);
  l.mbarrier_arrivals[0] = 1;
  Operation load = tma_load(kBase, 40, 128, 6144);
  load.mem.oob_rows = 24;
  const Result r = run(ScriptSource(l, {load, wait_mbarrier(1)}));
  CHECK(r.counters[Counter::kDeliveredSectors] == 64 * 4);
  CHECK(r.counters[Counter::kLtsFromSmSectors] == 40 * 4 + 24);
}

TEST_CASE("TMA: rows outside merge within their box, not once more with those of other SMs", "[tma]") {
  // Measured on an H200: boxes with one row inside that all SMs read make one request in 3.9 reach the L2.
  Launch l = plain_launch(h100().num_sms());
  l.mbarrier_arrivals[0] = 1;
  Operation load = tma_load(kBase, 1, 128, 6144);
  load.mem.oob_rows = 127;
  const Result r = run(ScriptSource(l, {load, wait_mbarrier(1)}));
  const double delivered = static_cast<double>(r.counters[Counter::kDeliveredSectors]);
  CHECK(delivered == 128.0 * 4 * h100().num_sms());
  CHECK(delivered / static_cast<double>(r.counters[Counter::kLtsFromSmSectors]) == Approx(3.95).margin(0.06));
}

TEST_CASE("L2: sectors of a line that are there already are not fetched again", "[l2]") {
  // On either side of the L2: the second load of the line wants one pair of sectors more.
  for (const std::uint64_t address : {kBase, kBase + 8192}) {
    Launch l = plain_launch(1);
    l.mbarrier_arrivals[0] = 1;
    const ScriptSource source(
        l, {tma_load(address, 1, 32, 128), wait_mbarrier(1), tma_load(address, 1, 128, 128), wait_mbarrier(2)});
    CHECK(run(source).counters[Counter::kDramReadSectors] == 4);
  }
}

TEST_CASE("TMA: a multicast request is for two sectors at least", "[tma]") {
  const auto sectors = [](std::uint64_t address, std::int64_t pitch) {
    Launch l = plain_launch(2);
    l.cluster = Dim3{2, 1, 1};
    l.mbarrier_arrivals[0] = 1;
    const ScriptSource source(l, [&](const StreamId& id) {
      return id.cluster_rank == 0 ? std::vector{tma_load(address, 64, 128, pitch, 3), wait_mbarrier(1)}
                                  : std::vector{wait_mbarrier(1)};
    });
    const Result r = run(source);
    CHECK(r.counters[Counter::kDeliveredSectors] == 2 * r.counters[Counter::kLtsFromSmSectors]);
    return r.counters[Counter::kLtsFromSmSectors];
  };
  // As ncu counted them on an H200: sectors of 64 rows.
  CHECK(sectors(kBase, 6016) == 64 * 4);
  CHECK(sectors(kBase + 16, 6144) == 64 * 6);
  CHECK(sectors(kBase + 32, 6144) == 64 * 5);
  CHECK(sectors(kBase + 48, 6144) == 64 * 5);
  CHECK(sectors(kBase + 64, 6144) == 64 * 4);
  CHECK(sectors(kBase + 112, 6144) == 64 * 6);
  CHECK(sectors(kBase, 6000) == 64 * 5);
  CHECK(sectors(kBase, 5984) == 64 * 9 / 2);
}

TEST_CASE("TMA: a multicast load arrives once at each CTA that receives it", "[tma]") {
  // Two CTAs load half of a tile each for both; the one that comes late is waited for, as a signal that names the
  // CTAs arrives at each with its own copy.
  constexpr std::uint32_t kLate = 20000;
  for (const std::uint16_t named : {std::uint16_t{0}, std::uint16_t{3}}) {
    Launch l = plain_launch(2);
    l.cluster = Dim3{2, 1, 1};
    l.mbarrier_arrivals[0] = 2;
    const ScriptSource source(l, [&](const StreamId& id) {
      Operation load = tma_load(kBase + id.cluster_rank * 8192, 64, 128, 128, 3);
      load.completes[0].cta_mask = named;
      return id.cluster_rank == 0 ? std::vector{load, wait_mbarrier(1), compute(kLate)}
                                  : std::vector{compute(kLate), load, wait_mbarrier(1)};
    });
    INFO("CTAs named " << named);
    CHECK(run(source).sm_cycles > 4.0 * kLate);  // half an instruction a clock
  }
}

TEST_CASE("Cycle stack: an SM whose CTA waits for its stores to leave is not idle", "[stack]") {
  Launch l = plain_launch(132);
  Operation store = tma_load(kBase, 256, 128, 128);
  store.mem.dir = MemDir::kStore;
  store.completes[0] = {};
  const Result r = run(ScriptSource(l, [&](const StreamId& id) {
    store.mem.address = kBase + id.cta * 65536;
    return std::vector{compute(10), store, store};
  }));
  const auto cycles = [&](StackReason reason) { return r.cycle_stack[static_cast<std::size_t>(reason)]; };
  const LaunchConfig& launch = h100().launch;
  CHECK(cycles(StackReason::kIdle) <=
        r.sm_cycles - r.sm_active_cycles_avg - launch.overhead_before_cycles - launch.overhead_after_cycles);
  CHECK(cycles(StackReason::kDrain) > 100);
}

TEST_CASE("Stall: a wait for a barrier that nobody signals is reported with the waiting stream", "[stall]") {
  Launch l = plain_launch(1);
  l.mbarrier_arrivals[3] = 1;
  const ScriptSource source(l, {compute(10), wait_mbarrier(1, 3)});
  CHECK_THROWS_AS(run(source), StalledError);
  CHECK_THROWS_WITH(run(source), Catch::Contains("CTA 0 stream 0 waits for mbarrier 3"));
}

TEST_CASE("Stall: too few arrivals, an unused barrier and a missing warp are all reported", "[stall]") {
  Launch l = plain_launch(1);
  l.mbarrier_arrivals[0] = 2;
  CHECK_THROWS_WITH(run(ScriptSource(l, {tma_load(kBase, 1, 128, 128), wait_mbarrier(1)})),
                    Catch::Contains("mbarrier 0"));
  CHECK_THROWS_AS(run(ScriptSource(plain_launch(1), {wait_mbarrier(1, 5)})), StalledError);
  Launch named = plain_launch(1);
  named.named_barrier_warps[0] = 2;
  Operation sync;
  sync.kind = OpKind::kBarrier;
  sync.completes[0] = Signal{TokenClass::kNamedBarrier, 0, SignalAt::kIssue, 1, 0};
  Operation wait;
  wait.waits[0] = Wait{TokenClass::kNamedBarrier, 0, 1};
  CHECK_THROWS_WITH(run(ScriptSource(named, {sync, wait})), Catch::Contains("named barrier 0"));
}

TEST_CASE("Stall: one stuck CTA among many that finish does not hang the run", "[stall]") {
  Launch l = plain_launch(300);
  l.mbarrier_arrivals[0] = 1;
  const ScriptSource source(l, [](const StreamId& id) {
    std::vector<Operation> ops{compute(100)};
    if (id.cta == 77) ops.push_back(wait_mbarrier(1));
    return ops;
  });
  CHECK_THROWS_WITH(run(source), Catch::Contains("299 of 300") && Catch::Contains("CTA 77"));
}

TEST_CASE("Barriers: the last of several streams releases the others", "[barrier]") {
  Launch l = plain_launch(1, 4);
  l.streams.clear();
  for (std::uint16_t w = 0; w < 4; ++w) l.streams.push_back(StreamInfo{w, 1, "warp"});
  l.named_barrier_warps[0] = 4;
  const auto cycles = [&](std::uint32_t slow) {
    return run(ScriptSource(
                   l,
                   [slow](const StreamId& id) {
                     Operation sync;
                     sync.kind = OpKind::kBarrier;
                     sync.completes[0] = Signal{TokenClass::kNamedBarrier, 0, SignalAt::kIssue, 1, 0};
                     Operation wait;
                     wait.waits[0] = Wait{TokenClass::kNamedBarrier, 0, 1};
                     return std::vector<Operation>{compute(id.stream == 2 ? slow : 10), sync, wait, compute(10)};
                   }))
        .sm_cycles;
  };
  // ALU instructions issue every other cycle on a sub-partition.
  CHECK(cycles(1010) - cycles(510) == Approx(1000).epsilon(0.01));
}

TEST_CASE("Barriers: a round takes 2 cycles a warp, its latency and an issue cycle, for the last arriver too",
          "[barrier]") {
  const auto round = [](std::uint16_t warps) {
    Launch l = plain_launch(1, warps);
    l.streams.clear();
    for (std::uint16_t w = 0; w < warps; ++w) l.streams.push_back(StreamInfo{w, 1, "warp"});
    l.named_barrier_warps[0] = warps;
    const auto cycles = [&](std::uint32_t rounds) {
      return run(ScriptSource(
                     l,
                     [rounds](const StreamId&) {
                       std::vector<Operation> ops;
                       for (std::uint32_t i = 0; i < rounds; ++i) {
                         Operation sync;
                         sync.kind = OpKind::kBarrier;
                         sync.completes[0] = Signal{TokenClass::kNamedBarrier, 0, SignalAt::kDataVisible, 1, 0};
                         sync.waits[0] = Wait{TokenClass::kNamedBarrier, 0, i};
                         ops.push_back(sync);
                       }
                       return ops;
                     }))
          .sm_cycles;
    };
    return (cycles(101) - cycles(1)) / 100;
  };
  // Measured: 16.7, 22.7 and 30.7 clk.
  CHECK(round(1) == Approx(17).margin(0.1));
  CHECK(round(4) == Approx(23).margin(0.1));
  CHECK(round(8) == Approx(31).margin(1.1));  // two warps a sub-partition issue one after the other
}

TEST_CASE("Launch: a kernel that only exits waits for neither code nor parameters", "[launch]") {
  const GpuConfig gpu = load_gpu("h100-sxm5-80gb").config;
  const auto cycles = [&](std::uint32_t code_bytes) {
    Launch l = plain_launch(1);
    l.code_bytes = code_bytes;
    return run(ScriptSource(l, {compute(1)})).sm_cycles;
  };
  const double empty = cycles(128);
  // Two cycles of the operation itself: integer instructions issue every other cycle.
  CHECK(empty == Approx(gpu.launch.overhead_before_cycles + 1 / gpu.launch.ctas_per_cycle + gpu.sm.cta_launch_cycles +
                        2 + gpu.sm.cta_drain_cycles + gpu.launch.overhead_after_cycles)
                     .margin(1.5));
  // An access to HBM past an idle L2: 48 L2 cycles, 122 + 19.4 + 12.5 ns; the first one also crosses the chip twice.
  const double per_l2 = 1980.0 / 1707;
  const double miss = 48 * per_l2 + 153.9e-3 * 1980;
  const double first = cycles(4096) - empty;
  CHECK(first > miss + 2 * 66 * per_l2 - 1);
  CHECK(first < miss + (2 * 66 + 40) * per_l2 + 1);
  CHECK(cycles(32768) - cycles(4096) == Approx(miss).margin(1));
}

TEST_CASE("Launch: CTAs that end together are dealt with one after the other", "[launch]") {
  // Measured on an H200: CTAs of 128 threads that wait for 4000 cycles take 6902 cycles alone, 132 of
  // them 7121, 1056 of them 8272 and 2112 of them 9447.
  const auto cycles = [](std::uint32_t ctas) {
    Operation wait = compute(1);
    wait.dependent_latency = 1000;
    return run(ScriptSource(plain_launch(ctas), {wait})).sm_cycles;
  };
  const double one = cycles(1);
  CHECK(cycles(132) - one == Approx(219).margin(70));
  CHECK(cycles(1056) - one == Approx(1370).epsilon(0.1));
  CHECK(cycles(2112) - one == Approx(2545).epsilon(0.05));
}

TEST_CASE("Launch: every CTA of an SM waits for its first code, and for 110 cycles a line of constants", "[launch]") {
  const auto cycles = [](std::uint32_t ctas, std::uint32_t lines) {
    Launch l = plain_launch(ctas);
    l.code_bytes = 4096;
    l.constant_lines = lines;
    return run(ScriptSource(l, {compute(1)})).sm_active_cycles_avg;
  };
  CHECK(cycles(132, 5) - cycles(132, 1) == Approx(440).margin(1));
  // An SM's second CTA comes 31 cycles after its first, long before the code; the two start together.
  CHECK(cycles(264, 1) - cycles(132, 1) < 8);
  // What the first CTA still lacks then, the second finds.
  CHECK(cycles(264, 5) - cycles(132, 5) < 8);
}

TEST_CASE("Progress: the cycles of a single CTA that runs on are told, and grow", "[progress]") {
  const LongSource source;
  std::vector<double> cycles;
  SimulationOptions options;
  options.progress = [&cycles](double done_share, double sm_cycles) {
    CHECK(done_share < 1);
    cycles.push_back(sm_cycles);
  };
  const Result r = simulate(h100(), source, options);
  REQUIRE(cycles.size() >= 2);
  CHECK(cycles[0] > 0);
  CHECK(cycles[1] > cycles[0]);
  CHECK(cycles.back() < r.sm_cycles);
}

TEST_CASE("Launches that cannot run are refused", "[refusal]") {
  Launch big = plain_launch(1);
  big.smem_dynamic_bytes = 300 * 1024;
  CHECK_THROWS_AS(run(ScriptSource(big, {compute(1)})), InputError);
  Launch wide = plain_launch(1);
  wide.registers_per_thread = 256;
  CHECK_THROWS_WITH(run(ScriptSource(wide, {compute(1)})), Catch::Contains("allows 255"));
  Launch none = plain_launch(0);
  CHECK_THROWS_AS(run(ScriptSource(none, {compute(1)})), InputError);
  Launch cluster = plain_launch(4);
  cluster.cluster = Dim3{2, 1, 1};
  CHECK_THROWS_AS(simulate(load_gpu("a100-sxm4-40gb").config, ScriptSource(cluster, {compute(1)})), UnsupportedError);
  Launch tma = plain_launch(1);
  CHECK_THROWS_AS(simulate(load_gpu("a100-sxm4-40gb").config, ScriptSource(tma, {tma_load(kBase, 1, 128, 128)})),
                  UnsupportedError);
}

TEST_CASE("A grid that its clusters do not divide is refused", "[refusal]") {
  for (const std::uint32_t ctas : {1U, 3U}) {
    Launch l = plain_launch(ctas);
    l.cluster = Dim3{2, 1, 1};
    CHECK_THROWS_AS(run(ScriptSource(l, {compute(1)})), InputError);
  }
}

TEST_CASE("Every CTA of a grid runs once, with and without clusters", "[scheduler]") {
  for (const std::uint32_t cluster : {1U, 2U, 4U}) {
    Launch l = plain_launch(1200);
    l.cluster = Dim3{cluster, 1, 1};
    const Result r = run(ScriptSource(l, {compute(3)}));
    CHECK(r.counters[Counter::kCtasLaunched] == 1200);
    CHECK(r.counters[Counter::kWarpInsts] == 3600);
  }
}

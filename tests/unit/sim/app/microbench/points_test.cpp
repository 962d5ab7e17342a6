/// From a row of a measured CSV to a simulated number.
#include <catch2/catch.hpp>

#include "sim/app/microbench/compare.hpp"
#include "sim/app/microbench/point.hpp"
#include "sim/base/error.hpp"
#include "tests/support/h100.hpp"

using namespace strata;
using namespace strata::test;
using namespace strata::app;

namespace {

MicrobenchRow row(const char* bench, const char* series, double x, double value = 1, const char* metric = "") {
  MicrobenchRow r;
  r.bench = bench;
  r.series = series;
  r.x = x;
  r.value = r.low = r.high = value;
  r.metric = metric;
  r.sm_clock_mhz = 1980;
  return r;
}

double simulated(const MicrobenchRow& r) {
  MicrobenchData data;
  data.rows = {r};
  const MicrobenchComparison c = compare_microbench(h100(), data, {});
  return c.groups.front().points.front().simulated;
}

}  // namespace

TEST_CASE("microbench points: a latency row is the latency the configuration says", "[app][microbench]") {
  // One issue cycle and the latency; the first run of the code costs the rest, shared by all the rounds.
  const auto about = [](double cycles) { return Approx(cycles).epsilon(2e-4); };
  CHECK(simulated(row("latency", "shared", 4096)) == about(h100().smem.latency_cycles + 1));
  CHECK(simulated(row("latency", "load_ca", 32)) == about(h100().l1.latency_cycles + 1));
  // 128 instructions and the turn of the loop, four steps of the same latency.
  CHECK(simulated(row("alu", "ffma_latency", 1)) == about(h100().sm.alu_latency_cycles * 132.0 / 128));
  CHECK(simulated(row("mma_sync", "bf16_m16n8k16_chains", 1)) == about(h100().tensor.mma_sync_latency_cycles));
}

TEST_CASE("microbench points: rates follow from ports", "[app][microbench]") {
  MicrobenchRow eight_words = row("shared_memory", "lds32_rate_stride", 8);
  eight_words.x_unit = "words";  // eight lanes share a bank
  CHECK(simulated(eight_words) == Approx(8).epsilon(0.01));
  CHECK(simulated(row("wgmma", "bf16_ss_4inflight", 256)) == Approx(128).epsilon(0.01));
  CHECK(simulated(row("wgmma", "bf16_ss_4inflight", 8)) == Approx(18).epsilon(0.02));
  const double one = simulated(row("l2_bandwidth", "store_private_sm", 1));
  CHECK(one == Approx(h100().xbar.sm_write_bytes_per_cycle).epsilon(0.02));
}

TEST_CASE("microbench points: what a program's own instructions add", "[app][microbench]") {
  const auto about = [](double clocks) { return Approx(clocks).epsilon(0.03); };
  // A comparison before each vote, a multiplication before each sine; the turn of the loop is an eighth of a clk.
  CHECK(simulated(row("alu", "vote_latency", 1)) == about(4 + 12 + 0.125));
  CHECK(simulated(row("alu", "mufu_sin_latency", 1)) == about(4 + 17 + 0.125));
  CHECK(simulated(row("alu", "ffma_one_warp", 4)) == about(1.125));
  // BAR.SYNC issues, four warps arrive at 2 clk each; a thread count in a register takes 12 more. Measured 22.7, 34.7.
  CHECK(simulated(row("barrier", "syncthreads", 128)) == about(1 + 4 * 2 + 14));
  CHECK(simulated(row("barrier", "named_barrier", 128)) == about(1 + 4 * 2 + 14 + 12));
  // One stage: the same for 2 and for 16 KiB. Measured 588 and 593.
  CHECK(simulated(row("tma", "bulk_2048B_1stages_interval", 1)) == about(588));
  CHECK(simulated(row("tma", "bulk_16384B_1stages_interval", 1)) == about(593));
}

TEST_CASE("microbench points: clusters by size and by what their GPC shares", "[app][microbench]") {
  const auto about = [](double measured) { return Approx(measured).epsilon(0.05); };
  CHECK(simulated(row("barrier", "cluster_barrier_relaxed", 2)) == about(87.2));
  CHECK(simulated(row("barrier", "cluster_barrier_relaxed", 4)) == about(91.2));
  CHECK(simulated(row("barrier", "cluster_barrier_relaxed", 16)) == about(99.2));
  CHECK(simulated(row("dsmem_atomics", "dsmem_load_one_cluster", 8)) == about(17.0));
  CHECK(simulated(row("dsmem_atomics", "dsmem_bulk8192B_one_cluster", 8)) == about(20.0));
  CHECK(simulated(row("dsmem_atomics", "dsmem_load_one_cluster", 16)) == about(14.1));
  CHECK(simulated(row("dsmem_atomics", "dsmem_load_all", 4)) == about(14.0));
}

TEST_CASE("microbench points: shared memory is handed over register by register", "[app][microbench]") {
  // An address and one, two or four values at 2 clk each leave one sub-partition; four share the port's 4 clk.
  CHECK(simulated(row("shared_memory", "sts32_by_smsp_4warps", 1)) == Approx(4).epsilon(0.02));
  CHECK(simulated(row("shared_memory", "sts128_by_smsp_4warps", 1)) == Approx(10).epsilon(0.02));
  CHECK(simulated(row("shared_memory", "sts128_by_smsp_4warps", 4)) == Approx(4).epsilon(0.02));
  // A warp alone loads every 4.1 clk, with half a LOP3 and its part of the loop's turn.
  CHECK(simulated(row("shared_memory", "lds32_by_smsp_1warps", 1)) == Approx(4.67).epsilon(0.05));
}

TEST_CASE("microbench points: a drained wgmma waits for its computation, not for the next one's operands",
          "[app][microbench]") {
  // 55 + N / 2 from shared memory, 44 + N / 2 from registers, and three clk of issue. Measured 59.4, 48.1, 76.1, 119.5.
  CHECK(simulated(row("wgmma", "bf16_ss_drained_n8", 1)) == Approx(55 + 4 + 3).epsilon(0.01));
  CHECK(simulated(row("wgmma", "bf16_rs_drained_n8", 1)) == Approx(44 + 4 + 3).epsilon(0.01));
  CHECK(simulated(row("wgmma", "bf16_rs_drained_n64", 1)) == Approx(44 + 32 + 3).epsilon(0.01));
  CHECK(simulated(row("wgmma", "bf16_ss_drained_n128", 1)) == Approx(55 + 64 + 3).epsilon(0.01));
}

TEST_CASE("microbench points: short rows of a tile are looked up one by one", "[app][microbench]") {
  // 80 slices look up a row each an L2 cycle: 68.6 rows of 16 or 32 bytes a clk at the most. Measured 1130, 2003, 3745.
  const double most = 80 * 1698.6 / 1980;
  CHECK(simulated(row("tma", "tile_row_all_sms_4warps", 16)) < 16 * most);
  CHECK(simulated(row("tma", "tile_row_all_sms_4warps", 32)) < 32 * most);
  CHECK(simulated(row("tma", "tile_row_all_sms_4warps", 64)) == Approx(3745).epsilon(0.05));
}

TEST_CASE("microbench points: rows that end beyond the tensor's columns take the copy engine three times and four",
          "[app][microbench]") {
  // Boxes of 128 rows, 48 in a lap; measured on an H200: 380 where the tensor ends with a sector, 513 within one.
  constexpr double kRows = 128;
  const double with_sector = simulated(row("tma_beyond", "plain_columns_tpc", 32));
  CHECK(with_sector > 3 * kRows);
  CHECK(with_sector < 3.3 * kRows);
  const double within_sector = simulated(row("tma_beyond", "plain_columns_tpc", 8));
  CHECK(within_sector > 4 * kRows);
  CHECK(within_sector < 4.3 * kRows);
}

TEST_CASE("microbench points: multiplications of equal chains fill each other's gaps", "[app][microbench]") {
  // Interval 6, latency 24: two warps of two chains keep a sub-partition busy, two of one half. Measured 6.09, 12.0.
  CHECK(simulated(row("mma_sync", "bf16_m16n8k16_2chains", 8)) == Approx(6).epsilon(0.02));
  CHECK(simulated(row("mma_sync", "bf16_m16n8k16_1chain", 8)) == Approx(12).epsilon(0.02));
}

TEST_CASE("microbench points: readers of both sides find what launches before left near them", "[app][microbench]") {
  // Measured 91.3 and 93.7 B/clk; 68 where half of the lines still have to cross.
  CHECK(simulated(row("lrc", "ldg_two_gpcs_skew256", 2)) > 0.9 * simulated(row("lrc", "ldg_sm_skew0", 1)));
}

TEST_CASE("microbench points: stores to what is there do not push dirty lines out", "[app][microbench]") {
  // 33 MiB written again and again, 25 of which may be dirty when lines come. Measured 1984; 1610 if all went to HBM.
  CHECK(simulated(row("tma", "store_all", 8192)) == Approx(1984).epsilon(0.05));
}

TEST_CASE("microbench points: a store at home drops the other side's copy", "[app][microbench]") {
  // b's stores: half of the lines are at home on its side, and a's next read of those crosses. Measured 443 and 286.
  CHECK(simulated(row("l2_partition", "write_b_writes_then_a2", 0)) > 380);
  CHECK(simulated(row("l2_partition", "write_b_writes_then_a3", 0)) < 300);
}

TEST_CASE("microbench points: code beyond the instruction cache comes at the rate of lines", "[app][microbench]") {
  // Eight instructions a line; two warps of a sub-partition share what comes.
  const double from_outer = h100().icache.line_cycles / 8;
  const double from_l2 = h100().icache.outer_line_cycles / 8;
  CHECK(simulated(row("instruction_fetch", "steady_warps_4", 16)) == Approx(1).epsilon(0.01));
  CHECK(simulated(row("instruction_fetch", "steady_warps_1", 64)) == Approx(from_outer).epsilon(0.01));
  CHECK(simulated(row("instruction_fetch", "one_sm_steady_warps_4", 192)) == Approx(from_l2).epsilon(0.01));
  CHECK(simulated(row("instruction_fetch", "steady_warps_8_apart_1500", 64)) == Approx(from_outer / 2).epsilon(0.02));
  CHECK(simulated(row("instruction_fetch", "cold_warps_1", 16)) == Approx(from_outer).epsilon(0.02));
  CHECK(simulated(row("issue_slots", "chains_2", 1)) == Approx(2).epsilon(0.01));
}

TEST_CASE("microbench points: value and sum of rates share a simulation; of one SM they are equal",
          "[app][microbench]") {
  MicrobenchData data;
  data.rows = {row("l2_bandwidth", "bulk_private_sm", 1), row("l2_bandwidth", "bulk_private_sm_sum_of_rates", 1)};
  std::size_t simulations = 0;
  MicrobenchOptions options;
  options.progress = [&](std::size_t, std::size_t of) { simulations = of; };
  const MicrobenchComparison c = compare_microbench(h100(), data, options);
  CHECK(simulations == 1);
  CHECK(c.groups[0].points[0].simulated == Approx(c.groups[0].points[1].simulated));
}

TEST_CASE("microbench points: rows without a trace are counted with their reason", "[app][microbench]") {
  MicrobenchData data;
  data.rows = {row("latency", "shared", 128), row("hbm", "read_events", 64), row("brand_new", "curve", 1)};
  const MicrobenchComparison c = compare_microbench(h100(), data, {});
  CHECK(c.num_points() == 1);
  CHECK(c.not_simulated.size() == 2);
  data.rows = {row("latency", "shared", 128), row("latency", "foo", 128), row("latency", "load_ca", 32, 0)};
  const MicrobenchComparison odd = compare_microbench(h100(), data, {});
  CHECK(odd.not_simulated.at("latency: an unknown series, foo at 128 (:0)") == 1);
  CHECK(odd.not_simulated.at("latency: nothing measured") == 1);
  MicrobenchOptions nothing;
  nothing.only = "no such thing";
  CHECK_THROWS_AS(compare_microbench(h100(), data, nothing), InputError);
}

TEST_CASE("microbench points: an x that makes no sense is an error of the row's file and line", "[app][microbench]") {
  const auto error = [](MicrobenchRow r) {
    r.file = "run/some.csv";
    r.line = 7;
    MicrobenchData data;
    data.rows = {r};
    try {
      static_cast<void>(compare_microbench(h100(), data, {}));
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const auto refused = [&](const MicrobenchRow& r) { return error(r).starts_with("run/some.csv:7: "); };
  CHECK(error(row("latency", "page_2mib", 1)) ==
        "run/some.csv:7: x: 1: page_2mib expects a multiple of 2 from 2 to 131072");
  CHECK(refused(row("latency", "load_ca", 4294967295)));
  CHECK(refused(row("hbm", "random_rows", 3)));
  CHECK(refused(row("hbm", "stride_32B_of", 0)));
  CHECK(refused(row("tma", "tile_row_1warps", 9000)));
  CHECK(refused(row("tma", "multicast_delivered_all", 7)));  // found where the launch is made
  CHECK(error(row("tma", "bulk_0B_2stages", 2)).find("no measurement that can be simulated") != std::string::npos);
}

TEST_CASE("microbench points: more SMs than the GPU has are refused, whatever the program", "[app][microbench]") {
  const Placement placement(h100());
  const auto error = [&](const char* bench, const char* series, double x) {
    MicrobenchRow r = row(bench, series, x);
    r.x_unit = "SM";
    r.file = "run/some.csv";
    r.line = 7;
    try {
      static_cast<void>(map_point(r, placement));
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  for (const char* series : {"ldg_private_spread", "bulk_private_spread", "ldg_private_spread_sum_of_rates"}) {
    for (const double x : {133.0, 4294967295.0, 2.5}) {
      CHECK(error("l2_bandwidth", series, x).starts_with("run/some.csv:7: x: "));
      // Without a unit too nothing is made of so many.
      if (x > 132) CHECK_FALSE(map_point(row("l2_bandwidth", series, x), placement).point);
    }
  }
  CHECK(error("hbm", "read_bulk_by_sms", 133) ==
        "run/some.csv:7: x: 133: read_bulk_by_sms expects a whole number of SMs, from 1 to the 132 of the described "
        "GPU");
  CHECK_FALSE(map_point(row("hbm", "read_bulk_by_sms", 133), placement).point);
  CHECK(error("hbm", "read_bulk_by_sms", 132).empty());
  CHECK(error("l2_fabric", "again_side0", 1.5).starts_with("run/some.csv:7: x: 1.5: "));
}

TEST_CASE("microbench points: a GPU with all GPCs on one side of the L2 has no other side to read",
          "[app][microbench]") {
  GpuConfig gpu = h100();
  std::fill(gpu.topology.gpc_partition.begin(), gpu.topology.gpc_partition.end(), 0);
  const Placement placement(gpu);
  const char* why = "the described GPU has all GPCs on one side of the L2";
  CHECK(map_point(row("l2_fabric", "after_other_side_side0", 4), placement).reason == why);
  CHECK(map_point(row("l2_fabric", "again_side1", 4), placement).reason == why);
  CHECK(map_point(row("l2_partition", "sequence_b1", 0), placement).reason == why);
  CHECK(map_point(row("lrc", "ldg_two_gpcs_skew256", 2), placement).point);
}

TEST_CASE("microbench points: what waits for the clock waits as long at any latency of an instruction",
          "[app][microbench]") {
  for (const int latency : {1, 3, 7, 100}) {
    GpuConfig gpu = h100();
    gpu.sm.alu_latency_cycles = latency;
    CAPTURE(latency);
    const Placement placement(gpu);
    CHECK(placement.named("all", 132)->size() == 132);
    const auto gap = [&](const GpuConfig& of) {
      MicrobenchData data;
      data.rows = {row("cta_ends", "wait_128_threads", 132, 1, "sm__cycles_elapsed.max")};
      return compare_microbench(of, data, {}).groups.front().points.front().simulated;
    };
    CHECK(gap(gpu) == Approx(gap(h100())).epsilon(0.05));
  }
}

TEST_CASE("microbench points: what would be refused is found without a simulation", "[app][microbench]") {
  MicrobenchData data;
  data.rows = {row("latency", "shared", 4096), row("latency", "load_ca", 32, 0),
               row("l2_slices", "latency_from_gpc0", 0)};
  const CheckedRows checked = check_microbench(h100(), data);
  CHECK(checked.simulated == 1);
  REQUIRE(checked.zeros.size() == 1);
  CHECK(checked.zeros.front().series == "load_ca");
  for (const MicrobenchRow& bad : {row("latency", "shared", 4097), row("launch", "cluster7_one_per_sm_rate", 128)}) {
    data.rows.resize(1);
    data.rows.push_back(bad);
    CHECK_THROWS_AS(check_microbench(h100(), data), InputError);
  }
  // CTAs that wait for one another must all be there at once.
  const MicrobenchRow beside = row("hbm", "cold_read", 1024);
  GpuConfig small = h100();
  small.topology.gpc_sms = small.topology.gpc_cluster_sms = {2, 2};
  small.topology.gpc_partition = {0, 1};
  data.rows = {beside, row("hbm", "read_bulk", 64)};
  CHECK(check_microbench(small, data).simulated == 2);
}

TEST_CASE("microbench placement: groups have the members their names say", "[app][microbench]") {
  const Placement p(h100());
  CHECK(p.num_sms() == 132);
  CHECK(p.gpcs().size() == 8);
  CHECK(p.named("sm", 1)->size() == 1);
  CHECK(*p.named("tpc", 2) == SmList{0, 1});
  CHECK(p.named("all", 132)->size() == 132);
  CHECK(p.named("side0", 66)->size() == 66);
  CHECK(p.named("one_cpc", 6)->size() == 6);
  CHECK_FALSE(p.named("two_gpcs", 28));
  CHECK_FALSE(p.named("no such group", 1));
  const microbench::Group g = p.group({5, 9});
  CHECK(g.active == 2);
  CHECK(std::count(g.rank.begin(), g.rank.end(), -1) == 130);
}

TEST_CASE("microbench points: CPCs get even shares of HBM only when their SMs ask for more than 64 KiB each",
          "[app][microbench]") {
  // Mean end of the SMs of CPCs of four over that of CPCs of six, measured on an H200: 0.996 and 0.745.
  const auto small_over_large = [](const char* series) {
    return simulated(row("hbm_shares", series, 4)) / simulated(row("hbm_shares", series, 6));
  };
  CHECK(small_over_large("all_ranges_64_end") == Approx(0.996).epsilon(0.02));
  CHECK(small_over_large("all_ranges_192_end") == Approx(0.745).epsilon(0.03));
}

TEST_CASE("microbench points: HBM reads by what is under way", "[app][microbench]") {
  // Boxes wait at least as long as one alone, 1309 clk on an H200; 64 SMs with 16 KiB each get 793 B/clk there.
  const double few = simulated(row("hbm_load", "rows_of_512B_64_rate", 16));
  CHECK(few == Approx(793).epsilon(0.05));
  const double more = simulated(row("hbm_load", "rows_of_512B_64_rate", 32));
  CHECK(more > 1.5 * few);
  CHECK(more < 2.01 * few);
  // 24 MiB under way are several times what the latency needs: what is under way does not matter: the channels are
  // busy.
  const double most = simulated(row("hbm_load", "rows_of_512B_132_rate", 192));
  const double peak = h100().hbm_peak_gb_per_s() * 1000 / 1980;
  CHECK(most > 0.9 * peak);
  CHECK(most < peak);
  // Nothing is simulated that has no trace.
  for (const char* series : {"rows_of_512B_9999_rate", "rows_of_100B_64_rate", "alone_waits", "line_beside_64_p50"}) {
    CHECK_FALSE(map_point(row("hbm_load", series, 16), Placement(h100())).point);
  }
}

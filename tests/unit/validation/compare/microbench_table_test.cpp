#include "validation/compare/microbench_table.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/support/h100.hpp"
#include "tests/support/measured_run.hpp"

using namespace strata;
using namespace strata::test;
using test::MeasuredRun;

namespace {

std::string error_of(const MeasuredRun& run) {
  try {
    (void)read_microbench(run.path(), h100());
  } catch (const InputError& e) {
    REQUIRE(e.diagnostics().size() == 1);
    return to_string(e.diagnostics()[0]);
  }
  return {};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("microbench table: a point is the median of the runs, with their lowest and highest value",
          "[validation][microbench]") {
  const MeasuredRun run("microbench_table_runs");
  const char* values[] = {"30", "34", "31"};
  for (int i = 0; i < 3; ++i) {
    const std::string folder = "run-" + std::to_string(i);
    run.write_origin(folder);
    run.write(folder + "/latency.csv",
              MeasuredRun::header() + "latency,load_ca,32,KiB," + values[i] + ",clk,30,34,7,1980\n");
  }
  run.write("run-0/hbm_traffic_counters.csv",
            "bench,series,x,x_unit,metric,value,unit\nhbm_traffic,stride,64,B,dram__bytes_read.sum,128,byte\n");
  run.write("run-1/hbm_traffic_cold_counters.csv",
            "bench,series,x,x_unit,metric,value,unit\nhbm_traffic,stride,64,B,dram__bytes_read.sum,256,byte\n");
  const MicrobenchData data = read_microbench(run.path(), h100());
  REQUIRE(data.runs.size() == 3);
  CHECK(data.product == "NVIDIA H100 80GB HBM3");
  REQUIRE(data.rows.size() == 3);
  const MicrobenchRow& counters = data.rows[0];
  CHECK(counters.metric == "dram__bytes_read.sum");
  CHECK(counters.sm_clock_mhz == 0);
  CHECK(data.rows[2].bench == "hbm_traffic_cold");  // other caches, other rows
  CHECK(data.rows[2].value == 256);
  const MicrobenchRow& latency = data.rows[1];
  CHECK(latency.value == 31);
  CHECK(latency.low == 30);
  CHECK(latency.high == 34);
  CHECK(latency.runs == 3);
  CHECK(latency.sm_clock_mhz == 1980);
}

TEST_CASE("microbench table: programs that choose SMs by GPC count only on cards with the described GPCs",
          "[validation][microbench]") {
  const MeasuredRun run("microbench_table_gpcs");
  const auto topology = [](std::initializer_list<int> sms) {
    std::string text = MeasuredRun::header();
    int gpc = 0;
    for (const int n : sms) {
      text += "topology,sms_in_gpc," + std::to_string(gpc++) + ",gpc," + std::to_string(n) + ",SM,1,99,1,1\n";
    }
    return text;
  };
  for (const char* folder : {"a", "b"}) {
    const bool other = *folder == 'a';
    run.write_origin(folder);
    run.write(std::string(folder) + "/topology.csv",
              other ? topology({8, 16, 16, 16, 18, 18, 18, 22}) : topology({16, 16, 16, 16, 16, 16, 18, 18}));
    run.write(
        std::string(folder) + "/l2_bandwidth.csv",
        MeasuredRun::header() + "l2_bandwidth,ldg_private_all,132,SM," + (other ? "1" : "3") + ",B/clk,1,3,7,1980\n");
  }
  for (const MicrobenchRow& row : read_microbench(run.path(), h100()).rows) {
    if (row.bench == "l2_bandwidth") {
      CHECK(row.value == 3);
      CHECK(row.runs == 1);
    }
  }
}

TEST_CASE("microbench table: rows that a run lists as left out are not read", "[validation][microbench]") {
  const MeasuredRun run("microbench_table_left_out");
  const std::string origin =
      R"({"gpu": "x", "sms": 132, "l2_bytes": 52428800, "max_sm_clock_mhz": 1980, "memory_clock_mhz": 2619, "left_out": )";
  run.write("origin.json", origin + R"(["l2_bandwidth *_private_gpc 16", "l2_bandwidth *_each_gpc 0"]})");
  std::string rows = MeasuredRun::header();
  for (const char* row : {"bulk_private_gpc,16,SM", "bulk_private_gpc_sum_of_rates,16,SM", "bulk_private_gpc,18,SM",
                          "bulk_private_each_gpc,0,gpc", "bulk_private_each_gpc,1,gpc", "tile_shared_gpc,16,SM"}) {
    rows += std::string("l2_bandwidth,") + row + ",600,B/clk,600,600,7,1980\n";
  }
  run.write("l2_bandwidth.csv", rows);
  const MicrobenchData data = read_microbench(run.path(), h100());
  REQUIRE(data.rows.size() == 3);
  CHECK(data.rows[0].x == 18);
  CHECK(data.rows[1].x == 1);
  CHECK(data.rows[2].series == "tile_shared_gpc");
  run.write("origin.json", origin + R"(["l2_bandwidth"]})");
  CHECK(has(error_of(run), "left_out"));
}

TEST_CASE("microbench table: bad input is one clear line", "[validation][microbench]") {
  const MeasuredRun run("microbench_table_bad");
  CHECK(has(error_of(run), "holds no run"));
  run.write("latency.csv", MeasuredRun::header());
  CHECK(has(error_of(run), "holds no run"));
  run.write("origin.json", "{\n\"gpu\": \"x\",\n\"sms\"\n}");
  CHECK(has(error_of(run), "origin.json:4: is not a JSON object"));
  run.write("origin.json", "not JSON");
  CHECK(has(error_of(run), "is not a JSON object"));
  run.write("origin.json", "{\"gpu\": \"x\", \"sms\": \"many\"}");
  CHECK(has(error_of(run), "sms: \"many\": expected a whole number from 1"));
  run.write("origin.json", "{\"gpu\": \"x\", \"sms\": 131.5}");
  CHECK(has(error_of(run), "sms: 131.5: expected a whole number"));
  run.write("origin.json", "{\"gpu\": \"x\", \"sms\": 1e14}");
  CHECK(has(error_of(run), "sms: 100000000000000.0: expected a whole number"));
  run.write("origin.json", "{\"gpu\": " + std::string(100000, '[') + std::string(100000, ']') + "}");
  CHECK(has(error_of(run), "origin.json: nests deeper than 64 levels"));
  run.write_origin({}, 108);
  CHECK(has(error_of(run), "108 SMs; h100-sxm5-80gb has 132"));
  run.write_origin();
  CHECK(has(error_of(run), "has no rows"));
  run.write("latency.csv", "bench,series,x,value\nlatency,load_ca,1,32\n");
  CHECK(has(error_of(run), "unit"));
  for (const char* value : {"nan", "inf", "", "32 clk"}) {
    run.write("latency.csv", MeasuredRun::header() + "latency,load_ca,1,KiB," + value + ",clk,1,2,7,1980\n");
    INFO(value);
    CHECK(has(error_of(run), "is not a finite number"));
    CHECK(has(error_of(run), "latency.csv:2"));
  }
  CHECK_THROWS_AS(read_microbench(run.path() + "/nowhere", h100()), InputError);
}

TEST_CASE("microbench table: clock, spread and repetitions are numbers that can be", "[validation][microbench]") {
  const auto error = [](const std::string& tail) {
    const MeasuredRun run("microbench_table_spread");
    run.write_origin("a");
    run.write("a/latency.csv", MeasuredRun::header() + "latency,load_ca,32,KiB,2,clk," + tail + "\n");
    return error_of(run);
  };
  CHECK(error("1,2,7,1980").empty());
  CHECK(has(error("1,2,7,0"),
            "latency.csv:2: sm_clock_mhz: '0': expected 500 to 2475 MHz on a card of at most 1980, or 1 where nothing "
            "is timed"));
  CHECK(has(error("1,2,7,1e9"), "sm_clock_mhz: '1e9'"));
  CHECK(has(error("1,2,7,300"), "sm_clock_mhz: '300'"));
  CHECK(has(error("2,1,7,1980"), "latency.csv:2: min: '2' exceeds max, which is '1'"));
  CHECK(has(error("3,4,7,1980"), "latency.csv:2: value: 2 lies outside min to max, 3 to 4"));
  CHECK(error("1,inf,7,1980").empty());
  CHECK(has(error("x,2,7,1980"), "min: 'x' is not a finite number"));
  CHECK(has(error("1,x,7,1980"), "max: 'x' is not a finite number"));
  CHECK(has(error("1,2,-7,1980"), "reps: '-7': expected a whole number from 1"));
}

TEST_CASE("microbench table: memory clocks of cards of a product may differ by 5 %", "[validation][microbench]") {
  const MeasuredRun run("microbench_table_clock");
  run.write_origin("a");
  run.write("a/latency.csv", MeasuredRun::header() + "latency,load_ca,32,KiB,30,clk,30,31,7,1980\n");
  GpuConfig other = h100();
  other.clocks.hbm_mhz = other.clocks.hbm_mhz * 102 / 100;
  CHECK_NOTHROW(read_microbench(run.path(), other));
  other.clocks.hbm_mhz = h100().clocks.hbm_mhz * 110 / 100;
  CHECK_THROWS_WITH(read_microbench(run.path(), other), Catch::Contains("memory_clock_mhz: was measured on"));
}

TEST_CASE("microbench table: the recorded runs of the H100 are read whole", "[validation][microbench]") {
  const MicrobenchData data =
      read_microbench(std::string(STRATA_SOURCE_DIR) + "/validation/data/h100-sxm5-80gb/microbench", h100());
  CHECK(data.runs.size() >= 3);
  CHECK(data.odd.empty());
  CHECK(data.rows.size() > 20000);
  for (const MicrobenchRow& row : data.rows) {
    if (row.series == "bulk_private_gpc") CHECK(row.value < 560);  // 612 where SMs of no cluster were taken for its own
  }
}

TEST_CASE("microbench table: a unit that the program does not measure in is refused; that of a new program is not",
          "[validation][microbench]") {
  const auto error = [](const char* row) {
    const MeasuredRun run("microbench_table_units");
    run.write_origin("a");
    run.write("a/latency.csv", MeasuredRun::header() + row);
    return error_of(run);
  };
  CHECK(error("latency,load_ca,32,KiB,30,clk,30,31,7,1980\n").empty());
  CHECK(
      has(error("latency,load_ca,32,KiB,30,ns,30,31,7,1980\n"), "latency.csv:2: unit: 'ns': latency measures in clk"));
  CHECK(error("brand_new,curve,32,KiB,30,parsec,30,31,7,1980\n").empty());
}

TEST_CASE("microbench table: a point that a run has twice is refused with both lines, but for launches and lrc",
          "[validation][microbench]") {
  const MeasuredRun run("microbench_table_twice");
  run.write_origin();
  const std::string row = "latency,shared,4096,B,23,clk,23,23,5,1980\n";
  run.write("latency.csv", MeasuredRun::header() + row + row);
  CHECK(has(error_of(run), "latency.csv:3: series: latency shared at 4096 B is measured twice, also in "));
  CHECK(has(error_of(run), "latency.csv:2"));
  run.write("latency.csv", MeasuredRun::header() + row);
  const std::string group = "lrc,ldg_gpc_skew0,8,SM,70,B/clk/SM,70,70,1,1980\n";
  run.write("lrc.csv", MeasuredRun::header() + group + group);
  CHECK(read_microbench(run.path(), h100()).rows.size() == 2);
}

TEST_CASE("microbench table: each series has its unit, each counter its own", "[validation][microbench]") {
  const auto error = [](const std::string& header, const std::string& row) {
    const MeasuredRun run("microbench_table_series_units");
    run.write_origin();
    run.write("some.csv", header + row + "\n");
    return error_of(run);
  };
  CHECK(has(error(MeasuredRun::header(), "hbm,read,64,MiB,3000,ns,3000,3000,5,1980"),
            "some.csv:2: unit: 'ns': hbm measures read in GB/s"));
  CHECK(has(error(MeasuredRun::header(), "alu,ffma_latency,1,chain,4,clk/inst,4,4,5,1980"),
            "some.csv:2: unit: 'clk/inst': alu measures ffma_latency in clk"));
  const std::string counters = "bench,series,x,x_unit,metric,value,unit\n";
  CHECK(has(error(counters, "hbm_traffic,stride,64,B,dram__bytes_read.sum,128,sector"),
            "some.csv:2: unit: 'sector': dram__bytes_read.sum counts in byte"));
  CHECK(has(error(counters,
                  "launch,empty_32_threads,4,CTA,sm__cycles_elapsed.max,128,cycle\n"
                  "launch,empty_32_threads,4,CTA,sm__cycles_elapsed.max,128,cycle"),
            "some.csv:3: series: launch empty_32_threads at 4 CTA is measured twice"));
  const MeasuredRun run("microbench_table_metric");
  run.write_origin();
  run.write("some.csv", counters + "hbm_traffic,stride,64,B,dram__byte_read.sum,128,byte\n" +
                            "hbm_traffic,stride,64,B,dram__bytes_read.sum,128,byte\n");
  const MicrobenchData data = read_microbench(run.path(), h100());
  CHECK(data.rows.size() == 1);
  REQUIRE(data.unknown.size() == 1);
  CHECK(has(to_string(data.unknown[0].problem),
            "some.csv:2: metric: unknown counter 'dram__byte_read.sum'; the nearest is 'dram__bytes_read.sum'"));
}

TEST_CASE("microbench table: GPCs are numbered without gaps and hold the GPU's SMs", "[validation][microbench]") {
  const auto error = [](const std::string& rows) {
    const MeasuredRun run("microbench_table_topology");
    run.write_origin();
    run.write("topology.csv", MeasuredRun::header() + rows);
    return error_of(run);
  };
  const auto gpc = [](const std::string& x, const std::string& sms) {
    return "topology,sms_in_gpc," + x + ",gpc," + sms + ",SM," + sms + "," + sms + ",1,1\n";
  };
  const auto member = [](const std::string& sm, const std::string& of) {
    return "topology,gpc_of_sm," + sm + ",smid," + of + ",index," + of + "," + of + ",1,1\n";
  };
  CHECK(error(gpc("0", "66") + gpc("1", "66")).empty());
  CHECK(has(error(gpc("0.5", "66")), "topology.csv:2: x: 0.5: sms_in_gpc expects a whole number from 0 to 63"));
  CHECK(has(error(gpc("64", "66")), "topology.csv:2: x: 64: "));
  CHECK(has(error(gpc("0", "66") + gpc("2", "66")),
            "topology.csv:3: x: 2: sms_in_gpc lists no GPC 1; expected all from 0 on"));
  CHECK(has(error(gpc("1", "132")), "topology.csv:2: x: 1: sms_in_gpc lists no GPC 0"));
  CHECK(error("topology,sms_in_gpc,0,smid,66,SM,66,66,1,1\n").empty());  // left out: another unit
  CHECK(has(error(gpc("0", "66")), "topology.csv:2: value: sms_in_gpc lists 66 SMs in 1 GPCs; the GPU has 132"));
  CHECK(has(error(gpc("0", "66") + gpc("1", "66") + member("0", "2")),
            "topology.csv:4: value: gpc_of_sm puts 1 SMs into GPC 2, sms_in_gpc lists 0"));
  CHECK(has(error(member("132", "0")), "topology.csv:2: x: 132: gpc_of_sm expects a whole number from 0 to 131"));
  CHECK(has(error("l2_fabric,side_of_gpc,0,gpc,2,side,2,2,1,1\n"),
            "topology.csv:2: value: 2: side_of_gpc expects a whole number from 0 to 1"));
}

TEST_CASE("microbench table: a run counts once", "[validation][microbench]") {
  const MeasuredRun run("microbench_table_same");
  const std::string origin =
      R"({"gpu": "x", "sms": 132, "l2_bytes": 52428800, "max_sm_clock_mhz": 1980, "memory_clock_mhz": 2619, "date_utc": ")";
  const std::string row = MeasuredRun::header() + "latency,load_ca,32,KiB,30,clk,30,31,7,1980\n";
  for (const char* folder : {"a", "b"}) {
    run.write(std::string(folder) + "/origin.json", origin + R"(2026-11-28T00:27:08Z"})");
    run.write(std::string(folder) + "/latency.csv", row);
  }
  CHECK(has(error_of(run), "b/origin.json: date_utc: '2026-11-28T00:27:08Z': the run is the one in "));
  run.write("b/origin.json", origin + R"(2026-11-28T00:27:09Z"})");
  CHECK(error_of(run).empty());
}

TEST_CASE("microbench table: what leaves out nothing is said", "[validation][microbench]") {
  const MeasuredRun run("microbench_table_odd");
  run.write("origin.json",
            R"({"gpu": "x", "sms": 132, "l2_bytes": 52428800, "max_sm_clock_mhz": 1980, "memory_clock_mhz": 2619,)"
            R"( "left_outs": 1, "left_out": ["latencyy shared *", "latency load_ca 64", "lrc bulk_gpc 2"]})");
  run.write("latency.csv", MeasuredRun::header() + "latency,load_ca,32,KiB,30,clk,30,31,7,1980\n");
  const MicrobenchData data = read_microbench(run.path(), h100());
  REQUIRE(data.odd.size() == 3);
  CHECK(has(to_string(data.odd[0]), "origin.json: left_outs: unknown key; the nearest is 'left_out'"));
  CHECK(has(to_string(data.odd[1]), "origin.json: left_out: 'latencyy shared *' names no row of the run"));
  CHECK(has(to_string(data.odd[2]), "origin.json: left_out: 'latency load_ca 64' names no row of the run"));
}

TEST_CASE("microbench table: a number beyond any GPU's names what is plausible", "[validation][microbench]") {
  const MeasuredRun run("microbench_table_plausible");
  run.write_origin();
  run.write("latency.csv", MeasuredRun::header() + "latency,shared,4096,B,1e308,clk,23,23,5,1980\n");
  CHECK(has(error_of(run), "latency.csv:2: value: '1e308' clk: expected a number from 0, at most 1e+10"));
}

TEST_CASE("microbench table: series that no program prints are left out and named", "[validation][microbench]") {
  const MeasuredRun run("microbench_table_unknown");
  run.write_origin();
  run.write("latency.csv",
            MeasuredRun::header() + "latency,shared,4096,B,23,clk,23,23,5,1980\n" +
                "latency,load_cx,32,KiB,23,clk,23,23,5,1980\nlatency,load_cx,64,KiB,23,clk,23,23,5,1980\n" +
                "latency,load_ca,32,MiB,23,clk,23,23,5,1980\n");
  const MicrobenchData data = read_microbench(run.path(), h100());
  CHECK(data.rows.size() == 1);
  REQUIRE(data.unknown.size() == 2);
  CHECK(data.unknown[0].rows == 2);
  CHECK(data.unknown[0].problem.line == 3);
  CHECK(data.unknown[0].problem.message == "unknown series 'load_cx' of latency; the nearest is 'load_ca'");
  CHECK(data.unknown[1].problem.key == "x_unit");
  CHECK(data.unknown[1].problem.message == "'MiB': latency prints load_ca over KiB");
}

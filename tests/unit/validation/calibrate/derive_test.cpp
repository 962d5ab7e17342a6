#include "validation/calibrate/derive.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/support/measured_run.hpp"
#include "validation/calibrate/description.hpp"
#include "validation/calibrate/identity.hpp"

using namespace strata;
using test::MeasuredRun;

namespace {

MicrobenchRow row(const char* bench, const char* series, double x, double value, const char* metric = "") {
  MicrobenchRow r;
  r.bench = bench;
  r.series = series;
  r.x = x;
  r.value = value;
  r.metric = metric;
  return r;
}

GpuDescription h100() { return load_gpu("h100-sxm5-80gb"); }

}  // namespace

TEST_CASE("derive: a chain's latency is its clocks less one issue cycle; the rest is listed as missing",
          "[validation][calibrate]") {
  GpuDescription d = h100();
  MicrobenchData data;
  data.rows = {row("latency", "shared", 4096, 23.03), row("latency", "load_ca", 32, 32.01)};
  const Derivation derived = derive_parameters(data, d);
  REQUIRE(derived.values.size() == 2);
  CHECK(d.config.smem.latency_cycles == 22);
  CHECK(d.config.l1.latency_cycles == 31);
  CHECK(d.origins.at("smem.latency_cycles").origin == "measured");
  CHECK(std::any_of(derived.missing.begin(), derived.missing.end(),
                    [](const std::string& m) { return m.rfind("tma.issue_cycles:", 0) == 0; }));
}

TEST_CASE("derive: rates by hand", "[validation][calibrate]") {
  GpuDescription d = h100();
  MicrobenchData data;
  data.rows = {row("mma_sync", "bf16_m16n8k16_4chains", 32, 6.0),     // 2048 FMA / 512 a clock = 4 of 6
               row("wgmma", "bf16_ss_2wg", 8, 18.0),                  // 2304 bytes / 18 = 128
               row("instruction_fetch", "steady_warps_4", 64, 2.36),  // eight instructions a line
               row("wgmma", "bf16_ss_drained_n64", 1, 87.4),          // less 32
               row("tma", "tile_row_4warps_interval", 16, 257.6),     // 256 rows
               row("hbm_traffic", "write_clean", 256, 242221056.0, "dram__bytes_write.sum"),  // half of the L2 stays
               // The median GPC, per L2 clock: x 1980 / 1707.
               row("l2_bandwidth", "bulk_private_each_gpc", 0, 611),
               row("l2_bandwidth", "bulk_private_each_gpc", 1, 551.7),
               row("l2_bandwidth", "bulk_private_each_gpc", 2, 540)};
  (void)derive_parameters(data, d);
  CHECK(d.config.tensor.mma_sync_overhead_cycles == Approx(2));
  CHECK(d.config.tensor.wgmma_operand_bytes_per_cycle == 128);
  CHECK(d.config.icache.line_cycles == 18.9);
  CHECK(d.config.tensor.wgmma_latency_cycles == 55);
  CHECK(d.config.tma.row_cycles == Approx(1.01));
  CHECK(d.config.l2.dirty_limit == Approx(0.5));
  CHECK(d.config.xbar.gpc_read_bytes_per_cycle == 640);
}

TEST_CASE("derive: the reach of translations is where the page curve steps", "[validation][calibrate]") {
  GpuDescription d = h100();
  MicrobenchData data;
  for (const double mib : {2, 8, 64, 128, 256}) data.rows.push_back(row("latency", "page_2mib", mib, 280));
  for (const double mib : {384, 512, 1024, 4096}) data.rows.push_back(row("latency", "page_2mib", mib, 291.6));
  (void)derive_parameters(data, d);
  CHECK(d.config.tlb.gpc_entries == 128);
  data.rows.clear();
  for (int mib = 2; mib < 4096; mib *= 2) data.rows.push_back(row("latency", "page_2mib", mib, 280 + mib % 3));
  const Derivation flat = derive_parameters(data, d);
  CHECK(flat.values.empty());
}

TEST_CASE("derive: the rate of CTAs is the slope between two grids, free of what every launch costs",
          "[validation][calibrate]") {
  GpuDescription d = h100();
  MicrobenchData data;
  const char* metric = "sm__cycles_elapsed.max";
  data.rows = {row("launch", "empty_32_threads", 1, 4000, metric),
               row("launch", "empty_32_threads", 1000, 6000, metric),
               row("launch", "empty_32_threads", 11000, 18000, metric)};
  (void)derive_parameters(data, d);
  CHECK(d.config.launch.ctas_per_cycle == Approx(0.833));  // 12000 cycles for 10000 CTAs
  data.rows.resize(1);                                     // no slope in one grid
  const Derivation one_grid = derive_parameters(data, d);
  CHECK(one_grid.values.empty());
}

TEST_CASE("derive: half of what the other side filled crosses the fabric", "[validation][calibrate]") {
  GpuDescription d = h100();
  MicrobenchData data;
  for (const char* series : {"after_other_side_side0", "after_other_side_side1"}) {
    data.rows.push_back(row("l2_fabric", series, 8, 400));  // too few SMs to fill the fabric
    data.rows.push_back(row("l2_fabric", series, 64, 1000));
    data.rows.push_back(row("l2_fabric", series, 66, 1100));
  }
  (void)derive_parameters(data, d);
  CHECK(d.config.fabric.bytes_per_cycle == 608);  // 525 x 1980 / 1707, to 8 bytes
}

// The shipped description came from these measurements. A formula that is not the inverse of the model, or a value
// that is changed without its microbenchmark, shows here.
TEST_CASE("derive: the recorded measurements give the shipped descriptions again", "[validation][calibrate]") {
  const auto [gpu, memory_mhz, tolerance] =
      GENERATE(table<std::string, int, double>({{"h100-sxm5-80gb", 2619, 0.016}, {"h200-sxm-141gb", 3201, 0.016}}));
  INFO(gpu);
  GpuDescription d = load_gpu(gpu);
  d.config.clocks.hbm_mhz = memory_mhz;  // of the recorded card
  const MicrobenchData data =
      read_microbench(std::string(STRATA_SOURCE_DIR) + "/validation/data/" + gpu + "/microbench", d.config);
  const Derivation derived = derive_parameters(data, d);
  CHECK(derived.values.size() + derived.missing.size() == 30);
  CHECK(derived.missing.size() <= 2);  // code larger than the cache was measured on an H200 only
  for (const DerivedValue& v : derived.values) {
    INFO(v.key << ": " << v.before << " shipped, " << v.after << " derived from " << v.source);
    CHECK(v.after == Approx(v.before).epsilon(tolerance));
  }
  for (const std::string& kept : derived.kept) {
    const std::string key = kept.substr(0, kept.find(':'));
    INFO(key);
    CHECK(std::none_of(derived.values.begin(), derived.values.end(),
                       [&key](const DerivedValue& v) { return v.key == key; }));
  }
}

TEST_CASE("derive: a zero is no measurement", "[validation][calibrate]") {
  GpuDescription d = h100();
  MicrobenchData data;
  data.rows = {row("latency", "shared", 4096, 0), row("wgmma", "bf16_ss_2wg", 8, 0)};
  const Derivation derived = derive_parameters(data, d);
  CHECK(derived.values.empty());
  REQUIRE(derived.zeros.size() == 2);
  CHECK(derived.zeros[0].message == "0: nothing measured, so smem.latency_cycles is kept");
  CHECK(d.config.smem.latency_cycles == h100().config.smem.latency_cycles);
}

TEST_CASE("derive: the order of rows does not show in what they say", "[validation][calibrate]") {
  MicrobenchData data;
  for (int i = 0; i < 50; ++i) data.rows.push_back(row("topology", "dsmem_latency_from_0", i, 200 + 1.0 / (3 + i * i)));
  for (const double x : {0, 1, 2, 3}) data.rows.push_back(row("l2_bandwidth", "bulk_private_each_gpc", x, 550));
  for (std::size_t i = 0; i < data.rows.size(); ++i) data.rows[i].line = static_cast<int>(i);
  GpuDescription there = h100();
  const Derivation one = derive_parameters(data, there);
  std::reverse(data.rows.begin(), data.rows.end());
  GpuDescription back = h100();
  const Derivation other = derive_parameters(data, back);
  REQUIRE(one.values.size() == other.values.size());
  for (std::size_t i = 0; i < one.values.size(); ++i) {
    CHECK(one.values[i].source == other.values[i].source);
    CHECK(one.values[i].line == other.values[i].line);
    CHECK(one.values[i].after == other.values[i].after);
  }
}

TEST_CASE("derive: a value out of range is refused with its key", "[validation][calibrate]") {
  GpuDescription d = h100();
  MicrobenchData data;
  data.rows = {row("latency", "shared", 4096, 1e6)};
  data.rows[0].file = "run/latency.csv";
  data.rows[0].line = 9;
  try {
    (void)derive_parameters(data, d);
    FAIL("no error");
  } catch (const InputError& e) {
    CHECK(e.diagnostics()[0].key == "smem.latency_cycles");
    CHECK(std::string(e.what()).starts_with("run/latency.csv:9: "));
  }
}

TEST_CASE("identity: a run names its GPU, its memory and its GPCs", "[validation][calibrate]") {
  const MeasuredRun run("identity_test");
  run.write("origin.json",
            "{\"gpu\": \"NVIDIA H100 PCIe\", \"sms\": 36, \"l2_bytes\": 52428800, \"max_sm_clock_mhz\": 1755, "
            "\"memory_clock_mhz\": 1593, \"memory_bus_bits\": 5120, \"memory_bytes\": 150109880320, \"date_utc\": "
            "\"today\"}");
  std::string topology = MeasuredRun::header();
  for (int g = 0; g < 2; ++g) topology += "topology,sms_in_gpc," + std::to_string(g) + ",gpc,18,SM,18,18,1,1\n";
  run.write("topology.csv", topology);
  GpuDescription d = h100();
  apply_identity(run.path(), "my-gpu", d);
  CHECK(d.config.chip.name == "my-gpu");
  CHECK(d.config.chip.product == "NVIDIA H100 PCIe");
  CHECK(d.config.clocks.sm_max_mhz == 1755);
  CHECK(d.config.clocks.hbm_mhz == 1593);
  CHECK(d.config.hbm.size_bytes == 150109880320);
  CHECK(d.config.topology.gpc_sms == std::vector<int>{18, 18});
  CHECK(d.config.topology.gpc_partition == std::vector<int>{0, 1});
  CHECK(d.origins.at("topology.gpc_partition").origin == "inferred");
  run.write("topology.csv", MeasuredRun::header() + "topology,sms_in_gpc,0,gpc,18,SM,18,18,1,1\n");
  CHECK_THROWS_AS(apply_identity(run.path(), "my-gpu", d), InputError);
  run.write("topology.csv", topology);
  run.write("origin.json",
            "{\"gpu\": \"NVIDIA H100 NVL\", \"sms\": 36, \"l2_bytes\": 52428800, \"max_sm_clock_mhz\": 1755, "
            "\"memory_clock_mhz\": 2619, \"memory_bus_bits\": 6016, \"date_utc\": \"today\"}");
  try {
    apply_identity(run.path(), "my-gpu", d);
    FAIL("no error");
  } catch (const InputError& e) {
    CHECK(e.diagnostics()[0].key == "memory_bus_bits");
    CHECK(std::string(e.what()).find("makes 6 HBM stacks") != std::string::npos);
  }
}

TEST_CASE("identity: rows that the run leaves out say nothing of its GPCs; sides that are missing are said to be",
          "[validation][calibrate]") {
  const MeasuredRun run("identity_left_out");
  const auto origin = [](const std::string& more) {
    return "{\"gpu\": \"NVIDIA H100 PCIe\", \"sms\": 36, \"l2_bytes\": 52428800, \"max_sm_clock_mhz\": 1755, "
           "\"memory_clock_mhz\": 1593" +
           more + "}";
  };
  run.write("topology.csv", MeasuredRun::header() + "topology,sms_in_gpc,0,gpc,18,SM,18,18,1,1\n" +
                                "topology,sms_in_gpc,1,gpc,18,SM,18,18,1,1\n");
  run.write("l2_fabric.csv", MeasuredRun::header() + "l2_fabric,side_of_gpc,1,gpc,1,side,1,1,1,1\n");
  run.write("origin.json", origin(""));
  GpuDescription d = h100();
  apply_identity(run.path(), "my-gpu", d);
  CHECK(d.origins.at("topology.gpc_partition").source ==
        "l2_fabric.csv has side_of_gpc of 1 of 2 GPCs; GPCs dealt to the sides in turn");
  run.write("origin.json", origin(", \"left_out\": [\"topology sms_in_gpc *\"]"));
  GpuDescription other = h100();
  CHECK_THROWS_WITH(apply_identity(run.path(), "my-gpu", other), Catch::Contains("measure topology too"));
}

TEST_CASE("identity: what no description can hold is said with its key in origin.json", "[validation][calibrate]") {
  const MeasuredRun run("identity_keys");
  const auto error = [&run](const std::string& more) {
    run.write("origin.json",
              "{\"gpu\": \"NVIDIA H100\", \"sms\": 132, \"l2_bytes\": 52428800, \"max_sm_clock_mhz\": 1980, "
              "\"memory_clock_mhz\": 2619, " +
                  more + "}");
    run.write("latency.csv", MeasuredRun::header() + "latency,shared,4096,B,23,clk,23,23,5,1980\n");
    GpuDescription d = h100();
    try {
      apply_identity(run.path(), "my-gpu", d);
    } catch (const InputError& e) {
      return e.diagnostics().front().key;
    }
    return std::string();
  };
  CHECK(error("\"memory_bytes\": 1") == "memory_bytes");
  CHECK(error("\"memory_bus_bits\": 1") == "memory_bus_bits");
}

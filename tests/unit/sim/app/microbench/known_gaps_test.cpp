/// Every microbenchmark that misses its aim says why, and only where the cause holds.
#include "sim/app/microbench/known_gaps.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "sim/config/gpu_description.hpp"

using namespace strata;
using namespace strata::app;

namespace {

struct Missed {
  double by = 0;         ///< largest bold error of the tables in the documentation; 0 where none is bold
  bool unknown = false;  ///< the table says that no cause is known
};

std::map<std::string, Missed> table_rows() {
  std::ifstream file(std::string(STRATA_SOURCE_DIR) + "/docs/model/microbenchmarks.md");
  REQUIRE(file);
  std::map<std::string, Missed> rows;
  for (std::string line; std::getline(file, line);) {
    const bool of_a_table =
        line.starts_with("| ") &&
        (line.find("| latency |") != std::string::npos || line.find("| rate |") != std::string::npos ||
         line.find("| cold |") != std::string::npos || line.find("| traffic |") != std::string::npos);
    if (!of_a_table || line.starts_with("| ... ")) {
      continue;
    }
    Missed& row = rows[line.substr(2, line.find(" |", 2) - 2)];
    if (const std::size_t bold = line.find("**"); bold != std::string::npos) {
      double by = 0;
      std::istringstream(line.substr(bold + 2)) >> by;
      row.by = std::max(row.by, by);
    }
    row.unknown = row.unknown || line.find("no cause known") != std::string::npos;
  }
  return rows;
}

MicrobenchPointResult point(const char* series, double x, const char* unit, double measured, double simulated,
                            PointKind kind = PointKind::kRate) {
  MicrobenchPointResult p;
  p.row.series = series;
  p.row.x = x;
  p.row.unit = unit;
  p.row.value = measured;
  p.kind = kind;
  p.simulated = simulated;
  return p;
}

std::string cause(const char* benchmark, std::vector<MicrobenchPointResult> points,
                  const char* gpu = "h100-sxm5-80gb") {
  return known_gap(MicrobenchGroup{benchmark, std::move(points), {}}, load_gpu(gpu).config);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("known gaps: each microbenchmark above 5 % in the tables has a cause, and no cause is left over",
          "[app][microbench]") {
  const std::map<std::string, Missed> rows = table_rows();
  REQUIRE(rows.size() > 60);
  for (const auto& [benchmark, missed] : rows) {
    INFO(benchmark);
    CHECK((missed.by > 5 && !missed.unknown) == has_known_gap(benchmark));
  }
}

TEST_CASE("known gaps: a cause holds for misses in its direction, as a rate or as a time", "[app][microbench]") {
  const char* multicast = "multicast";
  CHECK(has(cause(multicast, {point("multicast_delivered_all", 2, "B/clk/SM", 50, 64)}), "multicast at once"));
  CHECK(cause(multicast, {point("multicast_delivered_all", 2, "B/clk/SM", 64, 50)}).empty());
  CHECK(cause(multicast, {point("multicast_delivered_one_cluster", 2, "B/clk/SM", 50, 64)}).empty());
  CHECK(cause(multicast, {point("multicast_delivered_all", 2, "B/clk/SM", 50, 51)}).empty());  // meets its aim
  const char* eight = "eight copies issued in a row";
  CHECK_FALSE(cause(eight, {point("issue8_to_done_bulk", 16, "clk", 580, 730)}).empty());
  CHECK(cause(eight, {point("issue8_to_done_bulk", 16, "clk", 730, 580)}).empty());
}

TEST_CASE("known gaps: a cause holds on the architecture and the GPU that it was found on", "[app][microbench]") {
  const std::vector<MicrobenchPointResult> slow{point("bulk_private_footprint", 48, "B/clk", 4400, 2300)};
  const char* footprint = "read bandwidth of all SMs by footprint";
  CHECK(has(cause(footprint, slow), "up to 44 MiB"));
  CHECK(has(cause(footprint, slow, "h200-sxm-141gb"), "up to 48 to 52 MiB"));
  CHECK(cause(footprint, slow, "h100-pcie-80gb").empty());
  CHECK(cause("multicast", {point("multicast_delivered_all", 2, "B/clk/SM", 50, 64)}, "a100-sxm4-80gb").empty());
}

TEST_CASE("known gaps: the cause of the worst point is told first, and what is not explained is said",
          "[app][microbench]") {
  const char* mma = "mma.sync beside other warps";
  const auto fast = point("bf16_m16n8k16_with_ffma", 8, "clk/inst/SMSP", 26, 9);
  const auto slow = point("bf16_m16n8k16_with_lop3", 4, "clk/inst/SMSP", 9, 13.4);
  const std::string both = cause(mma, {slow, fast});
  CHECK(has(both, "goes first again"));
  CHECK(has(both, "LOP3 and IMAD"));
  CHECK(both.find("goes first again") < both.find("LOP3 and IMAD"));
  CHECK_FALSE(has(cause(mma, {slow}), "goes first again"));
  const char* loads = "L1 and cp.async instructions by warps";
  const auto known = point("ldg32_l1_rate_warps", 1, "clk/inst/SM", 10, 6);
  const auto unknown = point("cp_async16_l1_rate_warps", 16, "clk/inst/SM", 7.6, 5.2);
  CHECK(
      has(cause(loads, {known, unknown}), "as it issues. (1 of 2 points over 5 %) Of the other 1 no cause is known."));
  const auto worst = point("cp_async16_l1_rate_warps", 16, "clk/inst/SM", 10, 5);
  CHECK(has(cause(loads, {known, worst}),
            "(1 of 2 points over 5 %) Of the other 1, the worst among them, no cause is known."));
  CHECK_FALSE(has(cause(loads, {known}), "over 5 %"));
  CHECK(cause(loads, {unknown}).empty());
}

#include "validation/compare/microbench_comparison.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace strata;

namespace {

MicrobenchPointResult point(const char* series, double x, double measured, double simulated) {
  MicrobenchPointResult p;
  p.row.bench = "latency";
  p.row.series = series;
  p.row.x = x;
  p.row.x_unit = "KiB";
  p.row.unit = "clk";
  p.row.value = p.row.low = p.row.high = measured;
  p.kind = PointKind::kLatency;
  p.simulated = simulated;
  return p;
}

MicrobenchComparison two_groups() {
  MicrobenchComparison c;
  c.gpu = "some-gpu";
  c.product = "Some <GPU>";
  c.runs = {"run-a"};
  c.groups.push_back({"near", {point("a", 2, 100, 102), point("a", 1, 100, 98), point("b", 1, 50, 50)}, {}});
  c.groups.push_back({"far", {point("c", 1, 100, 150), point("c", 2, 200, 190)}, "a known cause"});
  c.not_simulated["latency: no trace"] = 7;
  return c;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("microbench comparison: errors of points, microbenchmarks and kinds", "[validation][microbench]") {
  const MicrobenchComparison c = two_groups();
  CHECK(c.num_points() == 5);
  CHECK(c.groups[0].mean_abs_error() == Approx(0.04 / 3));
  CHECK(c.groups[0].bias() == Approx(0).margin(1e-12));
  CHECK(c.groups[0].meets_aim());
  CHECK(c.groups[1].mean_abs_error() == Approx(0.275));
  CHECK(c.groups[1].bias() == Approx(0.225));
  CHECK(c.groups[1].worst().row.x == 1);
  CHECK_FALSE(c.groups[1].meets_aim());
  CHECK(*c.mean_abs_error(PointKind::kLatency) == Approx((0.02 + 0.02 + 0 + 0.5 + 0.05) / 5));
  CHECK_FALSE(c.mean_abs_error(PointKind::kRate));
}

TEST_CASE("microbench comparison: curves are ordered by x", "[validation][microbench]") {
  const MicrobenchComparison c = two_groups();
  const auto curves = curves_of(c.groups[0]);
  REQUIRE(curves.size() == 2);
  REQUIRE(curves[0].size() == 2);
  CHECK(curves[0][0]->row.x == 1);
  CHECK(curves[0][1]->row.x == 2);
}

TEST_CASE("microbench comparison: text, points, JSON and page say the same", "[validation][microbench]") {
  const MicrobenchComparison c = two_groups();
  const std::string text = microbench_text(c);
  CHECK(has(text, "2 microbenchmarks, 5 points"));
  CHECK(has(text, "a known cause"));
  CHECK(has(text, "7 rows: latency: no trace"));
  CHECK_FALSE(has(text, "no cause known"));
  CHECK(has(microbench_points_text(c), "+50.0 %"));
  const auto json = nlohmann::json::parse(microbench_json(c));
  CHECK(json["schema"] == "strata.microbench/1");
  CHECK(json["points"] == 5);
  CHECK(json["microbenchmarks"][1]["cause"] == "a known cause");
  CHECK(json["microbenchmarks"][0]["points"].size() == 3);
  const std::string page = microbench_html(c);
  CHECK(has(page, "<svg"));
  CHECK(has(page, "Some &lt;GPU&gt;"));
  CHECK_FALSE(has(page, "nan"));
}

TEST_CASE("microbench text: no heading without lines under it, no zero with a sign", "[validation][microbench]") {
  MicrobenchComparison c = two_groups();
  CHECK(has(microbench_text(c), "measured, not simulated"));
  CHECK(has(microbench_text(c), "and why"));
  c.not_simulated.clear();
  c.groups = {{"near", {point("a", 1, 1000, 999.9)}, {}}};
  const std::string text = microbench_text(c);
  CHECK_FALSE(has(text, "measured, not simulated"));
  CHECK_FALSE(has(text, "and why"));
  CHECK_FALSE(has(text, "-0"));
  CHECK_FALSE(has(microbench_points_text(c), "-0"));
}

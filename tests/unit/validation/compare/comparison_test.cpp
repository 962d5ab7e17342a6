#include "validation/compare/comparison.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "validation/compare/report.hpp"

using namespace strata;

namespace {

ComparedRow row(const std::string& family, const std::string& split, double measured, double simulated) {
  ComparedRow out;
  out.case_name = family + "_case";
  out.seq = "1";
  out.family = family;
  out.split = split;
  out.supported = true;
  out.measured[Quantity::kSmCycles] = measured;
  out.predicted[0][Quantity::kSmCycles] = simulated;
  return out;
}

}  // namespace

TEST_CASE("error statistics: mean, median, 90th percentile, largest and bias") {
  const std::array<double, 10> errors{0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7, -0.8, 0.9, -1.0};
  const ErrorStats s = error_stats(errors);
  CHECK(s.n == 10);
  CHECK(s.mean_abs == Approx(0.55));
  CHECK(s.median_abs == Approx(0.55));
  CHECK(s.p90_abs == Approx(0.9));
  CHECK(s.max_abs == Approx(1.0));
  CHECK(s.bias == Approx(-0.05));
  CHECK(error_stats({}).n == 0);
  const std::array<double, 1> one{-0.25};
  CHECK(error_stats(one).p90_abs == Approx(0.25));
}

TEST_CASE("error statistics: a share in per cent has a sign unless it rounds to nothing") {
  CHECK(signed_percent(0.0432, 1) == "+4.3");
  CHECK(signed_percent(-0.5, 0) == "-50");
  CHECK(signed_percent(-0.003, 0) == "0");
  CHECK(signed_percent(-0.00004, 2) == "0.00");
  CHECK(signed_percent(0, 1) == "0.0");
}

TEST_CASE("comparison: values at or below the floor are not scored") {
  ComparedRow r = row("nvjet", "calibration", 100, 110);
  CHECK(*r.error(Quantity::kSmCycles) == Approx(0.1));
  r.measured[Quantity::kDramReadBytes] = 8e6;
  r.predicted[0][Quantity::kDramReadBytes] = 9e6;
  CHECK_FALSE(r.error(Quantity::kDramReadBytes));
  r.measured[Quantity::kDramReadBytes] = 10e6;
  CHECK(*r.error(Quantity::kDramReadBytes) == Approx(-0.1));
  CHECK_FALSE(r.error(Quantity::kWarpInsts));
}

TEST_CASE("comparison: HBM bytes that a file only has the sum of are scored, small ones too") {
  Comparison c;
  c.rows.push_back(row("ampere_gemm", "", 100, 110));
  CHECK(comparison_text((score(c), c), true).find("where only summed") == std::string::npos);
  c.rows[0].measured[Quantity::kDramBytes] = 1e6;
  c.rows[0].predicted[0][Quantity::kDramBytes] = 0.9e6;
  score(c);
  CHECK(c.splits[0].overall.of(Quantity::kDramBytes).n == 1);
  CHECK(c.splits[0].overall.of(Quantity::kDramBytes).mean_abs == Approx(0.1));
  CHECK(comparison_text(c, true).find("both, where only summed") != std::string::npos);
  CHECK(comparison_json(c).find("\"dram_bytes\": {") != std::string::npos);
}

TEST_CASE("comparison: a row is hard when HBM reads exceed 8 MB and 1.05 times the compulsory bytes") {
  ComparedRow r = row("nvjet", "calibration", 100, 110);
  auto& compulsory = r.predicted[static_cast<std::size_t>(Predictor::kCompulsory)][Quantity::kDramReadBytes];
  r.measured[Quantity::kDramReadBytes] = 100e6;
  compulsory = 99e6;
  CHECK_FALSE(r.hard());
  compulsory = 90e6;
  CHECK(r.hard());
  r.measured[Quantity::kDramReadBytes] = 7e6;
  compulsory = 1e6;
  CHECK_FALSE(r.hard());
}

TEST_CASE("comparison: scores by split and family; unsupported rows are counted, not scored") {
  Comparison c;
  c.gpu = "h100-sxm5-80gb";
  c.data = "measured.csv";
  c.rows = {row("nvjet", "calibration", 100, 110), row("nvjet", "validation", 100, 70),
            row("elementwise", "validation", 200, 220)};
  ComparedRow unknown;
  unknown.split = "validation";
  unknown.reason = "no family knows this kernel";
  c.rows.push_back(unknown);
  score(c);
  REQUIRE(c.splits.size() == 3);
  CHECK(c.splits[0].name == "all");
  CHECK(c.splits[0].overall.of(Quantity::kSmCycles).n == 3);
  CHECK(c.splits[0].unsupported == 1);
  CHECK(c.splits[1].name == "calibration");
  CHECK(c.splits[1].unsupported == 0);
  CHECK(c.splits[2].overall.of(Quantity::kSmCycles).mean_abs == Approx(0.2));
  CHECK(c.splits[2].overall.of(Quantity::kSmCycles).bias == Approx(-0.1));
  REQUIRE(c.splits[0].families.size() == 2);
  CHECK(c.splits[0].families[1].name == "nvjet");
  CHECK(c.splits[0].families[1].of(Quantity::kSmCycles).max_abs == Approx(0.3));
  CHECK(c.causes.at("no family knows this kernel") == 1);

  const auto json = nlohmann::json::parse(comparison_json(c));
  CHECK(json["schema"] == "strata.validation/1");
  CHECK(json["rows"].size() == 4);
  CHECK(json["splits"][0]["overall"]["errors"]["sm_cycles"]["simulator"]["n"] == 3);
  CHECK(comparison_text(c).find("no family knows this kernel") != std::string::npos);
  CHECK(comparison_rows_text(c).find("+10.0") != std::string::npos);
  CHECK(comparison_html(c).find("<svg") != std::string::npos);
}

TEST_CASE("comparison: the glance is at durations where the data hold no cycles") {
  Comparison c;
  ComparedRow r = row("nvjet", "calibration", 100, 110);
  r.measured = {};
  r.predicted[0] = {};
  r.measured[Quantity::kDurationUs] = 10;
  r.predicted[0][Quantity::kDurationUs] = 12;
  c.rows = {r};
  score(c);
  const std::string text = comparison_text(c, true);
  CHECK(text.find("durations at a glance") != std::string::npos);
  CHECK(text.find("20.0") != std::string::npos);
  CHECK(text.find("sm_cycles at a glance") == std::string::npos);
}

TEST_CASE("comparison: the glance has durations beside cycles where both are scored") {
  Comparison c;
  ComparedRow r = row("nvjet", "calibration", 100, 110);
  r.measured[Quantity::kDurationUs] = 10;
  r.predicted[0][Quantity::kDurationUs] = 12;
  c.rows = {r};
  score(c);
  const std::string text = comparison_text(c, true);
  const std::size_t cycles = text.find("sm_cycles at a glance");
  CHECK(cycles != std::string::npos);
  CHECK(text.find("durations at a glance") > cycles);
  CHECK(text.find("durations at a glance") != std::string::npos);
}

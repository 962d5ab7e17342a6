#include "validation/compare/microbench_series.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "sim/config/gpu_description.hpp"

using namespace strata;

namespace {

MicrobenchRow row(const std::string& bench, const std::string& series, const std::string& x_unit) {
  MicrobenchRow r;
  r.bench = bench;
  r.series = series;
  r.x_unit = x_unit;
  return r;
}

std::string message(const MicrobenchRow& r) {
  const auto problem = unknown_series(r);
  return problem ? problem->key + ": " + problem->message : std::string();
}

std::set<std::tuple<std::string, std::string, std::string>> recorded() {
  std::set<std::tuple<std::string, std::string, std::string>> out;
  for (const char* gpu : {"h100-sxm5-80gb", "h200-sxm-141gb"}) {
    const std::string folder = std::string(STRATA_SOURCE_DIR) + "/validation/data/" + gpu + "/microbench";
    for (const std::string& run : microbench_runs(folder)) {
      for (const MicrobenchRow& r : read_microbench_run(run)) out.emplace(r.bench, r.series, r.x_unit);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("microbench series: every recorded series is known, none of them under another name or unit",
          "[validation][microbench]") {
  std::map<std::string, int> programs;
  for (const auto& [bench, series, x_unit] : recorded()) {
    INFO(bench << " " << series << " over " << x_unit);
    CHECK(message(row(bench, series, x_unit)).empty());
    CHECK(message(row(bench, series + "_zz", x_unit)).starts_with("series: unknown series"));
    CHECK(message(row(bench, "wombat_zz", x_unit)).starts_with("series: unknown series"));
    CHECK(message(row(bench, series, "")).starts_with("x_unit: '': "));
    CHECK(message(row(bench, series, "furlong")).starts_with("x_unit: 'furlong': "));
    ++programs[bench];
  }
  CHECK(programs.size() >= 30);
}

TEST_CASE("microbench series: the nearest name is given, numbers left open", "[validation][microbench]") {
  CHECK(message(row("launch", "tiny_10k_rat", "threads")) ==
        "series: unknown series 'tiny_10k_rat' of launch; the nearest is 'tiny_Nk_rate'");
  CHECK(message(row("l2_fabric", "after_otherside_side0", "SM")) ==
        "series: unknown series 'after_otherside_side0' of l2_fabric; the nearest is 'after_other_side_sideN'");
  CHECK(message(row("lrc_cold", "ldg_gcp_skew0", "SM")) ==
        "series: unknown series 'ldg_gcp_skew0' of lrc; the nearest is 'ldg_gpc_skewN'");
  CHECK(message(row("latancy", "shared", "B")) == "bench: unknown program 'latancy'; the nearest is 'latency'");
}

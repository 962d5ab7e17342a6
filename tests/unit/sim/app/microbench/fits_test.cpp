/// What a fit says of itself.
#include "sim/app/microbench/fits.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace strata;
using namespace strata::app;

namespace {

MicrobenchData empty_kernel(double cycles) {
  MicrobenchRow row;
  row.bench = "launch";
  row.series = "empty_128_threads";
  row.x = 1;
  row.metric = "sm__cycles_elapsed.max";
  row.value = row.low = row.high = cycles;
  row.sm_clock_mhz = 1980;
  MicrobenchData data;
  data.rows = {row};
  return data;
}

FittedValue fitted(const MicrobenchData& data, GpuDescription& d) {
  const FitRun run = fit_parameters(data, d, 1, {});
  REQUIRE(run.values.size() == 1);
  return run.values.front();
}

}  // namespace

TEST_CASE("fits: a value at the end of its range is not called measured", "[app][microbench]") {
  const std::string key = "launch.overhead_before_cycles";
  GpuDescription d = load_gpu("h100-sxm5-80gb");
  const FittedValue plain = fitted(empty_kernel(3000), d);
  CHECK(plain.doubt.empty());
  CHECK(plain.solved);
  CHECK(d.origins.at(key).origin == "measured");
  for (const double cycles : {1.0, 1e6}) {
    const FittedValue v = fitted(empty_kernel(cycles), d);
    CHECK(v.doubt == "ends where its range does, 100 to 20000");
    CHECK_FALSE(v.solved);
    CHECK(d.origins.at(key).origin == "fitted");
    CHECK(d.origins.at(key).source.find("; doubtful: ends where its range does") != std::string::npos);
  }
}

TEST_CASE("fits: the order of rows does not show in what they were fitted to", "[app][microbench]") {
  MicrobenchData data;
  for (const double threads : {384, 128, 256}) {
    MicrobenchRow row = empty_kernel(34).rows.front();
    row.bench = "barrier";
    row.series = "syncthreads";
    row.metric.clear();
    row.x = threads;
    row.x_unit = "threads";
    data.rows.push_back(row);
  }
  GpuDescription d = load_gpu("h100-sxm5-80gb");
  const std::string one = fitted(data, d).points;
  std::reverse(data.rows.begin(), data.rows.end());
  CHECK(fitted(data, d).points == one);
}

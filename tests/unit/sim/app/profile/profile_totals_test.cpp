#include "sim/app/profile/profile_totals.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace strata;
using namespace strata::app;

namespace {

void add_unsupported(ProfileTotals& totals, const std::string& reason, double us) {
  ProfiledLaunch launch;
  launch.measured[Quantity::kDurationUs] = us;
  Prediction prediction;
  prediction.reason = reason;
  totals.add(launch, prediction);
}

}  // namespace

TEST_CASE("profile totals: reasons that differ in numbers alone are one line", "[app][profile]") {
  ProfileTotals totals;
  add_unsupported(totals, "layer_norm: a grid of 10 CTAs does not fit 4096x128 rows", 1);
  add_unsupported(totals, "layer_norm: a grid of 12 CTAs does not fit 4096x64x2 rows", 2);
  add_unsupported(totals, "kernel 'sgemm_64x32' is not modelled", 3);
  add_unsupported(totals, "kernel 'sgemm_64x64' is not modelled", 4);
  const std::string text = totals.text({});
  CHECK_THAT(text, Catch::Contains("2 of them, 3.0 us: layer_norm: a grid of 10 CTAs does not fit 4096x128 rows "
                                   "(numbers differ)\n"));
  CHECK_THAT(text, !Catch::Contains("12 CTAs"));
  CHECK_THAT(text, Catch::Contains("1 of them, 4.0 us: kernel 'sgemm_64x64' is not modelled\n"));
  CHECK_THAT(text, !Catch::Contains("An equivalent"));
  CHECK(totals.json()["unsupported_reasons"].size() == 3);
}

TEST_CASE("profile totals: kernels of Hopper elsewhere come with a word of an equivalent", "[app][profile]") {
  ProfileTotals totals;
  add_unsupported(totals, std::string("nvjet: ") + kNeedsWgmma, 1);
  CHECK_THAT(totals.text({}), Catch::Contains("leave their kernel cells empty"));
}

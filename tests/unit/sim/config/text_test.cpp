#include "sim/config/text.hpp"

#include <rapidcheck.h>

#include <catch2/catch.hpp>

using namespace strata;

TEST_CASE("edit_distance: counts insertions, deletions, substitutions and swaps", "[text]") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("mshr", "mshr") == 0);
  CHECK(edit_distance("way", "ways") == 1);
  CHECK(edit_distance("entires", "entries") == 1);
  CHECK(edit_distance("abc", "") == 3);
}

TEST_CASE("edit_distance: is symmetric, and zero for equal texts alone", "[text][property]") {
  CHECK(rc::check([](const std::string& a, const std::string& b) {
    RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
    RC_ASSERT((edit_distance(a, b) == 0) == (a == b));
  }));
}

TEST_CASE("did_you_mean: offers a name that resembles, and none when nothing does", "[text]") {
  const std::vector<std::string> names = {"l2.ways", "l2.slices", "hbm.trcd_ns"};
  CHECK(did_you_mean("l2.wayz", names) == "; did you mean 'l2.ways'?");
  CHECK(did_you_mean("hbm.t", names) == "; did you mean 'hbm.trcd_ns'?");
  CHECK(did_you_mean("L2.WAYS", names) == "; did you mean 'l2.ways'?");
  const std::vector<std::string> clocks = {"clocks.l2_mhz", "clocks.sm_max_mhz", "clocks.hbm_mhz"};
  CHECK(did_you_mean("clocks.sm_mx", clocks) == "; did you mean 'clocks.sm_max_mhz'?");
  CHECK(did_you_mean("completely different", names).empty());
  CHECK(did_you_mean("x", {}).empty());
  CHECK(did_you_mean(std::string(100'000, 'x'), names).empty());
}

#include "sim/base/counted.hpp"

#include <catch2/catch.hpp>

TEST_CASE("counted: one is singular", "[text]") {
  CHECK(strata::counted(1, "input") == "1 input");
  CHECK(strata::counted(0U, "input") == "0 inputs");
  CHECK(strata::counted(1U, "CTA", "/SM") == "1 CTA/SM");
  CHECK(strata::counted(16U, "CTA", "/SM") == "16 CTAs/SM");
}

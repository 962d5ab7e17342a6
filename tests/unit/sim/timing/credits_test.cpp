#include "sim/timing/credits.hpp"

#include <catch2/catch.hpp>

using strata::Credits;

TEST_CASE("Credits: what is not there cannot be taken, and a refusal changes nothing", "[credits]") {
  Credits c(2);
  CHECK(c.take());
  CHECK_FALSE(c.take(2));
  CHECK(c.available() == 1);
  CHECK(c.take());
  CHECK_FALSE(c.take());
}

TEST_CASE("Credits: a newcomer does not overtake those who wait", "[credits]") {
  Credits c(1);
  REQUIRE(c.take());
  c.wait(7);
  c.wait(8);
  c.give();
  CHECK_FALSE(c.take());
  std::uint32_t id = 0;
  REQUIRE(c.pop_waiter(id));
  CHECK(id == 7);
  REQUIRE(c.pop_waiter(id));
  CHECK(id == 8);
  CHECK_FALSE(c.pop_waiter(id));
  CHECK(c.take());
}

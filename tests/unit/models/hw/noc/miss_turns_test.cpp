#include "models/hw/noc/miss_turns.hpp"

#include <catch2/catch.hpp>

using namespace strata;

TEST_CASE("Misses beyond a CPC's bytes wait for its own, not for another CPC's", "[noc]") {
  MissTurns turns(2, 256);
  CHECK(turns.enter(0, {1, 0, 128}));
  CHECK(turns.enter(0, {2, 0, 128}));
  CHECK_FALSE(turns.enter(0, {3, 0, 128}));
  CHECK_FALSE(turns.enter(0, {4, 0, 128}));
  CHECK(turns.enter(1, {5, 0, 128}));
  MissTurns::Miss next;
  CHECK_FALSE(turns.next(0, next));
  turns.leave(1, 128);
  CHECK_FALSE(turns.next(0, next));
  turns.leave(0, 128);
  REQUIRE(turns.next(0, next));
  CHECK(next.chunk == 3);
  CHECK_FALSE(turns.next(0, next));
  // Who comes later queues behind those who wait.
  turns.leave(0, 128);
  CHECK_FALSE(turns.enter(0, {6, 0, 128}));
  REQUIRE(turns.next(0, next));
  CHECK(next.chunk == 4);
}

TEST_CASE("Without a limit no miss waits", "[noc]") {
  MissTurns turns(1, 0);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    CHECK(turns.enter(0, {i, 0, 1 << 20}));
  }
}

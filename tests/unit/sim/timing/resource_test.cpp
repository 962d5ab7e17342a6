#include "sim/timing/resource.hpp"

#include <rapidcheck.h>

#include <catch2/catch.hpp>

using strata::Resource;
using strata::Tick;

TEST_CASE("Resource: a request waits for the one before it and not a tick longer", "[resource]") {
  Resource port(10, 64);  // 64 bytes per 10 ticks
  CHECK(port.reserve(0, 128) == 20);
  CHECK(port.reserve(5, 64) == 30);
  CHECK(port.reserve(100, 64) == 110);
  CHECK(port.busy() == 40);
}

TEST_CASE("Resource: a saturated unit runs at exactly its rate, whatever the pieces", "[resource][property]") {
  CHECK(rc::check([] {
    const Tick period = *rc::gen::inRange<Tick>(1, 200'000);
    const auto rate = *rc::gen::inRange<std::int64_t>(1, 5'000);
    const auto pieces = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 4'096)));
    Resource unit(period, rate);
    std::int64_t total = 0;
    Tick done = 0;
    for (const int piece : pieces) {
      done = unit.reserve(0, piece);
      total += piece;
    }
    // Fractions carry over: the end is the exact quotient, rounded down once.
    RC_ASSERT(done == total * period / rate);
    RC_ASSERT(unit.busy() == done);
  }));
}

TEST_CASE("Resource: hold takes the unit for a fixed time", "[resource]") {
  Resource unit(1, 1);
  CHECK(unit.hold(3, 7) == 10);
  CHECK(unit.reserve(0, 2) == 12);
  CHECK(unit.busy() == 9);
}

#include "sim/base/time.hpp"

#include <rapidcheck.h>

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using strata::TimeBase;

TEST_CASE("TimeBase: every clock's period is a whole number of ticks", "[time]") {
  const TimeBase t(1755, 1707, 2619);
  CHECK(t.sm * 1755 == t.ticks_per_us);
  CHECK(t.l2 * 1707 == t.ticks_per_us);
  CHECK(t.hbm * 2619 == t.ticks_per_us);
}

TEST_CASE("TimeBase: a second of cycles is a second of ticks for any whole-MHz clocks", "[time][property]") {
  CHECK(rc::check([] {
    const int sm = *rc::gen::inRange(1, 4000);
    const int l2 = *rc::gen::inRange(1, 4000);
    const int hbm = *rc::gen::inRange(1, 4000);
    const TimeBase t(sm, l2, hbm);
    RC_ASSERT(t.sm * sm == t.ticks_per_us);
    RC_ASSERT(t.l2 * l2 == t.ticks_per_us);
    RC_ASSERT(t.hbm * hbm == t.ticks_per_us);
    // Two minutes fit into 63 bits.
    RC_ASSERT(t.ticks_per_us <= INT64_MAX / 120'000'000);
  }));
}

TEST_CASE("TimeBase: nanoseconds round to the nearest tick once", "[time]") {
  const TimeBase t(1000, 1000, 1000);
  CHECK(t.from_ns(1.0) == 1);
  CHECK(t.from_ns(2.4) == 2);
  CHECK(t.from_ns(2.6) == 3);
  CHECK(t.microseconds(t.ticks_per_us) == Approx(1.0));
  CHECK(t.sm_cycles(t.sm * 17) == Approx(17.0));
}

TEST_CASE("TimeBase: clocks outside 1 to 3999 MHz are refused", "[time][error]") {
  CHECK_THROWS_AS(TimeBase(0, 1000, 1000), strata::InputError);
  CHECK_THROWS_AS(TimeBase(1000, 4000, 1000), strata::InputError);
  CHECK_THROWS_AS(TimeBase(1000, 1000, -5), strata::InputError);
}

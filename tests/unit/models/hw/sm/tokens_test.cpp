#include "models/hw/sm/tokens.hpp"

#include <rapidcheck.h>

#include <catch2/catch.hpp>

using namespace strata;

TEST_CASE("Token: a phase completes at its expected arrivals and the rest counts for the next", "[tokens]") {
  Token t;
  t.expected = 3;
  CHECK_FALSE(t.arrive(2));
  CHECK(t.phase == 0);
  CHECK(t.arrive(2));
  CHECK(t.phase == 1);
  CHECK(t.arrived == 1);
  CHECK(t.arrive(5));
  CHECK(t.phase == 3);
  CHECK(t.arrived == 0);
}

TEST_CASE("Token: one that is not in use never completes", "[tokens]") {
  Token t;
  CHECK_FALSE(t.arrive(100));
  CHECK(t.phase == 0);
}

TEST_CASE("Token: phases are arrivals over expected, in whatever pieces they come", "[tokens][property]") {
  CHECK(rc::check([] {
    Token t;
    t.expected = *rc::gen::inRange<std::uint16_t>(1, 300);
    std::uint32_t total = 0;
    for (const std::uint32_t n : *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(0U, 256U))) {
      const std::uint32_t before = t.phase;
      const bool completed = t.arrive(n);
      total += n;
      RC_ASSERT(t.phase == total / t.expected);
      RC_ASSERT(t.arrived == total % t.expected);
      RC_ASSERT(completed == (t.phase > before));
    }
  }));
}

TEST_CASE("Signals survive packing", "[tokens][property]") {
  CHECK(rc::check([] {
    Signal s;
    s.cls = static_cast<TokenClass>(*rc::gen::inRange(1, 7));
    s.slot = *rc::gen::inRange<std::uint8_t>(0, 64);
    s.at = static_cast<SignalAt>(*rc::gen::inRange(0, 3));
    s.arrivals = *rc::gen::arbitrary<std::uint8_t>();
    s.cta_mask = *rc::gen::arbitrary<std::uint16_t>();
    const auto stream = *rc::gen::arbitrary<std::uint16_t>();
    const std::uint64_t p = PackedSignal::pack(s, stream);
    RC_ASSERT(PackedSignal::valid(p));
    RC_ASSERT(PackedSignal::cls(p) == s.cls);
    RC_ASSERT(PackedSignal::slot(p) == s.slot);
    RC_ASSERT(PackedSignal::arrivals(p) == s.arrivals);
    RC_ASSERT(PackedSignal::cta_mask(p) == s.cta_mask);
    RC_ASSERT(PackedSignal::stream(p) == stream);
    RC_ASSERT(PackedSignal::at(p) == s.at);
    const auto reason = *rc::gen::inRange(0U, 15U);
    const std::uint32_t b = SignalEvent::b(p, reason);
    RC_ASSERT(SignalEvent::cls(b) == s.cls);
    RC_ASSERT(SignalEvent::slot(b) == s.slot);
    RC_ASSERT(SignalEvent::arrivals(b) == s.arrivals);
    RC_ASSERT(SignalEvent::reason(b) == reason);
    const auto slot = *rc::gen::inRange(0U, 32U);
    const std::uint32_t a = SignalEvent::a(slot, stream);
    RC_ASSERT(SignalEvent::cta_slot(a) == slot);
    RC_ASSERT(SignalEvent::stream(a) == stream);
  }));
  CHECK_FALSE(PackedSignal::valid(0));
}

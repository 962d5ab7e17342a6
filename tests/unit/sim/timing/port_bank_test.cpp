#include "sim/timing/port_bank.hpp"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <vector>

#include "sim/timing/resource.hpp"

using strata::PortBank;
using strata::Resource;
using strata::Tick;

TEST_CASE("PortBank: each unit has a queue of its own, by hand", "[port_bank]") {
  PortBank ports(3, 10, 64);  // 64 bytes per 10 ticks
  CHECK(ports.reserve(0, 0, ports.work(128)) == 20);
  CHECK(ports.reserve(0, 5, ports.work(64)) == 30);
  CHECK(ports.reserve(2, 5, ports.work(64)) == 15);
  const std::array<std::uint8_t, 4> unit_of{0, 1, 2, 2};
  CHECK(ports.reserve_each(0b1110, unit_of, 5, ports.work(64)) == 35);  // unit 2 twice: 15 + 10 + 10
  CHECK(ports.reserve_each(0b0001, unit_of, 5, ports.work(64)) == 40);
  CHECK(ports.reserve_each(0, unit_of, 7, ports.work(64)) == 7);
  CHECK(ports.busy() == 20 + 10 + 10 + 30 + 10);
  CHECK(ports.size() == 3);
}

TEST_CASE("PortBank: does what as many Resources do", "[port_bank][property]") {
  CHECK(rc::check([] {
    const auto period = *rc::gen::inRange<Tick>(1, 200'000);
    const auto rate = *rc::gen::inRange<std::int64_t>(1, 5'000);
    constexpr std::size_t kUnits = 4;
    PortBank ports(kUnits, period, rate);
    std::vector<Resource> alone(kUnits, Resource(period, rate));
    const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
        rc::gen::tuple(rc::gen::inRange(0, 1 << kUnits), rc::gen::inRange(0, 100'000), rc::gen::inRange(1, 4'096)));
    const std::array<std::uint8_t, kUnits> unit_of{3, 1, 2, 0};
    Tick now = 0;
    Tick busy = 0;
    for (const auto& [mask, gap, amount] : steps) {
      now += gap;
      Tick done = now;
      for (std::size_t i = 0; i < kUnits; ++i) {
        if ((static_cast<unsigned>(mask) >> i & 1U) != 0) {
          done = std::max(done, alone[unit_of[i]].reserve(now, amount));
        }
      }
      RC_ASSERT(ports.reserve_each(static_cast<std::uint32_t>(mask), unit_of, now, ports.work(amount)) == done);
    }
    for (const Resource& r : alone) {
      busy += r.busy();
    }
    RC_ASSERT(ports.busy() == busy);
  }));
}

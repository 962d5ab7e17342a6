/// Parts of sectors that wait in L1 for the others.
#include "models/hw/sm/open_stores.hpp"

#include <catch2/catch.hpp>

using namespace strata;

TEST_CASE("Open stores: later words of a sector leave with the first", "[open_stores]") {
  OpenStores open;
  CHECK(open.add({7, 0b0110}, 10) == 0b0110);
  CHECK(open.add({7, 0b0110}, 14) == 0);
  CHECK(open.add({7, 0b1100}, 18) == 0b1000);  // another sector of the line
  CHECK(open.add({8, 0b0001}, 22) == 0b0001);
  CHECK(open.add({7, 0b1000}, 26) == 0);
}

TEST_CASE("Open stores: a load that misses sends them off once it goes out", "[open_stores]") {
  OpenStores open;
  open.miss(5);  // nothing was open yet
  CHECK(open.add({7, 0b1111}, 10) == 0b1111);
  open.miss(20);
  CHECK(open.add({7, 0b1111}, 15) == 0);
  CHECK(open.add({7, 0b1111}, 20) == 0b1111);
  CHECK(open.add({7, 0b1111}, 25) == 0);
}

TEST_CASE("Open stores: the oldest of too many lines leaves", "[open_stores]") {
  OpenStores open;
  for (std::uint32_t line = 0; line <= OpenStores::kLines; ++line) {
    CHECK(open.add({line, 1}, line) == 1);
  }
  CHECK(open.add({OpenStores::kLines, 1}, 100) == 0);
  CHECK(open.add({0, 1}, 100) == 1);
}

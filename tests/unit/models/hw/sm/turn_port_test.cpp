/// Ports that the CTAs of an SM share.
#include "models/hw/sm/turn_port.hpp"

#include <catch2/catch.hpp>

using namespace strata;

TEST_CASE("Turns: the oldest goes before what waits, and pushes it back", "[turns]") {
  TurnPort port(10, 1);
  CHECK(port.reserve(0, 64, Turn::kInOrder) == 640);
  CHECK(port.reserve(0, 64, Turn::kInOrder) == 1280);
  CHECK(port.reserve(100, 10, Turn::kOldestFirst) == 200);  // as if it had the port to itself
  CHECK(port.reserve(150, 1, Turn::kInOrder) == 1390);      // behind all of that work
  CHECK(port.busy() == 1390);
}

TEST_CASE("Turns: the oldest never goes before itself", "[turns]") {
  TurnPort port(10, 1);
  CHECK(port.reserve(0, 20, Turn::kOldest) == 200);
  CHECK(port.reserve(0, 20, Turn::kOldestFirst) == 400);
  CHECK(port.reserve(0, 20, Turn::kOldest) == 600);
  CHECK(port.next_free() == 600);
}

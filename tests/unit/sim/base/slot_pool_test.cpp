#include "sim/base/slot_pool.hpp"

#include <catch2/catch.hpp>

TEST_CASE("SlotPool: a released handle is given out again and keeps its storage", "[slot_pool]") {
  strata::SlotPool<int> pool;
  const auto a = pool.acquire();
  const auto b = pool.acquire();
  CHECK(a != b);
  pool[a] = 1;
  pool[b] = 2;
  CHECK(pool.live() == 2);
  pool.release(a);
  CHECK(pool.live() == 1);
  CHECK(pool.acquire() == a);
  CHECK(pool[b] == 2);
}

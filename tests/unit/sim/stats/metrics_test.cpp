#include "sim/stats/metrics.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>

using namespace strata;

TEST_CASE("Counters: every one has a key, unit and sentence; keys and Nsight Compute names do not repeat", "[stats]") {
  std::set<std::string> keys;
  std::set<std::string> names;
  for (const CounterInfo& info : kCounterInfo) {
    REQUIRE(info.key != nullptr);  // a missing row would be value-initialised
    CHECK(std::string(info.unit) != "");
    CHECK(std::string(info.sentence) != "");
    CHECK(keys.insert(info.key).second);
    if (*info.ncu != '\0') {
      CHECK(names.insert(info.ncu).second);
    }
  }
}

TEST_CASE("Cycle stack: every reason has a key and a sentence", "[stats]") {
  std::set<std::string> keys;
  for (const StackReasonInfo& info : kStackReasonInfo) {
    REQUIRE(info.key != nullptr);
    CHECK(std::string(info.sentence) != "");
    CHECK(keys.insert(info.key).second);
  }
}

TEST_CASE("Counters: add accumulates each counter on its own", "[stats]") {
  Counters c;
  c.add(Counter::kWarpInsts, 3);
  c.add(Counter::kWarpInsts, 4);
  c.add(Counter::kTmaBytes, 5);
  CHECK(c[Counter::kWarpInsts] == 7);
  CHECK(c[Counter::kTmaBytes] == 5);
  CHECK(c[Counter::kTensorInsts] == 0);
}

#include "sim/observe/timeline.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace strata;

TEST_CASE("Observer: without a sink it is off and takes spans without effect", "[observe]") {
  const Observer off;
  CHECK_FALSE(off.on());
  off.span(0, "lane", "name", 0, 1);
  Timeline timeline;
  const Observer on(&timeline);
  CHECK(on.on());
  on.span(0, "lane", "name", 0, 1);
  CHECK(timeline.size() == 1);
}

TEST_CASE("Timeline: is a Chrome trace with a process per SM and a thread per lane", "[observe]") {
  const TimeBase time(1000, 1000, 1000);
  Timeline timeline;
  timeline.on_span({3, "TMA", "load \"A\"", 2000, 2500});
  timeline.on_span({kGpuWide, "HBM", "read", 0, 1000});
  timeline.on_span({3, "tensor", "wgmma", 2500, 4000});
  const auto json = nlohmann::json::parse(timeline.json(time));
  const auto& events = json["traceEvents"];
  REQUIRE(events.size() == 2 + 3 + 3);  // processes, lanes, spans
  CHECK(events[0]["args"]["name"] == "GPU");
  CHECK(events[2]["args"]["name"] == "SM 3");
  const auto& load = events[6];
  CHECK(load["name"] == "load \"A\"");
  CHECK(load["pid"] == 4);
  CHECK(load["ts"] == 2.0);
  CHECK(load["dur"] == 0.5);
}

TEST_CASE("Timeline: the file does not depend on the order in which units report", "[observe]") {
  const TimeBase time(1000, 1000, 1000);
  Timeline a;
  Timeline b;
  const Span first{0, "x", "one", 10, 20};
  const Span second{1, "x", "two", 5, 30};
  a.on_span(first);
  a.on_span(second);
  b.on_span(second);
  b.on_span(first);
  CHECK(a.json(time) == b.json(time));
}

TEST_CASE("Timeline: spans beyond the limit are counted, not kept", "[observe]") {
  Timeline timeline(2);
  for (int i = 0; i < 5; ++i) {
    timeline.on_span({0, "x", "y", i, i + 1});
  }
  CHECK(timeline.size() == 2);
  CHECK(timeline.dropped() == 3);
  CHECK(nlohmann::json::parse(timeline.json(TimeBase(1, 1, 1)))["otherData"]["dropped_spans"] == 3);
}

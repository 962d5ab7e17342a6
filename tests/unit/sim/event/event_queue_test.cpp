#include "sim/event/event_queue.hpp"

#include <rapidcheck.h>

#include <catch2/catch.hpp>
#include <queue>
#include <set>
#include <tuple>

using strata::Event;
using strata::EventQueue;
using strata::Tick;

namespace {

/// The obviously right queue: (tick, posting order).
class Reference {
 public:
  void post(Tick tick, std::uint32_t a) { heap_.emplace(tick, posted_++, a); }
  std::pair<Tick, std::uint32_t> pop() {
    const auto [tick, order, a] = heap_.top();
    heap_.pop();
    return {tick, a};
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }

 private:
  using Item = std::tuple<Tick, std::uint64_t, std::uint32_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> heap_;
  std::uint64_t posted_ = 0;
};

}  // namespace

TEST_CASE("EventQueue: events of one tick leave in posting order", "[event]") {
  EventQueue q(4);
  for (std::uint32_t i = 0; i < 100; ++i) {
    q.post(10, 0, 0, i);
  }
  Event e{};
  for (std::uint32_t i = 0; i < 100; ++i) {
    REQUIRE(q.pop(e));
    CHECK(e.a == i);
    CHECK(q.now() == 10);
  }
  CHECK_FALSE(q.pop(e));
}

TEST_CASE("EventQueue: an event posted for the current tick follows those already waiting for it", "[event]") {
  EventQueue q(8);
  q.post(3, 0, 0, 1);
  q.post(3, 0, 0, 2);
  q.post(5, 0, 0, 4);
  Event e{};
  REQUIRE(q.pop(e));
  q.post(3, 0, 0, 3);
  for (const std::uint32_t expected : {2U, 3U, 4U}) {
    REQUIRE(q.pop(e));
    CHECK(e.a == expected);
  }
}

TEST_CASE("EventQueue: far events keep their order with near ones posted later for the same tick", "[event]") {
  EventQueue q(1);
  q.post(100'000, 0, 0, 1);  // beyond the wheel
  q.post(99'000, 0, 0, 0);
  Event e{};
  REQUIRE(q.pop(e));
  CHECK(e.a == 0);
  q.post(100'000, 0, 0, 2);  // now inside it
  REQUIRE(q.pop(e));
  CHECK(e.a == 1);
  REQUIRE(q.pop(e));
  CHECK(e.a == 2);
}

TEST_CASE("EventQueue: what comes next can be seen when a part of time begins", "[event]") {
  EventQueue q(8);
  for (const Tick tick : {13, 11, 90, 18, 21}) {
    q.post(tick, 0, 0, static_cast<std::uint32_t>(tick));
  }
  const auto next_bucket = [&q] {
    std::set<Tick> ticks;
    q.see_next_bucket([&ticks](const Event& e) { ticks.insert(e.tick); });
    return ticks;
  };
  Event e{};
  REQUIRE(q.pop(e));
  CHECK(q.entered_bucket());
  REQUIRE(q.bucket().size() == 1);
  CHECK(q.bucket()[0].tick == 13);
  CHECK(next_bucket() == std::set<Tick>{18, 21});
  REQUIRE(q.pop(e));
  CHECK_FALSE(q.entered_bucket());
  REQUIRE(q.pop(e));
  CHECK(q.entered_bucket());
  CHECK(next_bucket() == std::set<Tick>{90});
  REQUIRE(q.pop(e));
  REQUIRE(q.pop(e));
  CHECK(e.tick == 90);
  CHECK(next_bucket().empty());
}

TEST_CASE("EventQueue: agrees with a priority queue across wheel wraps, gaps and bucket widths", "[event][property]") {
  CHECK(rc::check([] {
    const Tick bucket = *rc::gen::inRange<Tick>(1, 50);
    EventQueue q(bucket);
    Reference ref;
    std::uint32_t id = 0;
    Event e{};
    const auto steps = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 4), rc::gen::inRange(0, 1'000'000)));
    const auto delay = [&](int shape, int value) -> Tick {
      switch (shape) {
        case 0:
          return value % 3;
        case 1:
          return value % 500;
        case 2:
          return value % 40'000;
        default:
          return static_cast<Tick>(value) * 37;
      }
    };
    const auto pop_both = [&] {
      const auto [tick, a] = ref.pop();
      RC_ASSERT(q.pop(e));
      RC_ASSERT(e.tick == tick);
      RC_ASSERT(e.a == a);
      RC_ASSERT(q.now() == tick);
    };
    for (const auto& [shape, value] : steps) {
      for (int copies = 0; copies <= value % 3; ++copies) {
        const Tick at = q.now() + delay(shape, value / (copies + 1));
        q.post(at, 0, 0, id);
        ref.post(at, id);
        ++id;
      }
      if (value % 2 == 0 && !ref.empty()) {
        pop_both();
      }
    }
    while (!ref.empty()) {
      pop_both();
    }
    RC_ASSERT(!q.pop(e));
    RC_ASSERT(q.processed() == id);
  }));
}

TEST_CASE("EventQueue: a long hold of mixed delays agrees with a priority queue", "[event]") {
  EventQueue q(16);
  Reference ref;
  std::uint64_t state = 12345;
  const auto random = [&state] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return state >> 33;
  };
  std::uint32_t id = 0;
  const auto post = [&] {
    const std::uint64_t r = random();
    const Tick d = r % 10 == 0 ? static_cast<Tick>(random() % 5'000'000) : static_cast<Tick>(random() % 3'000);
    q.post(q.now() + d, 0, 0, id);
    ref.post(q.now() + d, id++);
  };
  for (int i = 0; i < 2'000; ++i) {
    post();
  }
  Event e{};
  bool same = true;
  for (int i = 0; i < 300'000 && same; ++i) {
    const auto [tick, a] = ref.pop();
    same = q.pop(e) && e.tick == tick && e.a == a;
    post();
  }
  CHECK(same);
  CHECK(q.size() == 2'000);
}

TEST_CASE("EventQueue: reset forgets events, time and counts", "[event]") {
  EventQueue q(2);
  q.post(7, 0, 0, 0);
  q.post(1'000'000, 0, 0, 0);
  Event e{};
  REQUIRE(q.pop(e));
  q.reset(3);
  CHECK(q.empty());
  CHECK(q.now() == 0);
  CHECK(q.processed() == 0);
  CHECK_FALSE(q.pop(e));
  q.post(1, 9, 8, 7, 6);
  REQUIRE(q.pop(e));
  CHECK(std::tuple(e.kind, e.unit, e.a, e.b) == std::tuple(9, 8, 7U, 6U));
}

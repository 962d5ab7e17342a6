#include "models/hw/sm/l1_tags.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

using namespace strata;

namespace {

/// One set as a list: lines used again, then lines used once, each most recently used first.
struct NaiveSet {
  struct Line {
    std::uint32_t tag;
    std::uint8_t valid = 0;
    std::uint8_t pending = 0;
    std::uint32_t filler = 0;
  };
  std::vector<Line> lines;
  std::ptrdiff_t reused = 0;

  std::vector<Line>::iterator find(std::uint32_t tag) {
    return std::find_if(lines.begin(), lines.end(), [tag](const Line& l) { return l.tag == tag; });
  }
  void touch(std::vector<Line>::iterator it) {
    if (it - lines.begin() >= reused && ++reused == L1Tags::kWays) reused = 0;
    std::rotate(lines.begin(), it, it + 1);
  }
  bool allocate(std::uint32_t tag) {
    const auto victim = std::find_if(lines.rbegin(), lines.rend(), [](const Line& l) { return l.pending == 0; });
    if (victim == lines.rend()) return false;
    const auto at = std::prev(victim.base());
    if (at - lines.begin() < reused) --reused;
    lines.erase(at);
    lines.insert(lines.begin() + reused, Line{tag});
    return true;
  }
};

}  // namespace

TEST_CASE("L1Tags: replacement, masks and fills agree with a naive list", "[l1_tags][property]") {
  CHECK(rc::check([] {
    constexpr std::uint32_t kSets = 3;
    L1Tags tags(kSets);
    std::vector<NaiveSet> naive(kSets);
    for (NaiveSet& s : naive) {
      for (std::uint32_t w = 0; w < L1Tags::kWays; ++w) s.lines.push_back({1000 + w});
    }
    const int steps = *rc::gen::inRange(1, 400);
    for (int i = 0; i < steps; ++i) {
      const auto set = *rc::gen::inRange<std::uint32_t>(0, kSets);
      const auto tag = *rc::gen::inRange<std::uint32_t>(0, 2 * L1Tags::kWays) * 0x01010101U;
      const auto mask = *rc::gen::inRange<std::uint8_t>(1, 16);
      const auto chunk = *rc::gen::inRange<std::uint32_t>(0, 3);
      NaiveSet& list = naive[set];
      std::uint32_t index = tags.find(set, tag);
      auto line = list.find(tag);
      RC_ASSERT((index != L1Tags::kMiss) == (line != list.lines.end()));
      if (index == L1Tags::kMiss) {
        index = tags.allocate(set, tag);
        RC_ASSERT((index != L1Tags::kMiss) == list.allocate(tag));
        if (index == L1Tags::kMiss) continue;
        RC_ASSERT(tags.find(set, tag) == index);
      } else if (*rc::gen::arbitrary<bool>()) {
        tags.touch(index);
        list.touch(line);
      }
      line = list.find(tag);
      switch (*rc::gen::inRange(0, 3)) {
        case 0:
          tags.set_pending(index, mask, chunk);
          line->pending = static_cast<std::uint8_t>(line->pending | mask);
          line->filler = chunk;
          break;
        case 1: {
          tags.fill(index, chunk, mask);
          const int all = line->filler == chunk ? mask | line->pending : mask;
          line->valid = static_cast<std::uint8_t>(line->valid | all);
          line->pending = static_cast<std::uint8_t>(line->pending & ~all);
          break;
        }
        default:
          tags.add_stored(index, mask);
          line->valid = static_cast<std::uint8_t>(line->valid | (mask & ~line->pending));
      }
      RC_ASSERT(tags.valid(index) == line->valid);
      RC_ASSERT(tags.pending(index) == line->pending);
      RC_ASSERT(line->pending == 0 || tags.filler(index) == line->filler);
    }
  }));
}

TEST_CASE("L1Tags: lines that were used again outlive newer ones until all were", "[l1_tags]") {
  L1Tags tags;
  const auto use = [&tags](std::uint32_t tag) { tags.touch(tags.find(0, tag)); };
  const auto there = [&tags](std::uint32_t tag) { return tags.find(0, tag) != L1Tags::kMiss; };
  for (std::uint32_t tag = 1; tag <= 8; ++tag) tags.allocate(0, tag);
  use(1);
  tags.allocate(0, 9);
  CHECK_FALSE(there(2));
  for (std::uint32_t tag = 3; tag <= 8; ++tag) use(tag);
  tags.allocate(0, 10);
  CHECK_FALSE(there(9));  // the newest, but the only one used once
  use(10);                // now all were: the oldest use counts again
  tags.allocate(0, 11);
  CHECK_FALSE(there(1));
}

TEST_CASE("L1Tags: a line that is being filled is never replaced", "[l1_tags]") {
  L1Tags tags;
  for (std::uint32_t line = 0; line < L1Tags::kWays; ++line) tags.set_pending(tags.allocate(0, line), 0xf, line);
  CHECK(tags.allocate(0, 9) == L1Tags::kMiss);
  tags.fill(tags.find(0, 2), 2, 0xf);
  REQUIRE(tags.allocate(0, 9) != L1Tags::kMiss);
  CHECK(tags.find(0, 2) == L1Tags::kMiss);
  CHECK(tags.find(0, 0) != L1Tags::kMiss);
}

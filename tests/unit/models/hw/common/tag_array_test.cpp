#include "models/hw/common/tag_array.hpp"

#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

using namespace strata;

namespace {

/// One set as a list, most recently used first.
struct NaiveSet {
  struct Line {
    std::uint32_t tag = TagArray::kEmpty;
    std::uint8_t valid = 0;
    std::uint8_t dirty = 0;
    std::uint8_t pending = 0;
    std::uint32_t filler = kNoHandle;
  };
  std::vector<Line> lines;

  Line* find(std::uint32_t tag) {
    const auto it = std::find_if(lines.begin(), lines.end(), [tag](const Line& l) { return l.tag == tag; });
    return it == lines.end() ? nullptr : &*it;
  }
  void touch(std::uint32_t tag) {
    const auto it = std::find_if(lines.begin(), lines.end(), [tag](const Line& l) { return l.tag == tag; });
    std::rotate(lines.begin(), it, it + 1);
  }
  bool allocate(std::uint32_t tag, TagArray::Victim& victim) {
    for (auto it = lines.rbegin(); it != lines.rend(); ++it) {
      if (it->pending != 0) continue;
      victim = TagArray::Victim{it->tag, it->dirty};
      *it = Line{tag, 0, 0, 0, kNoHandle};
      touch(tag);
      return true;
    }
    return false;
  }
};

}  // namespace

TEST_CASE("TagArray: replacement, masks and fills agree with a naive LRU list", "[tags][property]") {
  CHECK(rc::check([] {
    const auto ways = *rc::gen::inRange<std::uint32_t>(1, TagArray::kMaxWays + 1);
    constexpr std::uint32_t kSets = 3;
    const bool wide = *rc::gen::arbitrary<bool>();
    TagArray tags(kSets, ways);
    std::vector<NaiveSet> naive(kSets);
    for (NaiveSet& s : naive) s.lines.resize(ways);
    const int steps = *rc::gen::inRange(1, 400);
    for (int i = 0; i < steps; ++i) {
      const auto set = *rc::gen::inRange<std::uint32_t>(0, kSets);
      // Names that differ in each part of the tag; the upper 8 bits count in the wide form alone.
      const auto number = *rc::gen::inRange<std::uint32_t>(0, 2 * TagArray::kMaxWays);
      const std::uint32_t line = (number & 3U) | (number >> 2 & 3U) << 16 | (wide ? number >> 4 << 24 : 0U);
      const auto mask = *rc::gen::inRange<std::uint8_t>(1, 16);
      std::uint32_t index = tags.find(set, line);
      NaiveSet::Line* expected = naive[set].find(line);
      RC_ASSERT((index != TagArray::kMiss) == (expected != nullptr));
      if (expected == nullptr) {
        TagArray::Victim victim;
        TagArray::Victim wanted;
        index = tags.allocate(set, line, victim);
        RC_ASSERT((index != TagArray::kMiss) == naive[set].allocate(line, wanted));
        RC_ASSERT(victim.tag == wanted.tag);
        RC_ASSERT(victim.dirty == wanted.dirty);
        if (index == TagArray::kMiss) continue;
        expected = naive[set].find(line);
      }
      RC_ASSERT(tags.find(set, line) == index);
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
          tags.touch(index);
          naive[set].touch(line);
          expected = naive[set].find(line);
          break;
        case 1:
          tags.set_dirty(index, mask);
          expected->dirty = mask;
          break;
        case 2:
          tags.set_pending(index, mask, static_cast<std::uint32_t>(i));
          expected->pending = static_cast<std::uint8_t>(expected->pending | mask);
          expected->filler = static_cast<std::uint32_t>(i);
          break;
        default: {
          const bool last = expected->pending != 0 && *rc::gen::arbitrary<bool>();
          tags.fill(index, last ? expected->filler : 1U << 30, mask);
          expected->valid = static_cast<std::uint8_t>(expected->valid | mask | (last ? expected->pending : 0));
          expected->pending = static_cast<std::uint8_t>(last ? 0 : expected->pending & ~mask);
        }
      }
      RC_ASSERT(tags.valid(index) == expected->valid);
      RC_ASSERT(tags.dirty(index) == expected->dirty);
      RC_ASSERT(tags.pending(index) == expected->pending);
    }
  }));
}

TEST_CASE("TagArray: a line that is being filled is never evicted", "[tags]") {
  TagArray tags(1, 4);
  TagArray::Victim victim;
  for (std::uint32_t line = 0; line < 4; ++line) {
    tags.set_pending(tags.allocate(0, line, victim), 0xf, line);
  }
  CHECK(tags.allocate(0, 9, victim) == TagArray::kMiss);
  tags.fill(tags.find(0, 2), 2, 0xf);
  REQUIRE(tags.allocate(0, 9, victim) != TagArray::kMiss);
  CHECK(victim.tag == 2);
  CHECK(tags.find(0, 0) != TagArray::kMiss);
}

TEST_CASE("TagArray: chunks may fill different sectors of a line", "[tags]") {
  TagArray tags(1, 4);
  TagArray::Victim victim;
  const std::uint32_t index = tags.allocate(0, 5, victim);
  tags.set_pending(index, 0x3, 7);
  tags.set_pending(index, 0x8, 9);
  CHECK(tags.pending(index) == 0xb);
  SECTION("the first to ask comes first") {
    tags.fill(index, 7, 0x3);
    CHECK(tags.valid(index) == 0x3);
    CHECK(tags.pending(index) == 0x8);
  }
  SECTION("the last to ask ends all waiting") {
    tags.fill(index, 9, 0x8);
    CHECK(tags.valid(index) == 0xb);
    CHECK(tags.pending(index) == 0);
  }
}

TEST_CASE("TagArray: long tags and short ones with the same lower bits are different lines", "[tags]") {
  TagArray tags(1, 4);
  TagArray::Victim victim;
  const std::uint32_t brief = tags.allocate(0, 5, victim);
  CHECK(tags.find(0, 5 | 1U << 24) == TagArray::kMiss);
  const std::uint32_t extended = tags.allocate(0, 5 | 1U << 24, victim);
  CHECK(tags.find(0, 5) == brief);
  CHECK(tags.find(0, 5 | 1U << 24) == extended);
  CHECK(tags.find(0, 5 | 1U << 25) == TagArray::kMiss);
}

TEST_CASE("TagArray: the name that marks an empty way is never cached", "[tags]") {
  TagArray tags(1, 4);
  TagArray::Victim victim;
  for (const std::uint32_t tag : {0xffffffU, 0x12ffffffU}) {
    CHECK(tags.find(0, tag) == TagArray::kMiss);
    CHECK(tags.allocate(0, tag, victim) == TagArray::kMiss);
  }
}

TEST_CASE("Sectors of a 4-bit mask are counted", "[tags]") {
  for (std::uint32_t mask = 0; mask < 16; ++mask) {
    CHECK(count_sectors(mask) == (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1));
  }
}

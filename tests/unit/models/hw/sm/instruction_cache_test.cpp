/// Instruction fetch by hand: 20 cycles a line from the outer cache and 50 from the L2, so a piece of 64 instructions,
/// eight lines, takes 160 or 400 cycles of ten ticks.
#include "models/hw/sm/instruction_cache.hpp"

#include <catch2/catch.hpp>

using namespace strata;

namespace {

constexpr Tick kCycle = 10;
constexpr std::uint32_t kPiece = 64;  // instructions: 1 KiB
constexpr Tick kOuter = 160 * kCycle;
constexpr Tick kFromL2 = 400 * kCycle;
constexpr std::uint32_t kPlenty = 1 << 20;
const InstructionCacheConfig kConfig{32 * 1024, 20, 128 * 1024, 50};

/// Executes pieces 1 to `kib` in turn; each is fetched once the one before has come. Returns when the last has.
Tick lap(InstructionCache& cache, Tick now, std::uint16_t kib) {
  for (std::uint16_t pc = 1; pc <= kib; ++pc) {
    now = std::max(now, cache.fetch(now, pc, kPiece));
  }
  return now;
}

Tick second_lap(std::uint16_t kib) {
  InstructionCache cache(kConfig, kPlenty, kCycle);
  const Tick first = lap(cache, 0, kib);
  CHECK(first == kib * kOuter);
  return lap(cache, first, kib) - first;
}

}  // namespace

TEST_CASE("Instruction cache: code executed first comes a line at a time, one piece after the other", "[icache]") {
  InstructionCache cache(kConfig, kPlenty, kCycle);
  CHECK(cache.fetch(0, 1, kPiece) == kOuter);
  CHECK(cache.fetch(0, 2, 2 * kPiece) == 3 * kOuter);
  // An instruction is 16 bytes: an eighth of a line.
  CHECK(cache.fetch(10'000, 3, 4) == 10'000 + 10 * kCycle);
}

TEST_CASE("Instruction cache: code that is there is not waited for", "[icache]") {
  InstructionCache cache(kConfig, kPlenty, kCycle);
  CHECK(cache.fetch(0, 1, kPiece) == kOuter);
  CHECK(cache.fetch(5000, 1, kPiece) <= 5000);
  CHECK(cache.fetch(5000, 2, kPiece) == 5000 + kOuter);  // nor does it hold up what is not
}

TEST_CASE("Instruction cache: a loop that fits is fetched once, one that does not in every lap", "[icache]") {
  CHECK(second_lap(1) == 0);
  CHECK(second_lap(32) == 0);
  CHECK(second_lap(33) == 33 * kOuter);
  CHECK(second_lap(128) == 128 * kOuter);
}

TEST_CASE("Instruction cache: beyond the outer cache lines come from the L2", "[icache]") {
  CHECK(second_lap(129) == 129 * kFromL2);
}

TEST_CASE("Instruction cache: streams in step share what one of them fetches", "[icache]") {
  InstructionCache cache(kConfig, kPlenty, kCycle);
  const Tick first = lap(cache, 0, 40);
  Tick leader = first;
  Tick follower = first;
  for (std::uint16_t pc = 1; pc <= 40; ++pc) {
    leader = cache.fetch(leader, pc, kPiece);
    follower = cache.fetch(follower + 3, pc, kPiece);
    CHECK(follower == leader);
  }
  CHECK(leader == first + 40 * kOuter);
}

TEST_CASE("Instruction cache: a piece used between is kept while others are replaced", "[icache]") {
  InstructionCache cache(kConfig, kPlenty, kCycle);
  Tick now = 0;
  for (std::uint16_t pc = 2; pc < 100; ++pc) {
    now = std::max(now, cache.fetch(now, 1, kPiece));
    now = std::max(now, cache.fetch(now, pc, kPiece));
  }
  CHECK(cache.fetch(now, 1, kPiece) <= now);
  CHECK(cache.fetch(now, 2, kPiece) == now + kOuter);
}

TEST_CASE("Instruction cache: no more code comes than the kernel has", "[icache]") {
  InstructionCache cache(kConfig, 1536, kCycle);  // a piece and a half
  CHECK(cache.fetch(0, 1, kPiece) == kOuter);
  CHECK(cache.fetch(0, 2, kPiece) == kOuter + kOuter / 2);
  CHECK(cache.fetch(9000, 3, kPiece) == 9000);
}

TEST_CASE("Instruction cache: an operation too long to be straight code is a loop that fits", "[icache]") {
  InstructionCache cache(kConfig, kPlenty, kCycle);
  CHECK(cache.fetch(0, 1, 4096) == 24 * kOuter);  // 64 KiB of issue slots, 24 KiB of code
  CHECK(cache.fetch(50 * kOuter, 1, 4096) <= 50 * kOuter);
}

#include "models/hw/noc/request_coalescer.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "sim/config/gpu_description.hpp"

using namespace strata;

namespace {

struct Bench {
  GpuConfig config;
  Context context;
  RequestCoalescer coalescer;

  /// SMs 0..7 are of one GPC, 8..15 of the next.
  explicit Bench(const std::vector<std::string>& overrides = {}) : Bench(groups(2, 8), overrides) {}
  Bench(std::vector<std::uint16_t> group_of_sm, const std::vector<std::string>& overrides)
      : config(load_gpu("h100-sxm5-80gb", overrides).config),
        context(make()),
        coalescer(context, std::move(group_of_sm)) {}

  Context make() const {
    Context c;
    c.config = &config;
    c.time = TimeBase(1980, config.clocks.l2_mhz, config.clocks.hbm_mhz);
    return c;
  }
  static std::vector<std::uint16_t> groups(std::uint16_t gpcs, std::size_t sms) {
    std::vector<std::uint16_t> g;
    for (std::uint16_t i = 0; i < gpcs; ++i) g.insert(g.end(), sms, i);
    return g;
  }
  /// True when the chunk shares another one's request.
  bool merges(std::uint32_t chunk) { return coalescer.merge(chunk) != RequestCoalescer::Outcome::kNew; }
  std::uint32_t request(std::uint16_t sm, std::uint32_t line, std::uint8_t mask = 0xf) {
    const std::uint32_t h = context.new_chunk();
    Chunk& c = context.chunks[h];
    c.sm = sm;
    c.count = 2;
    c.pattern.first = line;
    c.pattern.mask = mask;
    c.sectors = static_cast<std::uint16_t>(2 * count_sectors(mask));
    return h;
  }
};

/// Share of the requests that go on when all SMs read one of `sets` sectors of the same lines, in any order.
double going_on(std::uint16_t gpcs, std::uint16_t sms, std::uint16_t sets) {
  constexpr std::uint32_t kLines = 512;
  Bench b(Bench::groups(gpcs, sms), {});
  std::mt19937 random(1);
  std::vector<std::uint16_t> order(std::size_t{gpcs} * sms);
  std::iota(order.begin(), order.end(), std::uint16_t{0});
  std::size_t on = 0;
  for (std::uint32_t line = 0; line < kLines; ++line) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::uint16_t sm : order) {
      on += b.merges(b.request(sm, 2 * line, static_cast<std::uint8_t>(1U << sm % sets))) ? 0 : 1;
    }
  }
  return static_cast<double>(on) / static_cast<double>(kLines * order.size());
}

}  // namespace

TEST_CASE("LRC: a request for other sectors of a line ends the merging of those under way, and opens nothing",
          "[lrc]") {
  Bench b;
  CHECK_FALSE(b.merges(b.request(0, 100, 1)));
  CHECK(b.merges(b.request(1, 100, 1)));
  CHECK_FALSE(b.merges(b.request(2, 100, 2)));  // ends it
  CHECK_FALSE(b.merges(b.request(3, 100, 2)));  // opens
  CHECK(b.merges(b.request(4, 100, 2)));
  CHECK_FALSE(b.merges(b.request(9, 100, 1)));  // of another GPC, which ends it all the same
  CHECK_FALSE(b.merges(b.request(5, 100, 2)));
  CHECK_FALSE(b.merges(b.request(6, 102, 1)));  // another line
  CHECK(b.merges(b.request(6, 100, 2)));
}

TEST_CASE("LRC: sectors of the same lines displace one another as much as measured", "[lrc]") {
  // H200, lrc_lines, cold: 16 SMs of a GPC and all SMs read two or four sets that are sectors of the same lines.
  CHECK(going_on(1, 16, 1) == Approx(0.26).margin(0.02));
  CHECK(going_on(1, 16, 2) == Approx(0.75).margin(0.06));
  CHECK(going_on(1, 16, 4) == Approx(0.91).margin(0.03));
  CHECK(going_on(8, 16, 1) == Approx(0.28).margin(0.03));
  CHECK(going_on(8, 16, 2) == Approx(0.89).margin(0.05));
  CHECK(going_on(8, 16, 4) == Approx(0.96).margin(0.03));
}

TEST_CASE("LRC: at most merge_limit requesters share one request", "[lrc]") {
  for (const int limit : {1, 2, 4}) {
    Bench b({"lrc.merge_limit=" + std::to_string(limit)});
    int sent = 0;
    for (std::uint16_t sm = 0; sm < 8; ++sm) {
      if (!b.merges(b.request(sm, 100))) ++sent;
    }
    CHECK(sent == 8 / limit);
    CHECK(b.context.counters[Counter::kLrcMergedSectors] == static_cast<std::uint64_t>(8 - 8 / limit) * 8);
  }
}

TEST_CASE("LRC: each unit of a side takes a request per cycle, merged or not", "[lrc]") {
  Bench b;  // 40 slices a side
  const auto admitted = [&b](std::uint32_t first, std::uint8_t partition) {
    Chunk& c = b.context.chunks[b.request(0, first)];
    c.count = 16;
    c.partition = partition;
    return b.coalescer.admit(c);
  };
  for (Tick i = 0; i < 10; ++i) CHECK(admitted(100, 0) == i * 16 * b.context.time.l2 / 40);
  CHECK(admitted(100, 1) == 0);
  Bench none({"lrc.present=0"});
  for (int i = 0; i < 3; ++i) CHECK(none.coalescer.admit(none.context.chunks[none.request(0, 100)]) == 0);
}

TEST_CASE("LRC: few units of a side serve rows outside a tensor, a cycle for each row and for each sent on", "[lrc]") {
  // Measured on an H200: 16 of the slices, 2.0 cycles a row of a multicast box, 1.27 of a plain one.
  Bench b;  // 8 units of 40 a side
  const auto admitted = [&b](std::uint16_t rows, std::uint16_t merged) {
    Chunk& c = b.context.chunks[b.request(0, 100)];
    c.count = 10;
    c.oob_sectors = c.oob_rows = static_cast<std::uint16_t>(rows * kSectorsPerLine);
    c.oob_merged = static_cast<std::uint16_t>(merged * kSectorsPerLine);
    return static_cast<double>(b.coalescer.admit(c));
  };
  const auto l2 = static_cast<double>(b.context.time.l2);
  CHECK(admitted(0, 0) == 0);
  // 64 rows of which none merges, and two of the ten lines inside: (128 + 2) / 8 cycles.
  CHECK(admitted(64, 0) == Approx(130.0 / 8 * l2).epsilon(0.001));
  // Three of four merge: 80 instead of 128.
  CHECK(admitted(64, 48) == Approx((130.0 + 82) / 8 * l2).epsilon(0.001));
  // From now on lines inside have their share of these units too.
  CHECK(admitted(0, 0) == Approx((130.0 + 82 + 2) / 8 * l2).epsilon(0.001));
  Bench none({"lrc.outside_units=0"});
  Chunk& c = none.context.chunks[none.request(0, 100)];
  c.oob_rows = 400;
  CHECK(none.coalescer.admit(c) == 0);
}

TEST_CASE("LRC: requests of different GPCs do not merge", "[lrc]") {
  Bench b;
  CHECK_FALSE(b.merges(b.request(0, 100)));
  CHECK_FALSE(b.merges(b.request(8, 100)));
  CHECK(b.merges(b.request(1, 100)));
  CHECK(b.merges(b.request(9, 100)));
}

TEST_CASE("LRC: only requests for the same sectors merge, and atomics never do", "[lrc]") {
  Bench b;
  CHECK_FALSE(b.merges(b.request(0, 100)));
  CHECK_FALSE(b.merges(b.request(1, 101)));
  CHECK_FALSE(b.merges(b.request(1, 100, 0x3)));
  Bench atomics;
  for (const std::uint16_t sm : {std::uint16_t{0}, std::uint16_t{1}}) {
    const std::uint32_t h = atomics.request(sm, 100);
    atomics.context.chunks[h].atomic = true;
    CHECK_FALSE(atomics.merges(h));
  }
}

TEST_CASE("LRC: once the reply has passed, a request goes to the L2 again, and riders are woken", "[lrc]") {
  Bench b;
  const std::uint32_t first = b.request(0, 100);
  CHECK_FALSE(b.merges(first));
  const std::uint32_t rider = b.request(1, 100);
  CHECK(b.merges(rider));
  b.coalescer.release(first);
  REQUIRE(b.coalescer.riders() == std::vector<std::uint32_t>{rider});
  CHECK_FALSE(b.merges(b.request(2, 100)));
}

TEST_CASE("LRC: until a known reply passes, later requests ride on it and are ready with it", "[lrc]") {
  Bench b;
  const std::uint32_t first = b.request(0, 100);
  CHECK_FALSE(b.merges(first));
  b.context.chunks[first].ready = 500;
  b.coalescer.release(first);
  const std::uint32_t rider = b.request(1, 100);
  CHECK(b.coalescer.merge(rider) == RequestCoalescer::Outcome::kReady);
  CHECK(b.context.chunks[rider].ready == 500);
}

TEST_CASE("LRC: a slot that is reused is not taken for the old request", "[lrc]") {
  Bench b;
  const std::uint32_t first = b.request(0, 100);
  CHECK_FALSE(b.merges(first));
  b.context.free_chunk(first);
  CHECK_FALSE(b.merges(b.request(1, 100)));
}

TEST_CASE("LRC: a part without one merges nothing", "[lrc]") {
  Bench b({"lrc.present=0"});
  CHECK_FALSE(b.merges(b.request(0, 100)));
  CHECK_FALSE(b.merges(b.request(1, 100)));
}

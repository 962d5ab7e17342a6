// Bytes are conserved between neighbouring levels.
#include <catch2/catch.hpp>

#include "tests/invariant/hw/runs.hpp"
#include "tests/unit/models/hw/support/script_source.hpp"
#include "workloads/kernels/microbench.hpp"

using namespace strata;
using namespace strata::test;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

/// What holds for every launch. `fan_out`: SMs that each load of an SM is delivered to.
void check_levels(const Result& r, double fan_out) {
  const auto n = [&](Counter c) { return count(r, c); };
  const double reads_at_l2 = n(Counter::kLtsFromSmSectors) - n(Counter::kStoredSectors);
  // Requests that reached L2 and requests that rode on them account for every sector delivered.
  CHECK(n(Counter::kDeliveredSectors) == (reads_at_l2 + n(Counter::kLrcMergedSectors)) * fan_out);
  // What the slices saw beyond the SMs' requests crossed the fabric.
  CHECK(n(Counter::kLtsSectors) - n(Counter::kLtsFromSmSectors) == n(Counter::kLtsFabricSectors));
  CHECK(n(Counter::kLtsReadSectors) + n(Counter::kLtsWriteSectors) == n(Counter::kLtsSectors));
  CHECK(n(Counter::kLtsFromSmHitSectors) <= n(Counter::kLtsFromSmSectors));
  // Only what missed can be read from HBM, and only what was stored can be written to it.
  CHECK(n(Counter::kDramReadSectors) <= n(Counter::kLtsFromSmSectors) - n(Counter::kLtsFromSmHitSectors));
  CHECK(n(Counter::kDramWriteSectors) <= n(Counter::kStoredSectors));
  double stack = 0;
  for (const double part : r.cycle_stack) stack += part;
  CHECK(stack == Approx(r.sm_cycles).epsilon(1e-6));
}

}  // namespace

TEST_CASE("Conservation: a cold read stream", "[invariant][conservation]") {
  StreamConfig c;
  c.bytes = 8 * kMiB;
  const auto source = make_stream(c);
  const Result r = run(h100(), *source);
  check_levels(r, 1);
  const double sectors = source->launch().work.compulsory_read_bytes / 32.0;
  CHECK(count(r, Counter::kDramReadSectors) == sectors);
  CHECK(count(r, Counter::kDeliveredSectors) == sectors);
  CHECK(count(r, Counter::kL1GlobalLoadSectors) == sectors);
  // Half of the lines are homed in the other partition.
  CHECK(count(r, Counter::kLtsFabricSectors) == Approx(sectors / 2).epsilon(0.02));
}

TEST_CASE("Conservation: a stream of two reads and one write", "[invariant][conservation]") {
  StreamConfig c;
  c.bytes = 8 * kMiB;
  c.reads = 2;
  c.writes = 1;
  const auto source = make_stream(c);
  const Result r = run(h100(), *source);
  check_levels(r, 1);
  const double stored = source->launch().work.compulsory_write_bytes / 32.0;
  CHECK(count(r, Counter::kStoredSectors) == stored);
  CHECK(count(r, Counter::kDramReadSectors) == source->launch().work.compulsory_read_bytes / 32.0);
  // A far-homed store is counted at the near slice and at home.
  CHECK(count(r, Counter::kLtsWriteSectors) == Approx(1.5 * stored).epsilon(0.02));
}

TEST_CASE("Conservation: a write stream larger than the L2 reaches HBM but for what stays dirty",
          "[invariant][conservation]") {
  StreamConfig c;
  c.bytes = 64 * kMiB;
  c.reads = 0;
  c.writes = 1;
  const auto source = make_stream(c);
  const Result r = run(h100(), *source);
  check_levels(r, 1);
  const double left = 32.0 * count(r, Counter::kStoredSectors) - r.dram_write_bytes();
  CHECK(left >= 0);
  CHECK(left <= h100().l2.dirty_limit * static_cast<double>(h100().l2.size_bytes) + 1.0);
  CHECK(count(r, Counter::kDramReadSectors) == 0);
}

TEST_CASE("Conservation: data that fits is read from HBM once, whatever the number of passes",
          "[invariant][conservation]") {
  StreamConfig c;
  c.bytes = 8 * kMiB;
  c.passes = 3;
  c.policy = CachePolicy::kBypassL1;
  const auto source = make_stream(c);
  const Result r = run(h100(), *source);
  check_levels(r, 1);
  CHECK(count(r, Counter::kDramReadSectors) == source->launch().work.compulsory_read_bytes / 32.0);
  CHECK(count(r, Counter::kDeliveredSectors) == 3.0 * source->launch().work.compulsory_read_bytes / 32.0);
}

TEST_CASE("Conservation: all SMs reading the same tiles merge at the coalescer", "[invariant][conservation][lrc]") {
  Launch l = plain_launch(132, 1);
  l.mbarrier_arrivals[0] = 1;
  const ScriptSource source(l, [](const StreamId&) {
    std::vector<Operation> ops;
    for (std::uint32_t i = 0; i < 16; ++i) {
      ops.push_back(tma_load(kBase + i * 8192, 64, 128, 128));
      ops.push_back(wait_mbarrier(i + 1));
    }
    return ops;
  });
  const Result r = run(h100(), source);
  check_levels(r, 1);
  const double wanted = 132.0 * 16 * 8192 / 32;
  CHECK(count(r, Counter::kDeliveredSectors) == wanted);
  CHECK(count(r, Counter::kSmemFillBytes) == wanted * 32);
  CHECK(count(r, Counter::kDramReadSectors) == 16.0 * 8192 / 32);
  // At most four requesters share one request.
  CHECK(count(r, Counter::kLtsFromSmSectors) >= wanted / 4);
  CHECK(count(r, Counter::kLtsFromSmSectors) < wanted / 2);
}

TEST_CASE("Conservation: a multicast load is requested once and delivered to every CTA of its mask",
          "[invariant][conservation][tma]") {
  Launch l = plain_launch(8, 1);
  l.cluster = Dim3{4, 1, 1};
  l.mbarrier_arrivals[0] = 4;
  const ScriptSource source(l, [](const StreamId& id) {
    std::vector<Operation> ops;
    for (std::uint32_t i = 0; i < 8; ++i) {
      ops.push_back(tma_load(kBase + (id.cta * 8 + i) * 8192, 64, 128, 128, 0xf));
      ops.push_back(wait_mbarrier(i + 1));
    }
    return ops;
  });
  const Result r = run(h100(), source);
  check_levels(r, 4);
  const double asked = 8.0 * 8 * 8192 / 32;
  CHECK(count(r, Counter::kLtsFromSmSectors) == asked);
  CHECK(count(r, Counter::kDeliveredSectors) == 4 * asked);
  CHECK(count(r, Counter::kDramReadSectors) == asked);
}

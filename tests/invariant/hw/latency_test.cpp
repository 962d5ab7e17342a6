// Dependent load chains: cycles per load at every level, averaged over SMs near and far.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>

#include "models/hw/common/address_map.hpp"
#include "sim/topology/sm_layout.hpp"
#include "tests/invariant/hw/runs.hpp"
#include "tests/unit/models/hw/support/script_source.hpp"
#include "workloads/kernels/microbench.hpp"

using namespace strata;
using namespace strata::test;

namespace {

constexpr std::uint64_t kBase = std::uint64_t{1} << 32;

/// SM of each CTA of a launch with one CTA per SM: lone TPCs first, then GPC after GPC.
std::vector<std::uint32_t> sm_of_cta(const GpuConfig& gpu) {
  const std::vector<SmPlace> layout = sm_layout(gpu.topology);
  std::vector<std::uint32_t> order;
  for (std::uint32_t sm = 0; sm < layout.size(); ++sm) order.push_back(sm);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t sm) { return layout[sm].lone_tpc ? -1 : static_cast<int>(layout[sm].gpc); };
    return key(a) < key(b);
  });
  return order;
}

/// Mean cycles per load over SMs: a CTA on each `every`-th SM follows `loads` of its own lines homed in the given
/// partition relative to it (0 near, 1 far, 2 both in turn), after having touched every page.
double active_cycles(const GpuConfig& gpu, std::uint32_t loads, std::uint32_t lines, int side, std::uint32_t every) {
  const AddressMap map(gpu);
  const std::vector<SmPlace> layout = sm_layout(gpu.topology);
  const std::vector<std::uint32_t> order = sm_of_cta(gpu);
  constexpr std::uint64_t kRegion = std::uint64_t{4} << 20;
  std::vector<std::vector<std::uint64_t>> chain(order.size());
  for (std::uint32_t cta = 0; cta < order.size(); cta += every) {
    const auto partition = gpu.topology.gpc_partition[layout[order[cta]].gpc];
    std::uint64_t at = kBase + cta / every * kRegion;
    chain[cta] = {at + 64, at + kRegion / 2 + 64};  // its two pages
    std::uint64_t seed = 12345 + cta;
    std::vector<std::uint64_t> own;
    while (own.size() < lines) {
      seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
      const std::uint64_t address = at + (seed >> 33) % (kRegion / 128) * 128;
      const int far = map.home(static_cast<std::uint32_t>(address / 128)).partition != partition ? 1 : 0;
      const bool wanted = side == 2 ? far == static_cast<int>(own.size() % 2) : far == side;
      if (wanted && std::find(own.begin(), own.end(), address) == own.end()) own.push_back(address);
    }
    for (std::uint32_t i = 0; i < loads; ++i) chain[cta].push_back(own[i % lines]);
  }
  const ScriptSource source(plain_launch(static_cast<std::uint32_t>(order.size())), [&](const StreamId& id) {
    std::vector<Operation> ops;
    std::uint32_t done = 0;
    for (const std::uint64_t address : chain[id.cta]) {
      Operation op = access(MemDir::kLoad, address, 4, 4, 1);
      op.mem.policy = CachePolicy::kBypassL1;
      if (done > 0) op.waits[0] = Wait{TokenClass::kScoreboard, 0, done};
      op.completes[0] = Signal{};
      op.completes[0].cls = TokenClass::kScoreboard;
      ++done;
      ops.push_back(op);
    }
    return ops;
  });
  const auto chains = static_cast<double>((order.size() + every - 1) / every);
  return run(gpu, source).sm_active_cycles_avg * static_cast<double>(order.size()) / chains;
}

/// Cycles per load once every line has been touched.
double hit_cycles(const GpuConfig& gpu, int side) {
  constexpr std::uint32_t kLines = 16;
  return (active_cycles(gpu, 5 * kLines, kLines, side, 1) - active_cycles(gpu, kLines, kLines, side, 1)) / (4 * kLines);
}

}  // namespace

TEST_CASE("Latency: an L1 hit takes 32 cycles", "[invariant][latency][l1]") {
  const auto addresses = strided_addresses(kBase, 4096, 128);
  const double one = run(h100(), *make_load_chain({addresses, 1, CachePolicy::kDefault})).sm_cycles;
  const double three = run(h100(), *make_load_chain({addresses, 5, CachePolicy::kDefault})).sm_cycles;
  CHECK((three - one) / (4.0 * 32.0) == Approx(32).epsilon(0.05));
}

TEST_CASE("Latency: a shared-memory load takes 23 cycles", "[invariant][latency][smem]") {
  const double shorter = run(h100(), *make_shared_chain(100)).sm_cycles;
  const double longer = run(h100(), *make_shared_chain(300)).sm_cycles;
  CHECK((longer - shorter) / 200.0 == Approx(23).epsilon(0.05));
}

TEST_CASE("Latency: a hit in the near L2 partition takes about 262 cycles", "[invariant][latency][l2]") {
  CHECK(hit_cycles(h100(), 0) == Approx(262).epsilon(0.05));
}

TEST_CASE("Latency: a hit in the far L2 partition takes about 414 cycles", "[invariant][latency][l2]") {
  // Without near copies every load crosses.
  CHECK(hit_cycles(h100_with({"l2.near_copy=none"}), 1) == Approx(414).epsilon(0.05));
}

TEST_CASE("Latency: with near copies the second touch of a far line is a near hit", "[invariant][latency][l2]") {
  CHECK(hit_cycles(h100(), 1) == Approx(hit_cycles(h100(), 0)).epsilon(0.01));
}

TEST_CASE("Latency: HBM answers within the published 288 to 353 ns", "[invariant][latency][hbm]") {
  // Lines never touched before, near and far homes in turn, on every eleventh SM.
  constexpr std::uint32_t kFew = 64;
  constexpr std::uint32_t kMany = 320;
  const double cycles =
      (active_cycles(h100(), kMany, kMany, 2, 11) - active_cycles(h100(), kFew, kFew, 2, 11)) / (kMany - kFew);
  const double ns = cycles * 1000.0 / kClockMhz;
  CHECK(ns >= 288 * 0.95);
  CHECK(ns <= 353 * 1.05);
}

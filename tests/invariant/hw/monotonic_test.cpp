// More bandwidth, more SMs or a larger L2 never costs over 1 % on fixed traces.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/invariant/hw/runs.hpp"
#include "tests/unit/models/hw/support/script_source.hpp"
#include "workloads/kernels/microbench.hpp"

using namespace strata;
using namespace strata::test;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

struct Trace {
  std::string name;
  std::unique_ptr<TraceSource> source;
  double cycles = 0;  ///< on the H100 as it is
};

StreamConfig stream(std::uint64_t bytes, std::uint32_t reads, std::uint32_t writes, std::uint32_t passes) {
  StreamConfig c;
  c.bytes = bytes;
  c.reads = reads;
  c.writes = writes;
  c.passes = passes;
  c.policy = CachePolicy::kBypassL1;
  return c;
}

/// Every SM streams its own tiles through a ring of four stages by TMA.
std::unique_ptr<TraceSource> tma_ring() {
  Launch l = plain_launch(132, 1);
  for (std::uint32_t s = 0; s < 4; ++s) l.mbarrier_arrivals[s] = 1;
  return std::make_unique<ScriptSource>(l, [](const StreamId& id) {
    std::vector<Operation> ops;
    for (std::uint32_t i = 0; i < 32; ++i) {
      const auto slot = static_cast<std::uint8_t>(i % 4);
      if (i >= 4) ops.push_back(wait_mbarrier(i / 4, slot));
      ops.push_back(tma_load((std::uint64_t{1} << 32) + (id.cta * 32 + i) * 8192, 64, 128, 128));
      ops.back().completes[0].slot = slot;
    }
    return ops;
  });
}

std::vector<Trace> make_traces() {
  std::vector<Trace> t;
  t.push_back({"read stream", make_stream(stream(8 * kMiB, 1, 0, 1)), 0});
  for (const std::uint64_t mib : {3, 4, 8, 12, 16}) {
    t.push_back({"copy of " + std::to_string(mib) + " MiB", make_stream(stream(mib * kMiB, 1, 1, 1)), 0});
  }
  t.push_back({"L2 reads", make_stream(stream(3 * kMiB, 1, 0, 6)), 0});
  t.push_back({"TMA ring", tma_ring(), 0});
  t.push_back({"load chain",
               make_load_chain({strided_addresses(std::uint64_t{1} << 32, kMiB / 4, 1024), 2, CachePolicy::kBypassL1}),
               0});
  WgmmaStreamConfig w;
  w.n = 64;
  w.ctas = 132;
  w.groups = 64;
  t.push_back({"wgmma", make_wgmma_stream(w), 0});
  BankConflictConfig b;
  b.ways = 4;
  t.push_back({"bank conflicts", make_bank_conflicts(b), 0});
  for (Trace& trace : t) trace.cycles = run(h100(), *trace.source).sm_cycles;
  return t;
}

void check_not_slower(const std::vector<std::string>& overrides) {
  constexpr double kLimit = 1.01;
  const GpuConfig better = h100_with(overrides);
  static const std::vector<Trace> traces = make_traces();
  for (const Trace& t : traces) {
    const double after = run(better, *t.source).sm_cycles;
    std::string change;
    for (const std::string& o : overrides) change += o + " ";
    INFO(t.name << " with " << change);
    CHECK(after <= t.cycles * kLimit);
  }
}

}  // namespace

TEST_CASE("More is not slower: HBM clock", "[invariant][monotonic]") { check_not_slower({"clocks.hbm_mhz=3500"}); }
TEST_CASE("More is not slower: HBM stacks", "[invariant][monotonic]") {
  // More channels need slices to match; a slice keeps its size.
  check_not_slower({"hbm.stacks=6", "l2.slices=96", "l2.size_bytes=60MiB"});
}
TEST_CASE("More is not slower: L2 size", "[invariant][monotonic]") { check_not_slower({"l2.size=100MiB"}); }
TEST_CASE("More is not slower: L2 slice rate", "[invariant][monotonic]") {
  check_not_slower({"l2.slice_bytes_per_cycle=128", "l2.slice_write_bytes_per_cycle=128"});
}
TEST_CASE("More is not slower: fabric", "[invariant][monotonic]") { check_not_slower({"fabric.bytes_per_cycle=4096"}); }
TEST_CASE("More is not slower: GPC ports", "[invariant][monotonic]") {
  check_not_slower({"xbar.gpc_read_bytes_per_cycle=1280", "xbar.gpc_write_bytes_per_cycle=640"});
}
TEST_CASE("More is not slower: SM and TPC ports", "[invariant][monotonic]") {
  check_not_slower(
      {"xbar.sm_read_bytes_per_cycle=214", "xbar.tpc_read_bytes_per_cycle=428", "xbar.sm_write_bytes_per_cycle=64"});
}
TEST_CASE("More is not slower: loads in flight", "[invariant][monotonic]") {
  check_not_slower({"l1.outstanding_sectors=2048", "l1.store_queue_sectors=1024", "tma.outstanding_bytes=131072"});
}
TEST_CASE("More is not slower: shared memory", "[invariant][monotonic]") {
  check_not_slower({"smem.read_bytes_per_cycle=256", "smem.fill_bytes_per_cycle=256"});
}
TEST_CASE("More is not slower: SMs", "[invariant][monotonic]") {
  check_not_slower({"topology.gpc_sms=[18, 18, 18, 18, 18, 18, 18, 18]",
                    "topology.gpc_cluster_sms=[18, 18, 18, 18, 18, 18, 18, 18]"});
}

// barrier.cu, dsmem_atomics.cu, topology.cu, launch.cu: barriers, clusters, launches.
#include <fmt/format.h>

#include <algorithm>

#include "sim/app/microbench/point.hpp"
#include "workloads/kernels/microbench/barriers.hpp"
#include "workloads/kernels/microbench/clusters.hpp"
#include "workloads/kernels/microbench/launches.hpp"

namespace strata::app {

namespace {

using namespace microbench;

Mapping barriers(const char* benchmark, const BarrierConfig& c) {
  return one_trace(
      benchmark, PointKind::kLatency,
      fmt::format("barriers {} {} {} {}", static_cast<int>(c.kind), c.warps, c.cluster, c.count_in_register),
      [c] { return make_barriers(c); }, [c](const MicrobenchRun& run) { return run.slowest_cycles() / c.iterations; });
}

}  // namespace

Mapping map_barrier(const MicrobenchRow& row, const Placement& placement) {
  const auto x = static_cast<std::uint32_t>(row.x);
  BarrierConfig c;
  if (row.series == "syncthreads" || row.series == "named_barrier") {
    c.warps = x / kWarpLanes;
    c.count_in_register = row.series == "named_barrier";
    return barriers("__syncthreads and named barriers by threads", c);
  }
  if (row.series == "mbarrier_arrive_wait_all_threads" || row.series == "mbarrier_arrive_wait_1_thread") {
    c.kind = BarrierKind::kMbarrier;
    c.warps = std::max(1U, x / kWarpLanes);
    return barriers("mbarrier arrive and wait", c);
  }
  if (row.series == "cluster_barrier_relaxed") {
    c.kind = BarrierKind::kCluster;
    c.warps = 4;
    c.cluster = x;
    return barriers("cluster barrier", c);
  }
  if (row.series == "mbarrier_arrive_to_wake") {
    constexpr std::uint32_t kWork = 500;
    constexpr std::uint32_t kIterations = 64;
    return one_trace(
        "mbarrier arrival of another warp", PointKind::kLatency, "mbarrier wake",
        [steps = placement.alu_latency()] { return make_mbarrier_wake(kWork, kIterations, steps); },
        [](const MicrobenchRun& run) { return run.slowest_cycles() / kIterations / 2 - kWork; });
  }
  return not_simulated("fences and single barrier instructions: part of what instructions cost");
}

Mapping map_clusters(const MicrobenchRow& row) {
  std::string name = row.series;
  const auto cluster = static_cast<std::uint32_t>(row.x);
  if (row.bench == "topology") {
    if (name != "dsmem_latency_from_0") return not_simulated("facts about the card, or one pair of SMs of many");
    if (row.value < 100) return not_simulated("an SM's own shared memory through the cluster's window");
    constexpr std::uint32_t kHops = 256;
    return one_trace(
        "latency of another SM's shared memory", PointKind::kLatency, "remote chase",
        [] { return make_remote_chase(kHops); }, [](const MicrobenchRun& run) { return run.slowest_cycles() / kHops; });
  }
  if (!starts_with(name, "dsmem_")) return not_simulated("atomics: the model has their traffic, not their units");
  RemoteReadConfig c;
  c.cluster = cluster;
  c.ctas = name.find("_all") != std::string::npos ? 112 / cluster * cluster : cluster;
  if (const auto bytes = number_after(name, "dsmem_bulk")) {
    constexpr std::uint32_t kMost = 64 * 1024;
    if (*bytes < 16 || *bytes > kMost) return not_simulated("an unknown series");
    c.bytes = *bytes;
    c.operations = 256 * 1024 / *bytes;
    c.bulk = true;
  }
  const double bytes = static_cast<double>(c.bytes) * c.operations;
  return one_trace(
      "bytes per clock from another SM's shared memory", PointKind::kRate,
      fmt::format("remote {} {} {}", c.cluster, c.ctas, c.bytes), [c] { return make_remote_reads(c); },
      [bytes](const MicrobenchRun& run) { return bytes / run.slowest_cycles(); });
}

namespace {

/// Clocks from the end of one CTA to the start of the next on the same SM, the median over all.
double end_to_start(const MicrobenchRun& run) {
  std::vector<double> gaps;
  for (const auto& s : run.stamps) {
    for (std::size_t i = 2; i + 1 < s.size(); i += 2) {
      gaps.push_back(run.time.sm_cycles(s[i].begin - s[i - 1].end));
    }
  }
  if (gaps.empty()) return 0;
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2), gaps.end());
  return gaps[gaps.size() / 2];
}

/// CTAs per clock between the first stamp of the launch and the last one.
double start_rate(const MicrobenchRun& run, std::uint32_t ctas) {
  return ctas / (run.span_ns() * 1e-3 * run.result.sm_clock_mhz);
}

Mapping map_empty(const MicrobenchRow& row) {
  if (row.metric != "sm__cycles_elapsed.max") return not_simulated("a counter that is not compared here");
  const auto threads = number_after(row.series, "empty_").value_or(32);
  const auto ctas = static_cast<std::uint32_t>(row.x);
  return one_trace(
      "empty kernels", PointKind::kLatency, fmt::format("empty {} {}", ctas, threads),
      [=] { return make_empty(ctas, threads); }, [](const MicrobenchRun& run) { return run.result.sm_cycles; });
}

}  // namespace

Mapping map_cta_ends(const MicrobenchRow& row, const Placement& placement) {
  if (row.metric != "sm__cycles_elapsed.max") return not_simulated("a counter that is not compared here");
  const auto x = static_cast<std::uint32_t>(row.x);
  const auto elapsed = [](const MicrobenchRun& run) { return run.result.sm_cycles; };
  const bool apart = row.series == "wait_apart";  // as many CTAs of 128 threads as are resident at once
  if (const auto threads = apart ? std::optional{128U} : number_after(row.series, "wait_")) {
    constexpr std::uint32_t kClocks = 4000;
    const std::uint32_t ctas = apart ? 16 * placement.num_sms() : x;
    const std::uint32_t step = apart ? x : 0;
    return one_trace(
        "CTAs that end together or apart", PointKind::kLatency, fmt::format("waits {} {} {}", ctas, *threads, step),
        [=, alu = placement.alu_latency()] { return make_waits(ctas, *threads, kClocks, step, alu); }, elapsed);
  }
  const auto inputs = number_after(row.series, "inputs_");
  if (!inputs || *inputs > 2) return not_simulated("an unknown series");
  return one_trace(
      "kernels of many short CTAs", PointKind::kLatency, fmt::format("short CTAs {} {}", *inputs, x),
      [=] { return make_short_ctas(*inputs, std::uint64_t{x} << 10); }, elapsed);
}

Mapping map_launch(const MicrobenchRow& row, const Placement& placement) {
  if (!row.metric.empty()) return map_empty(row);
  std::string name = row.series;
  CtaConfig c;
  c.alu_latency = placement.alu_latency();
  c.threads = static_cast<std::uint32_t>(row.x);
  constexpr std::uint32_t kWork = 8000;
  if (const auto kib = number_after(name, "quiet_gap_smem")) {
    constexpr std::uint32_t kMostKib = 1024;
    if (*kib > kMostKib) return not_simulated("an unknown series");
    c.ctas = placement.num_sms() * 8;
    c.smem_bytes = *kib * 1024;
    c.work = kWork;
    c.store_last = false;
    return one_trace(
        "from one CTA to the next on its SM", PointKind::kLatency, fmt::format("quiet {} {}", *kib, row.x),
        [c] { return make_ctas(c); }, end_to_start);
  }
  const bool gap = take_suffix(name, "_end_to_next_start");
  if (!gap && !take_suffix(name, "_rate"))
    return not_simulated("the same launch seen by another clock, or by the host");
  if (take_prefix(name, "cluster")) {
    c.cluster = number_after(name, "").value_or(0);
    if (c.cluster == 0) return not_simulated("an unknown series");
    name.erase(0, name.find('_') + 1);
  }
  if (name == "tiny_10k" || name == "tiny") {
    if (gap) return not_simulated("several CTAs on an SM at once have no gap");
    c.ctas = 10560;
  } else if (starts_with(name, "one_per_sm")) {
    const bool is_long = name == "one_per_sm_long";
    c.ctas = is_long ? placement.num_sms() * 8 : c.cluster > 1 ? 2640 : 10560;
    c.smem_bytes = kWholeSmBytes;
    c.work = is_long ? kWork : 0;
    if (is_long && !gap) return not_simulated("the work's own length");
  } else {
    return not_simulated("CTAs that overlap on an SM, or a single wave");
  }
  const std::string key = fmt::format("ctas {} {} {}", name, c.cluster, row.x);
  if (gap) {
    return one_trace(
        "from one CTA to the next on its SM", PointKind::kLatency, key, [c] { return make_ctas(c); }, end_to_start);
  }
  return one_trace(
      "rate of starting CTAs", PointKind::kRate, key, [c] { return make_ctas(c); },
      [ctas = c.ctas](const MicrobenchRun& run) { return start_rate(run, ctas); });
}

}  // namespace strata::app

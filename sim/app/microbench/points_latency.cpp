// latency.cu: dependent loads by footprint and pages, shared memory, one bulk copy at a time.
#include <fmt/format.h>

#include "sim/app/microbench/point.hpp"
#include "workloads/kernels/microbench/latency.hpp"

namespace strata::app {

namespace {

using namespace microbench;
constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint32_t kHops = 4096;
constexpr std::uint32_t kCopies = 256;

Mapping chase(const char* benchmark, const PointerChaseConfig& c) {
  return one_trace(
      benchmark, PointKind::kLatency,
      fmt::format("chase {} {} {} {} {} {} {}", c.lines, c.stride, c.jitter, c.passes, c.lag, c.hops, c.through_l1),
      [c] { return make_pointer_chase(c); },
      [c](const MicrobenchRun& run) { return run.slowest_cycles() / static_cast<double>(c.hops); });
}

Mapping copies(const char* benchmark, const CopyChaseConfig& c) {
  return one_trace(
      benchmark, PointKind::kLatency,
      fmt::format("copies {} {} {} {} {}", c.rows, c.row_bytes, c.row_pitch, c.step, c.copies),
      [c] { return make_copy_chase(c); }, [c](const MicrobenchRun& run) { return run.slowest_cycles() / c.copies; });
}

Mapping map_copies(const MicrobenchRow& row) {
  const auto bytes = static_cast<std::uint32_t>(row.x);
  CopyChaseConfig c;
  c.copies = kCopies;
  if (starts_with(row.series, "bulk_")) {
    c.row_bytes = bytes;
    c.step = row.series == "bulk_hbm" ? 256 * kKiB + 4096 : 0;
    return copies(c.step > 0 ? "bulk copy latency, HBM" : "bulk copy latency, L2 hit", c);
  }
  if (!starts_with(row.series, "tile128B_")) return not_simulated("an unknown series");
  const bool cold = row.series == "tile128B_hbm";
  c.row_bytes = kLineBytes;
  c.rows = bytes / kLineBytes;
  c.row_pitch = cold ? 8192 : kLineBytes;
  c.step = cold ? std::uint64_t{c.rows} * 8192 : 0;
  return copies(cold ? "tensor tile latency, HBM" : "tensor tile latency, L2 hit", c);
}

}  // namespace

Mapping map_latency(const MicrobenchRow& row) {
  const auto x = static_cast<std::uint64_t>(row.x);
  PointerChaseConfig c;
  if (row.series == "shared") {
    return one_trace(
        "shared-memory load latency", PointKind::kLatency, "shared chase", [] { return make_shared_chase(kHops); },
        [](const MicrobenchRun& run) { return run.slowest_cycles() / kHops; });
  }
  if (row.series == "load_ca") {
    c.lines = x * kKiB / kLineBytes;
    c.lag = 2 * c.lines;
    c.hops = 2 * kHops;
    c.through_l1 = true;
    return chase("load latency through L1 by footprint", c);
  }
  if (const auto passes = number_after(row.series, "load_cg_after_")) {
    constexpr std::uint32_t kMostPasses = 16;
    if (*passes > kMostPasses) return not_simulated("an unknown series");
    c.lines = x * kKiB / kLineBytes;
    c.passes = x * kKiB > 64 * kMiB ? 0 : *passes;
    c.hops = 4 * kHops;
    return chase("load latency past L1 by footprint", c);
  }
  if (row.series == "page_2mib") {
    c.lines = x * kMiB / (2 * kMiB);
    c.stride = 2 * kMiB;
    c.jitter = true;
    c.lag = 3 * c.lines;
    c.hops = std::max<std::uint64_t>(kHops, c.lines);
    return chase("load latency by pages", c);
  }
  return map_copies(row);
}

}  // namespace strata::app

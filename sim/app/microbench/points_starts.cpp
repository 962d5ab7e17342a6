// cold_start.cu and first_touch.cu: how kernels and streams start.
#include <fmt/format.h>

#include <algorithm>

#include "sim/app/microbench/point.hpp"
#include "workloads/kernels/microbench/hbm_streams.hpp"
#include "workloads/kernels/microbench/launches.hpp"
#include "workloads/kernels/microbench/starts.hpp"

namespace strata::app {

namespace {

using namespace microbench;
constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

/// "read_clean", "copy_resident", "read_dirty", ...
/// The program starts at most two CTAs on each SM.
Mapping start_of_stream(std::string name, std::uint64_t bytes, bool slowest, std::uint32_t sms) {
  HbmStreamConfig c;
  c.bytes = bytes;
  c.pitch = 192 * kMiB;
  c.writes = starts_with(name, "copy_") ? 1 : 0;
  c.ctas = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / (512 * 16 * 4), 1, 2 * sms));
  const bool resident = name.find("_resident") != std::string::npos;
  c.after_flush = name.find("_dirty") != std::string::npos;
  if (resident) {
    c.passes = 2;
    c.warm_bytes = bytes;
  }
  return one_trace(
      resident ? "streams from the L2, from first to last CTA" : "streams from HBM, from first to last CTA",
      PointKind::kCold, fmt::format("start {} {}", name, bytes), [c] { return make_hbm_stream(c); },
      [slowest](const MicrobenchRun& run) { return slowest ? run.slowest_cycles() : run.span_ns(); });
}

Mapping one_sm(const MicrobenchRow& row, std::uint32_t unroll, bool from_l2) {
  OneSmLoadsConfig c;
  c.threads = static_cast<std::uint32_t>(row.x);
  c.unroll = unroll;
  c.resident = from_l2;
  c.bytes = static_cast<std::uint32_t>(from_l2 ? 128 * kKiB : 2 * kMiB);
  c.laps = from_l2 ? 4 : 1;
  const double kib = static_cast<double>(c.bytes) * c.laps / kKiB;
  return one_trace(
      "loads of one SM by threads and loads in flight", PointKind::kRate,
      fmt::format("one sm {} {} {}", c.threads, unroll, from_l2), [c] { return make_one_sm_loads(c); },
      [kib](const MicrobenchRun& run) { return run.slowest_cycles() / kib; });
}

Mapping cycles_of(const char* benchmark, std::string key, std::function<std::unique_ptr<TraceSource>()> make) {
  return one_trace(benchmark, PointKind::kCold, std::move(key), std::move(make),
                   [](const MicrobenchRun& run) { return run.result.sm_cycles; });
}

}  // namespace

Mapping map_cold_start(const MicrobenchRow& row, const Placement& placement) {
  std::string name = row.series;
  if (const auto unroll = number_after(name, "one_sm_unroll")) {
    if (*unroll == 0) return not_simulated("an unknown series");
    if (*unroll > 4) return not_simulated("more than four loads in flight: the compiler keeps four");
    return one_sm(row, *unroll, name.find("_l2_") != std::string::npos);
  }
  if (starts_with(name, "first_load_")) return not_simulated("single first loads (docs/model/tlb.md)");
  const bool slowest = take_suffix(name, "_slowest_cta");
  if (!slowest && !take_suffix(name, "_duration")) return not_simulated("an unknown series");
  if (take_suffix(name, "_warm_code")) return not_simulated("the same as with cold code, within 2 %");
  return start_of_stream(name, static_cast<std::uint64_t>(row.x) * kKiB, slowest, placement.num_sms());
}

Mapping map_first_touch(const MicrobenchRow& row, const Placement& placement) {
  if (row.metric != "sm__cycles_elapsed.max") return not_simulated("a counter that is not compared here");
  const auto x = static_cast<std::uint32_t>(row.x);
  const std::string key = fmt::format("touch {} {}", row.series, x);
  if (row.series == "nothing") return cycles_of("empty kernels", key, [x] { return make_empty(x, 32); });
  if (starts_with(row.series, "code_")) {
    const std::uint32_t ctas = row.series == "code_1_cta" ? 1 : placement.num_sms();
    return cycles_of("straight-line code by size", key, [=] { return make_straight_code(x, ctas); });
  }
  constexpr std::uint64_t kPage = 2 * kMiB;
  FirstTouchConfig c;
  c.words = x;
  c.stride = kPage;
  if (row.series == "pages_in_turn_1_cta" || row.series == "lines_in_turn_1_cta") {
    c.in_turn = true;
    c.stride = row.series == "lines_in_turn_1_cta" ? 4096 : kPage;
  } else if (row.series == "same_pages_all_sms") {
    c.ctas = placement.num_sms();
  } else if (row.series == "own_page_each" || row.series == "own_line_each") {
    c.words = 1;
    c.ctas = x;
    c.per_cta = row.series == "own_page_each" ? kPage : 20480;
  } else if (row.series != "pages_at_once_1_cta") {
    return not_simulated("an unknown series");
  }
  return cycles_of("first touches of lines and pages", key, [c] { return make_first_touch(c); });
}

}  // namespace strata::app

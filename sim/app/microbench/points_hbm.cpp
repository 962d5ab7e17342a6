// hbm.cu and hbm_traffic.cu: GB/s by access pattern, and bytes that really move.
#include <fmt/format.h>

#include <algorithm>

#include "sim/app/microbench/point.hpp"
#include "workloads/kernels/microbench/hbm_streams.hpp"

namespace strata::app {

namespace {

using namespace microbench;
constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
// Longer streams are cut: after a warm-up that fills the L2 and its dirty share, a rate is a steady one.
constexpr std::uint64_t kLongest = 256 * kMiB;  ///< bytes of all arrays timed and warmed
constexpr std::uint64_t kWarm = 80 * kMiB;

std::string key_of(const HbmStreamConfig& c) {
  return fmt::format("hbm {} {} {} {} {} {} {} {} {} {} {}", c.bytes, c.warm_bytes, c.pitch, c.reads, c.writes,
                     c.unroll, c.ctas, c.passes, c.write_sectors, c.after_flush, c.registers);
}

double timed_bytes(const HbmStreamConfig& c) {
  return static_cast<double>(c.bytes * c.passes - c.warm_bytes) * (c.reads + c.writes);
}

/// Streams of `bytes` per array; cut to a steady window where they are long.
Mapping stream(const char* benchmark, HbmStreamConfig c) {
  const std::uint64_t arrays = c.reads + c.writes;
  // What is left dirty in the L2 at the end weighs more the shorter a stream is.
  const bool cut = c.writes > 0 && c.bytes * arrays > kLongest;
  if (c.writes == 0) {
    c.bytes = std::min(c.bytes, kLongest / arrays);
  } else if (cut) {
    const std::uint64_t step = std::uint64_t{8192} * c.ctas * c.unroll;  // of one iteration of the loop
    c.bytes = kLongest / arrays / step * step;
    c.warm_bytes = kWarm / arrays / step * step;
  }
  return one_trace(
      benchmark, PointKind::kRate, key_of(c), [c] { return make_hbm_stream(c); },
      [c, cut](const MicrobenchRun& run) { return timed_bytes(c) / (cut ? run.mean_window_ns() : run.span_ns()); });
}

/// hbm.cu starts two CTAs on each SM.
HbmStreamConfig arrays(std::uint32_t reads, std::uint32_t writes, std::uint64_t bytes, std::uint64_t pad,
                       std::uint32_t sms) {
  HbmStreamConfig c;
  c.bytes = bytes;
  c.pitch = bytes + pad;
  c.reads = reads;
  c.writes = writes;
  c.unroll = hbm_unroll(reads);
  c.ctas = 2 * sms;
  return c;
}

/// "4r1w_pad4352", "1r1w_ctas_per_sm_1".
Mapping mix(std::string name, std::uint32_t sms) {
  constexpr std::uint64_t kArray = 1024 * kMiB;
  if (name.size() < 4 || name[1] != 'r' || name[3] != 'w') return not_simulated("an unknown mix");
  const auto digit = [&](std::size_t i) { return static_cast<std::uint32_t>(name[i] - '0'); };
  HbmStreamConfig c = arrays(digit(0), digit(2), kArray, number_after(name, "_pad").value_or(0), sms);
  constexpr std::uint32_t kMostArrays = 8;
  if (c.reads > kMostArrays || c.writes > kMostArrays || c.reads + c.writes == 0) {
    return not_simulated("an unknown mix");
  }
  if (const auto ctas = number_after(name, "ctas_per_sm_")) {
    constexpr std::uint32_t kMost = 4;  // of 512 threads
    if (*ctas == 0 || *ctas > kMost) return not_simulated("an unknown mix");
    c.ctas = *ctas * sms;
  }
  return stream("HBM read and write mixes", c);
}

Mapping bulk(const char* benchmark, PointKind kind, HbmBulkConfig c, bool duration) {
  c.bytes = std::min({c.bytes, kLongest, c.ctas * 4 * kMiB});
  return one_trace(
      benchmark, kind, fmt::format("bulk {} {} {}", c.bytes, c.ctas, c.after_flush),
      [c] { return make_hbm_bulk_read(c); },
      [c, duration](const MicrobenchRun& run) {
        if (duration) return run.span_ns();
        return static_cast<double>(c.bytes) / run.span_ns();
      });
}

Mapping cold(const MicrobenchRow& row, bool by_bulk, bool duration, std::uint32_t sms) {
  const auto bytes = static_cast<std::uint64_t>(row.x) * kKiB;
  if (by_bulk) return bulk("cold reads", PointKind::kCold, {bytes, sms, true}, duration);
  HbmStreamConfig c = arrays(1, 0, bytes, 0, sms);
  c.ctas = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / (512 * 16 * 4), 1, c.ctas));
  c.after_flush = true;
  return one_trace(
      "cold reads", PointKind::kCold, key_of(c), [c] { return make_hbm_stream(c); },
      [c, duration](const MicrobenchRun& run) { return duration ? run.span_ns() : timed_bytes(c) / run.span_ns(); });
}

Mapping random_rows(const MicrobenchRow& row, std::uint32_t sms) {
  RandomRowsConfig c{static_cast<std::uint32_t>(row.x), 64, 2 * sms, true};
  return one_trace(
      "HBM random rows", PointKind::kRate, fmt::format("random {}", c.row_bytes), [c] { return make_random_rows(c); },
      [c](const MicrobenchRun& run) { return 512.0 * 16 * c.per_thread * c.ctas / run.span_ns(); });
}

Mapping strided(const MicrobenchRow& row, std::uint32_t sms) {
  StridedConfig c;
  c.stride = static_cast<std::uint32_t>(row.x);
  // 8 GiB at most, 4 Mi pieces at most.
  c.count = std::min<std::uint64_t>((std::uint64_t{8} << 30) / c.stride, std::uint64_t{4} << 20);
  c.ctas = 2 * sms;
  c.after_flush = true;
  return one_trace(
      "HBM strided sectors", PointKind::kRate, fmt::format("strided {}", c.stride),
      [c] { return make_strided_reads(c); },
      [c](const MicrobenchRun& run) { return 32.0 * static_cast<double>(c.count) / run.span_ns(); });
}

}  // namespace

Mapping map_hbm(const MicrobenchRow& row, const Placement& placement) {
  std::string name = row.series;
  if (take_suffix(name, "_events")) return not_simulated("timed by the host, launch included");
  const bool duration = take_suffix(name, "_duration");
  const std::uint32_t sms = placement.num_sms();
  const std::uint64_t mib = static_cast<std::uint64_t>(row.x) * kMiB;
  if (name == "cold_read" || name == "cold_read_bulk") return cold(row, name == "cold_read_bulk", duration, sms);
  if (duration) return not_simulated("the same launch as a rate, over fewer bytes in the trace");
  if (name == "read") return stream("HBM streams by size", arrays(1, 0, mib, 0, sms));
  if (name == "write") return stream("HBM streams by size", arrays(0, 1, mib, 0, sms));
  if (name == "copy_1r1w") return stream("HBM streams by size", arrays(1, 1, mib, 0, sms));
  if (name == "triad_2r1w") return stream("HBM streams by size", arrays(2, 1, mib, 0, sms));
  if (name == "read_bulk") return bulk("HBM streams by size", PointKind::kRate, {mib, sms, false}, false);
  if (name == "read_bulk_by_sms") {
    const auto of = static_cast<std::uint32_t>(row.x);
    // Its CTAs wait for one another: with more of them than SMs the launch would never end.
    if (of > sms) return not_simulated("the described GPU has no group of so many SMs");
    return bulk("HBM reads by number of SMs", PointKind::kRate, {of * 16 * kMiB, of, true}, false);
  }
  if (name == "random_rows") return random_rows(row, sms);
  if (name == "stride_32B_of") return strided(row, sms);
  if (take_prefix(name, "mix_")) return mix(name, sms);
  return not_simulated("an unknown series");
}

Mapping map_hbm_traffic(const MicrobenchRow& row, const Placement& placement) {
  const bool reads = row.metric == "dram__bytes_read.sum";
  const bool writes = row.metric == "dram__bytes_write.sum";
  if (!reads && !writes) return not_simulated("a counter that is not compared here");
  constexpr double kFloorBytes = 1e6;
  if (row.value < kFloorBytes) return not_simulated("less than 1 MB moved");
  const auto moved = [reads](const MicrobenchRun& run) {
    return reads ? run.result.dram_read_bytes() : run.result.dram_write_bytes();
  };
  const std::uint64_t mib = static_cast<std::uint64_t>(row.x) * kMiB;
  if (row.series == "stride") {
    StridedConfig c;
    c.stride = static_cast<std::uint32_t>(row.x);
    c.count = std::min<std::uint64_t>((std::uint64_t{2} << 30) / c.stride, std::uint64_t{2} << 20);
    c.ctas = 4 * placement.num_sms();
    return one_trace(
        "bytes from HBM by stride", PointKind::kTraffic, fmt::format("traffic stride {}", c.stride),
        [c] { return make_strided_reads(c); }, moved);
  }
  HbmStreamConfig c = arrays(0, 1, mib, 0, placement.num_sms());
  c.ctas = 4 * placement.num_sms();
  c.registers = 32;
  c.unroll = 4;
  if (row.series == "write_clean" || row.series == "write_sectors_mask") {
    if (row.series == "write_sectors_mask") {
      c.bytes = c.pitch = 256 * kMiB;
      c.write_sectors = static_cast<std::uint8_t>(row.x);
    }
    return one_trace(
        "dirty bytes that leave the L2", PointKind::kTraffic, "traffic " + key_of(c),
        [c] { return make_hbm_stream(c); }, moved);
  }
  const int pass = row.series == "read_first"    ? 1
                   : row.series == "read_second" ? 2
                   : row.series == "read_third"  ? 3
                                                 : 0;
  if (pass == 0) return not_simulated("an unknown series");
  c.reads = 1;
  c.writes = 0;
  MicrobenchPoint p;
  p.benchmark = "bytes from HBM of repeated reads";
  p.kind = PointKind::kTraffic;
  for (int n = pass; n > 0 && n >= pass - 1; --n) {
    HbmStreamConfig with = c;
    with.passes = static_cast<std::uint32_t>(n);
    p.traces.push_back(PointTrace{"traffic " + key_of(with), [with] { return make_hbm_stream(with); }});
  }
  p.value = [moved](std::span<const MicrobenchRun* const> runs) {
    return moved(*runs.front()) - (runs.size() > 1 ? moved(*runs.back()) : 0.0);
  };
  return Mapping{std::move(p), {}};
}

}  // namespace strata::app

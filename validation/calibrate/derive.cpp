#include "validation/calibrate/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include "sim/base/error.hpp"
#include "validation/calibrate/description.hpp"

namespace strata {

namespace {

/// A row by name. `x` < 0: any; then the one with the largest x.
const MicrobenchRow* find_row(const MicrobenchData& data, const std::string& bench, const std::string& series, double x,
                              const std::string& metric = {}) {
  const MicrobenchRow* found = nullptr;
  for (const MicrobenchRow& row : data.rows) {
    if (row.bench == bench && row.series == series && row.metric == metric && (x < 0 || row.x == x) &&
        (found == nullptr || row.x > found->x)) {
      found = &row;
    }
  }
  return found;
}

using Formula = double (*)(double measured, const GpuConfig& gpu);

/// A dependent chain takes one issue cycle more than the latency.
double less_issue(double v, const GpuConfig& /*gpu*/) { return std::round(v) - 1; }
double whole(double v, const GpuConfig& /*gpu*/) { return std::round(v); }
/// Bytes per SM clock to bytes per L2 clock.
double per_l2_clock(double v, const GpuConfig& gpu) {
  return std::round(v * gpu.clocks.sm_max_mhz / gpu.clocks.l2_mhz);
}
double ceiling(double v, const GpuConfig& /*gpu*/) { return std::ceil(v); }
double three_cpcs_per_l2_clock(double v, const GpuConfig& gpu) { return per_l2_clock(3 * std::ceil(v), gpu); }
double hertz_to_mhz(double v, const GpuConfig& /*gpu*/) { return std::round(v / 1e6); }

struct Rule {
  const char* key;
  const char* bench;
  const char* series;
  double x;
  const char* metric;
  Formula formula;
  const char* how;
};

/// A measured number may lead to a value that no description can have.
void set_measured(GpuDescription& d, const Rule& rule, const MicrobenchRow& row, double value,
                  const std::string& source) {
  try {
    set_value(d, rule.key, fmt::format("{:g}", value), "measured", source);
  } catch (const InputError& e) {
    throw InputError(Diagnostic{row.file, row.line, 0, rule.key,
                                fmt::format("{} (from {})", e.diagnostics().front().message, source)});
  }
}

// Bytes of operands of one m64n8k16 bf16 wgmma: A 64 x 16, B 8 x 16, two bytes each.
constexpr double kOperandBytes = 2304;
// Multiply-adds of m16n8k16 over what one sub-partition does in a clock at the peak.
/// Interval of m16n8k16 less the time its multiply-adds take.
double mma_overhead(double v, const GpuConfig& gpu) {
  return std::round((v - 16.0 * 8 * 16 / (gpu.tensor.fma_16bit / 4.0)) * 10) / 10;
}
/// Instructions per cycle to cycles, to a tenth.
double interval(double v, const GpuConfig& /*gpu*/) { return std::round(10 / v) / 10; }
double operand_rate(double v, const GpuConfig& /*gpu*/) { return std::round(kOperandBytes / v / 8) * 8; }
/// One drained group of one m64n64k16 instruction, less its own time of N / 2.
double drained_latency(double v, const GpuConfig& /*gpu*/) { return std::round(v - 32); }
/// 32-way against none: 31 wavefronts more.
double conflict_step(double v, const GpuConfig& gpu) { return std::round((v - 5 - gpu.smem.latency_cycles) / 31); }
double still_dirty(double written, const GpuConfig& gpu) {
  return std::round((268435456.0 - written) / static_cast<double>(gpu.l2.size_bytes) * 1000) / 1000;
}
double per_row(double v, const GpuConfig& /*gpu*/) { return std::round(v / 256 * 100) / 100; }

/// Clocks per instruction of 16 bytes to clocks per 128-byte line, to a tenth.
double per_line(double v, const GpuConfig& /*gpu*/) { return std::round(v * 80) / 10; }

/// Cycles that a further CTA takes to CTAs per cycle, to a thousandth.
double ctas_per_cycle(double v, const GpuConfig& /*gpu*/) { return std::round(1000 / v) / 1000; }
/// Readers of what the other side filled: half of the lines have their home there and cross. Per L2 clock, to 8 bytes.
double half_crosses(double v, const GpuConfig& gpu) { return std::round(per_l2_clock(v / 2, gpu) / 8) * 8; }

constexpr std::array<Rule, 30> kRules{{
    {"clocks.l2_mhz", "hbm_traffic", "stride", 64, "lts__cycles_elapsed.avg.per_second", hertz_to_mhz,
     "L2 cycles per second"},
    {"sm.alu_latency_cycles", "alu", "ffma_latency", 1, "", whole, "dependent FFMA"},
    {"sm.mufu_latency_cycles", "alu", "mufu_ex2_latency", 1, "", whole, "dependent MUFU.EX2"},
    {"icache.line_cycles", "instruction_fetch", "steady_warps_4", 64, "", per_line, "a loop of 64 KiB of code"},
    {"icache.outer_line_cycles", "instruction_fetch", "steady_warps_4", 256, "", per_line, "a loop of 256 KiB of code"},
    {"smem.latency_cycles", "latency", "shared", 4096, "", less_issue, "dependent LDS, less one issue cycle"},
    {"smem.conflict_latency_cycles", "shared_memory", "lds32_latency", 128, "", conflict_step,
     "32-way conflict: 31 wavefronts more"},
    {"smem.dsmem_latency_cycles", "topology", "dsmem_latency_mean", -1, "", less_issue,
     "mean over pairs of SMs, less one issue cycle"},
    {"smem.dsmem_bytes_per_cycle", "dsmem_atomics", "dsmem_load_one_cluster", 2, "", whole, "loads from a neighbour"},
    {"l1.latency_cycles", "latency", "load_ca", 32, "", less_issue, "dependent load that hits, less one issue cycle"},
    {"tma.issue_cycles", "tma", "issue_interval_bulk", 1024, "", whole, "copies that one thread issues back to back"},
    {"tma.row_cycles", "tma", "tile_row_4warps_interval", 16, "", per_row, "tiles of 256 rows of 16 bytes"},
    {"tma.bytes_per_cycle", "l2_bandwidth", "tile_pitch8k_private_sm", 1, "", whole, "one SM, tiles that hit the L2"},
    {"tensor.wgmma_min_cycles", "wgmma", "bf16_rs_4inflight", 8, "", whole, "RS at N = 8"},
    {"tensor.wgmma_operand_bytes_per_cycle", "wgmma", "bf16_ss_2wg", 8, "", operand_rate,
     "2304 operand bytes at N = 8, to 8 bytes"},
    {"tensor.wgmma_latency_cycles", "wgmma", "bf16_ss_drained_n64", 1, "", drained_latency,
     "one instruction, fenced and awaited, less N / 2"},
    {"tensor.mma_sync_latency_cycles", "mma_sync", "bf16_m16n8k16_chains", 1, "", whole, "one chain"},
    {"tensor.wgmma_beside_cycles", "wgmma_overlap", "partner_cvt_bf16x2", 128, "", interval,
     "conversions of another warpgroup while N = 128 runs"},
    {"tensor.wgmma_beside_mufu_cycles", "wgmma_overlap", "partner_mufu", 128, "", interval,
     "exponentials of another warpgroup while N = 128 runs"},
    {"tensor.mma_sync_overhead_cycles", "mma_sync", "bf16_m16n8k16_4chains", 32, "", mma_overhead,
     "interval of 32 warps less the multiply-adds"},
    {"xbar.sm_read_bytes_per_cycle", "l2_bandwidth", "tile_pitch8k_private_sm", 1, "", whole, "one SM"},
    {"xbar.tpc_read_bytes_per_cycle", "l2_bandwidth", "tile_pitch8k_shared_tpc", 2, "", whole, "both SMs of a TPC"},
    {"xbar.gpc_read_bytes_per_cycle", "l2_bandwidth", "median_gpc", -1, "", per_l2_clock,
     "all SMs of the median GPC, in L2 cycles"},
    {"xbar.sm_write_bytes_per_cycle", "l2_bandwidth", "bulk_store_private_sm", 1, "", whole, "one SM, bulk stores"},
    {"xbar.cpc_write_bytes_per_cycle", "l2_bandwidth", "store_private_one_cpc", 6, "", ceiling, "six SMs of one CPC"},
    {"xbar.gpc_write_bytes_per_cycle", "l2_bandwidth", "store_private_one_cpc", 6, "", three_cpcs_per_l2_clock,
     "three CPCs, in L2 cycles"},
    {"fabric.bytes_per_cycle", "l2_fabric", "one_way", -1, "", half_crosses,
     "half of what the two largest groups of either side read, in L2 cycles, to 8 bytes"},
    {"l2.dirty_limit", "hbm_traffic", "write_clean", 256, "dram__bytes_write.sum", still_dirty,
     "what 256 MiB written into a clean L2 leave there"},
    {"launch.ctas_per_cycle", "launch", "empty_slope", -1, "", ctas_per_cycle,
     "cycles a CTA of 32 and 128 threads between the two largest grids of empty kernels"},
    {"tlb.gpc_entries", "latency", "tlb_reach_pages", -1, "", whole, "largest number of pages without the step"},
}};

/// Parameters that a microbenchmark shows but does not decide.
struct Kept {
  const char* key;
  const char* why;
};
constexpr std::array<Kept, 2> kKept{{
    {"l1.outstanding_sectors",
     "no row shows a limit: 64 KiB under way of one SM is as much as the programs ask for (docs/model/l1.md)"},
    {"hbm.trtw_ns",
     "mixes of loads and stores ask for more than kernels do, and it stands between them (docs/model/hbm.md)"},
}};

/// @param like  one of the rows it is made of
void add_row(MicrobenchData& data, const char* bench, const char* series, double value, const MicrobenchRow& like) {
  MicrobenchRow row;
  row.file = like.file;
  row.line = like.line;
  row.bench = bench;
  row.series = series;
  row.value = row.low = row.high = value;
  data.rows.push_back(std::move(row));
}

/// The series that a summary is made of; the series itself where it is none.
std::string_view measured_as(std::string_view series) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kSummaries{
      {{"dsmem_latency_mean", "dsmem_latency_from_N"},
       {"median_gpc", "bulk_private_each_gpc"},
       {"one_way", "after_other_side_sideN, two groups or more,"},
       {"empty_slope", "empty_N_threads, cycles of two grids,"},
       {"tlb_reach_pages", "page_2mib, with a step,"}}};
  const auto* at =
      std::find_if(kSummaries.begin(), kSummaries.end(), [series](const auto& s) { return s.first == series; });
  return at == kSummaries.end() ? series : at->second;
}

/// The rows of a series over x, in order of x.
std::vector<const MicrobenchRow*> rows_by_x(const MicrobenchData& data, const std::string& bench,
                                            const std::string& series, const std::string& metric = {}) {
  std::vector<const MicrobenchRow*> out;
  for (const MicrobenchRow& row : data.rows) {
    if (row.bench == bench && row.series == series && row.metric == metric) out.push_back(&row);
  }
  std::stable_sort(out.begin(), out.end(), [](const auto* a, const auto* b) { return a->x < b->x; });
  return out;
}

/// The mean latency over pairs of SMs.
void add_remote_latency(MicrobenchData& data) {
  constexpr double kRemote = 100;  // an SM's own shared memory through the cluster's window answers in under 40 clocks
  double sum = 0;
  double n = 0;
  MicrobenchRow remote;
  for (const MicrobenchRow& row : data.rows) {
    if (row.bench == "topology" && row.series.rfind("dsmem_latency_from_", 0) == 0 && row.value > kRemote) {
      sum += row.value;
      n += 1;
      remote = row;
    }
  }
  if (n > 0) add_row(data, "topology", "dsmem_latency_mean", sum / n, remote);
}

/// The reach of translations is where the mean of all larger sets exceeds the mean of all smaller ones most. How high
/// the step is does not come from here: sets of few pages lie in few slices, so their latency is a card's own.
void add_reach(MicrobenchData& data) {
  const std::vector<const MicrobenchRow*> pages = rows_by_x(data, "latency", "page_2mib");
  double best = 0;
  double reach = 0;
  const auto mean = [&](std::size_t from, std::size_t to) {
    double total = 0;
    for (std::size_t i = from; i < to; ++i) total += pages[i]->value;
    return total / static_cast<double>(to - from);
  };
  constexpr std::size_t kFew = 3;
  for (std::size_t i = kFew; i + kFew <= pages.size(); ++i) {
    const double step = mean(i, pages.size()) - mean(0, i);
    if (step > best) {
      best = step;
      reach = pages[i - 1]->x / 2;
    }
  }
  constexpr double kNoise = 3;
  if (best > kNoise) add_row(data, "latency", "tlb_reach_pages", reach, *pages.back());
}

/// Cycles that one more CTA adds to an empty kernel: the launch's fixed cost cancels in the difference of two grids.
/// The rate between first and last start is no measure of it, since the model's first CTAs start as fast as hardware's.
void add_empty_slope(MicrobenchData& data) {
  double sum = 0;
  double n = 0;
  MicrobenchRow like;
  for (const char* series : {"empty_32_threads", "empty_128_threads"}) {
    const std::vector<const MicrobenchRow*> rows = rows_by_x(data, "launch", series, "sm__cycles_elapsed.max");
    if (rows.size() < 2) continue;
    const MicrobenchRow& most = *rows.back();
    const MicrobenchRow& fewer = *rows[rows.size() - 2];
    constexpr double kFarApart = 4;  // else the noise of a launch is seen
    if (most.x < kFarApart * fewer.x || most.value <= fewer.value) continue;
    sum += (most.value - fewer.value) / (most.x - fewer.x);
    n += 1;
    like = most;
  }
  if (n > 0) add_row(data, "launch", "empty_slope", sum / n, like);
}

/// What the SMs of a GPC read, of all GPCs the median: on some cards the first one's group holds an SM of another GPC.
void add_median_gpc(MicrobenchData& data) {
  std::vector<const MicrobenchRow*> rows = rows_by_x(data, "l2_bandwidth", "bulk_private_each_gpc");
  if (rows.empty()) return;
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->value < b->value; });
  const MicrobenchRow& middle = *rows[(rows.size() - 1) / 2];
  add_row(data, "l2_bandwidth", "median_gpc", middle.value, middle);
}

/// What the readers of one side get of lines that the other side filled, with so many SMs that the fabric is full.
void add_one_way(MicrobenchData& data) {
  constexpr std::size_t kLargest = 2;
  double sum = 0;
  double n = 0;
  MicrobenchRow like;
  for (const char* series : {"after_other_side_side0", "after_other_side_side1"}) {
    const std::vector<const MicrobenchRow*> rows = rows_by_x(data, "l2_fabric", series);
    if (rows.size() < kLargest) continue;
    for (std::size_t i = rows.size() - kLargest; i < rows.size(); ++i) {
      sum += rows[i]->value;
      n += 1;
      like = *rows[i];
    }
  }
  if (n > 0) add_row(data, "l2_fabric", "one_way", sum / n, like);
}

}  // namespace

Derivation derive_parameters(const MicrobenchData& measured, GpuDescription& d) {
  MicrobenchData data = measured;
  std::erase_if(data.rows, [](const MicrobenchRow& row) { return row.value == 0; });  // nothing was measured
  // The same rows in another order have to give the same text, to the last digit of a sum.
  std::stable_sort(data.rows.begin(), data.rows.end(), [](const MicrobenchRow& a, const MicrobenchRow& b) {
    return std::tie(a.bench, a.series, a.x, a.metric, a.value, a.file, a.line) <
           std::tie(b.bench, b.series, b.x, b.metric, b.value, b.file, b.line);
  });
  add_remote_latency(data);
  add_reach(data);
  add_empty_slope(data);
  add_median_gpc(data);
  add_one_way(data);
  Derivation out;
  for (const Rule& rule : kRules) {
    const MicrobenchRow* row = find_row(data, rule.bench, rule.series, rule.x, rule.metric);
    if (row == nullptr) {
      out.missing.push_back(fmt::format("{}: {} {} was not measured", rule.key, rule.bench, measured_as(rule.series)));
      if (const MicrobenchRow* zero = find_row(measured, rule.bench, rule.series, rule.x, rule.metric)) {
        out.zeros.push_back(Diagnostic{zero->file, zero->line, 0, "value",
                                       fmt::format("0: nothing measured, so {} is kept", rule.key)});
      }
      continue;
    }
    const double before = value_of(d, rule.key);
    const double after = rule.formula(row->value, d.config);
    const std::string source = fmt::format("{} {}: {:.6g}, {}", rule.bench, rule.series, row->value, rule.how);
    set_measured(d, rule, *row, after, source);
    out.values.push_back(DerivedValue{rule.key, before, after, source, row->file, row->line});
  }
  for (const Kept& kept : kKept) {
    out.kept.push_back(fmt::format("{}: {}", kept.key, kept.why));
  }
  return out;
}

std::vector<std::string> unmeasured_keys(const GpuDescription& d) {
  std::vector<std::string> out;
  for (const auto& [key, origin] : d.origins) {
    if (origin.origin == "literature" || origin.origin == "inferred") {
      out.push_back(key);
    }
  }
  return out;
}

}  // namespace strata

// lrc.cu, l2_partition.cu, l2_fabric.cu: merged requests, near copies, the fabric.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/app/microbench/point.hpp"
#include "workloads/kernels/microbench/sides.hpp"

namespace strata::app {

namespace {

using namespace microbench;
constexpr double kSectorBytes = 32;
constexpr const char* kOneSide = "the described GPU has all GPCs on one side of the L2";

/// SMs of a group of lrc.cu: "sm_per_tpc_of_gpc", "gpc", "two_gpcs", ...
std::optional<SmList> lrc_members(const std::string& name, std::uint32_t count, const Placement& placement) {
  if (name == "warm" || name == "sm") return placement.named("sm", 1);
  if (name == "gpc16") return placement.named("gpc", count);
  if (name == "two_gpcs") return placement.named("two_gpcs_heads", count);
  return placement.named(name, count);
}

}  // namespace

Mapping map_lrc(const MicrobenchRow& row, const Placement& placement) {
  std::string name = row.series;
  if (!row.metric.empty() && row.metric != "lts__t_sectors_srcunit_tex.sum") {
    return not_simulated("a counter that is not compared here");
  }
  InStepConfig c;
  c.alu_latency = placement.alu_latency();
  c.bulk = take_prefix(name, "bulk_");
  if (!c.bulk && !take_prefix(name, "ldg_")) return not_simulated("an unknown series");
  const std::size_t cut = name.find("_skew");
  c.skew = number_after(name, "_skew").value_or(0);
  name.resize(std::min(cut, name.size()));
  const std::optional<SmList> sms = lrc_members(name, static_cast<std::uint32_t>(row.x), placement);
  if (!sms || name == "warm") return not_simulated("the warm-up, or a pair of single SMs");
  c.group = placement.group(*sms);
  c.cold = row.bench == "lrc_cold";
  // Launches before left copies on every side that reads.
  std::vector<int> warms(placement.num_sms(), 0);
  std::array<bool, 2> warm{};
  for (const std::uint32_t sm : *sms) {
    warms[sm] = warm[placement.side(sm)] ? 0 : 1;
    warm[placement.side(sm)] = true;
  }
  const int readers = c.cold ? 0 : (warm[0] ? 1 : 0) + (warm[1] ? 1 : 0);
  c.warms = placement.by_cta(warms);
  const std::string key = fmt::format("{} {} {} {} {}", row.bench, name, c.bulk, c.skew, row.x);
  if (row.metric.empty()) {
    return one_trace(
        "reads in step: bytes per clock", PointKind::kRate, key, [c] { return make_in_step(c); },
        [c](const MicrobenchRun& run) { return c.bytes / run.slowest_cycles(); });
  }
  const double warm_sectors = readers * c.bytes / kSectorBytes;
  return one_trace(
      "reads in step: sectors that reach the L2", PointKind::kTraffic, key, [c] { return make_in_step(c); },
      [warm_sectors](const MicrobenchRun& run) {
        return static_cast<double>(run.result.counters[Counter::kLtsFromSmSectors]) - warm_sectors;
      });
}

Mapping map_l2_fabric(const MicrobenchRow& row, const Placement& placement) {
  std::string name = row.series;
  const auto n = static_cast<std::uint32_t>(row.x);
  const bool side1 = take_suffix(name, "_side1");
  const bool side0 = !side1 && take_suffix(name, "_side0");
  if ((!side0 && !side1) || (name != "after_other_side" && name != "again")) {
    return not_simulated("which side a GPC belongs to, fills from memory, and both directions at once");
  }
  constexpr std::uint64_t kChunk = 64 * 1024;
  constexpr std::uint64_t kMost = std::uint64_t{16} << 20;
  std::array<SmList, 2> by_side;  // interleaved over the GPCs, so that no GPC limit binds first
  for (std::size_t i = 0; i < placement.num_sms(); ++i) {
    for (const SmList& gpc : placement.gpcs()) {
      if (i < gpc.size()) by_side[placement.side(gpc[i])].push_back(gpc[i]);
    }
  }
  const std::uint32_t first = placement.side(0);
  const SmList& readers = by_side[side0 ? first : first ^ 1U];
  const SmList& fillers = by_side[side0 ? first ^ 1U : first];
  if (readers.empty() || fillers.empty()) return not_simulated(kOneSide);
  if (n == 0 || n > readers.size()) return not_simulated("the described GPU has no group of so many SMs");
  const std::uint64_t each = std::min<std::uint64_t>(kMost / n, std::uint64_t{2} << 20) / kChunk * kChunk;
  const std::uint64_t chunks = each * n / kChunk;
  std::uint64_t filling = std::min<std::uint64_t>(fillers.size(), chunks);
  while (chunks % filling != 0) --filling;
  FabricReadConfig c;
  SmList taking_part(readers.begin(), readers.begin() + n);
  taking_part.insert(taking_part.end(), fillers.begin(), fillers.begin() + static_cast<std::ptrdiff_t>(filling));
  std::vector<int> fills(placement.num_sms(), -1);
  std::vector<int> reads(placement.num_sms(), -1);
  for (std::uint32_t i = 0; i < n; ++i) reads[readers[i]] = static_cast<int>(i);
  for (std::uint32_t i = 0; i < filling; ++i) fills[fillers[i]] = static_cast<int>(i);
  c.group = placement.group(taking_part);
  c.fills = placement.by_cta(fills);
  c.reads = placement.by_cta(reads);
  c.fill_bytes = static_cast<std::uint32_t>(chunks / filling * kChunk);
  c.read_bytes = static_cast<std::uint32_t>(each);
  c.again = name == "again";
  const double bytes = static_cast<double>(each) * n;
  return one_trace(
      c.again ? "second reads of what the other side filled" : "first reads of what the other side filled",
      PointKind::kRate, fmt::format("fabric {} {}", row.series, row.x), [c] { return make_fabric(c); },
      [bytes, sms = SmList(readers.begin(), readers.begin() + n)](const MicrobenchRun& run) {
        double slowest = 0;
        for (const std::uint32_t sm : sms) slowest = std::max(slowest, run.cycles(sm));
        return bytes / slowest;
      });
}

namespace {

/// Median clocks of the accesses of one turn: from the end of the stamp before each to the begin of the one after.
/// @param skip  stamps of the same SM in earlier turns; @param touch, touches: which touch of each line
double median_access(const MicrobenchRun& run, std::size_t sm, std::size_t skip, std::size_t lines, std::size_t touch,
                     std::size_t touches) {
  std::vector<double> v;
  const auto& s = run.stamps[sm];
  for (std::size_t i = 0; i < lines; ++i) {
    const std::size_t at = skip + i * touches + touch;
    if (at + 1 < s.size()) v.push_back(run.time.sm_cycles(s[at + 1].begin - s[at].end));
  }
  if (v.empty()) return 0;
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

SmList side_members(const Placement& placement, std::uint32_t side) {
  SmList out;
  for (std::uint32_t sm = 0; sm < placement.num_sms(); ++sm) {
    if (placement.side(sm) == side) out.push_back(sm);
  }
  return out;
}

constexpr std::uint32_t kLines = 256;
enum Who : std::uint32_t { kA, kB };

/// The access named: the turn and the touch within it, on SM a (the first of one side) or b (of the other).
struct Access {
  std::vector<TouchConfig::Turn> turns;
  std::size_t turn = 0;
  std::uint32_t touch = 0;
};

std::optional<Access> access_of(const std::string& series, std::uint32_t x) {
  Access a;
  std::string name = series;
  if (name == "same_sm_touch_0" && x >= 1 && x <= 6) {
    a.turns = {{kA, 6, false}};
    a.touch = x - 1;
    return a;
  }
  static constexpr std::array<const char*, 6> kSequence{"a1", "b1", "b2", "b3", "a2", "a3"};
  if (take_prefix(name, "sequence_")) {
    a.turns = {{kA, 1, false}, {kB, 1, false}, {kB, 1, false}, {kB, 1, false}, {kA, 1, false}, {kA, 1, false}};
    const auto* at = std::find_if(kSequence.begin(), kSequence.end(), [&](const char* s) { return name == s; });
    if (at == kSequence.end()) return std::nullopt;
    a.turn = static_cast<std::size_t>(at - kSequence.begin());
    return a;
  }
  static constexpr std::array<const char*, 4> kAfterWrite{"a2", "b2", "a3", "b3"};
  if (take_prefix(name, "write_")) {
    const bool by_b = take_prefix(name, "b_writes_then_");
    if (!by_b && !take_prefix(name, "a_writes_then_")) return std::nullopt;
    a.turns = {{kA, 1, false}, {kB, 1, false}, {by_b ? kB : kA, 1, true}, {kA, 1, false}, {kB, 1, false},
               {kA, 1, false}, {kB, 1, false}};
    const auto* at = std::find_if(kAfterWrite.begin(), kAfterWrite.end(), [&](const char* s) { return name == s; });
    if (at == kAfterWrite.end()) return std::nullopt;
    a.turn = 3 + static_cast<std::size_t>(at - kAfterWrite.begin());
    return a;
  }
  return std::nullopt;
}

}  // namespace

Mapping map_l2_partition(const MicrobenchRow& row, const Placement& placement) {
  const std::optional<Access> access = access_of(row.series, static_cast<std::uint32_t>(row.x));
  if (!access) return not_simulated("single lines and single SMs: the real hash and floor plan are not modelled");
  // Distance differs from SM to SM: the mean over pairs spread over the chip stands for a.
  constexpr std::uint32_t kPairs = 6;
  const SmList a_side = side_members(placement, placement.side(0));
  const SmList b_side = side_members(placement, placement.side(0) ^ 1U);
  if (b_side.empty()) return not_simulated(kOneSide);
  const TouchConfig::Turn turn = access->turns[access->turn];
  // Every turn of an SM leaves one stamp more than it has accesses.
  std::size_t skip = 0;
  for (std::size_t t = 0; t < access->turn; ++t) {
    if (access->turns[t].rank == turn.rank) skip += std::size_t{kLines} * access->turns[t].touches + 1;
  }
  std::string key = "touches";
  for (const auto& t : access->turns) key += fmt::format(" {}{}{}", t.rank, t.touches, t.store);
  MicrobenchPoint p;
  p.benchmark = "single accesses by either side";
  p.kind = PointKind::kLatency;
  std::vector<std::uint32_t> who;
  for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
    const SmList sms{a_side[a_side.size() * pair / kPairs], b_side[b_side.size() * pair / kPairs]};
    who.push_back(sms[turn.rank]);
    TouchConfig c;
    c.group = placement.group(sms);
    c.turns = access->turns;
    c.lines = kLines;
    // Medians of accesses that are far on half of the lines: on just that many, where more than half were measured.
    constexpr std::uint32_t kHalfAndHalf = 32;  // 4 KiB: homes on either side by turns
    if (starts_with(row.series, "write_")) c.stride_lines = kHalfAndHalf;
    p.traces.push_back(PointTrace{fmt::format("{} pair {}", key, pair), [c] { return make_touches(c); }});
  }
  p.value = [=, touch = access->touch](std::span<const MicrobenchRun* const> runs) {
    double sum = 0;
    double slowest = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double median = median_access(*runs[i], who[i], skip, kLines, touch, turn.touches);
      sum += median;
      slowest = std::max(slowest, median);
    }
    // The program takes for b the SM of the other side that is slowest.
    return turn.rank == kB ? slowest : sum / static_cast<double>(runs.size());
  };
  return Mapping{std::move(p), {}};
}

}  // namespace strata::app

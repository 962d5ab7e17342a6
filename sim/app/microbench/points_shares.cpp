// hbm_shares.cu and hbm_load.cu: who gets how much of HBM, and how much by what is under way.
#include <fmt/format.h>

#include <algorithm>

#include "sim/app/microbench/point.hpp"
#include "workloads/kernels/microbench/hbm_load.hpp"
#include "workloads/kernels/microbench/hbm_shares.hpp"

namespace strata::app {

namespace {

using namespace microbench;
constexpr std::uint32_t kChunkKib = 8;

SmList joined(const std::vector<SmList>& cpcs, std::size_t each) {
  SmList out;
  for (const SmList& c : cpcs) {
    out.insert(out.end(), c.begin(), c.begin() + static_cast<std::ptrdiff_t>(std::min(each, c.size())));
  }
  return out;
}

/// SMs of a group as hbm_shares.cu names it; nothing when the name is unknown or this GPU has no such group.
std::optional<SmList> members(const std::string& name, const Placement& placement) {
  const std::vector<SmList> cpcs = placement.cpcs();
  const auto of_size = [&cpcs](std::size_t size) {
    const auto found = std::find_if(cpcs.begin(), cpcs.end(), [size](const SmList& c) { return c.size() == size; });
    return found == cpcs.end() ? std::nullopt : std::optional(*found);
  };
  if (starts_with(name, "all_")) return joined(cpcs, placement.num_sms());
  if (name == "one_sm") return SmList{cpcs[0][0]};
  if (name == "one_tpc") return SmList{cpcs[0][0], cpcs[0][1]};
  if (const auto size = number_after(name, "cpc_of_")) return of_size(*size);
  if (name == "two_cpcs_of_a_gpc") return joined({cpcs[0], cpcs[1]}, placement.num_sms());
  if (name == "gpc") return placement.gpcs()[0];
  if (name == "half_the_cpcs") {
    std::vector<SmList> half;
    for (std::size_t i = 0; i < cpcs.size(); i += 2) half.push_back(cpcs[i]);
    return joined(half, placement.num_sms());
  }
  return std::nullopt;
}

}  // namespace

Mapping map_hbm_shares(const MicrobenchRow& row, const Placement& placement) {
  std::string name = row.series;
  if (name.find("_loads") != std::string::npos)
    return not_simulated("the compiler decides how many loads are under way");
  const bool end = take_suffix(name, "_end");
  if (!end && !take_suffix(name, "_rate")) return not_simulated("single copies, or a spread: a rate says the same");
  HbmSharesConfig c;
  std::uint32_t kib = static_cast<std::uint32_t>(row.x);
  std::optional<SmList> sms;
  if (const std::string head = "of_every_cpc_"; starts_with(name, head)) {
    kib = number_after(name, head).value_or(0);
    sms = joined(placement.cpcs(), static_cast<std::size_t>(row.x));
  } else {
    if (end) {
      const std::size_t cut = name.rfind('_');
      kib = number_after(name, name.substr(0, cut + 1)).value_or(0);
      name.resize(cut);
    }
    sms = members(name, placement);
  }
  constexpr std::uint32_t kMostKib = 224;
  if (!sms || kib < kChunkKib || kib > kMostKib)
    return not_simulated("two GPCs of a pair: which sides they are on is the card's own");
  c.group = placement.group(*sms);
  c.stages = kib / kChunkKib;
  c.in_turn = name == "all_in_turn";
  const std::string key = fmt::format("{} {} {}", name, kib, sms->size());
  if (end && row.sm_clock_mhz == 0) return not_simulated("its SM clock is unknown");
  if (!end) {
    const double bytes = static_cast<double>(c.bytes_each) * static_cast<double>(sms->size());
    return one_trace(
        "shares of HBM: rate of the group", PointKind::kRate, key, [c] { return make_hbm_shares(c); },
        [bytes](const MicrobenchRun& run) { return bytes / run.span_ns(); });
  }
  SmList counted;
  for (const SmList& cpc : placement.cpcs()) {
    if (cpc.size() == static_cast<std::size_t>(row.x)) counted.insert(counted.end(), cpc.begin(), cpc.end());
  }
  if (counted.empty()) return not_simulated("this GPU has no CPC of that size");
  return one_trace(
      "shares of HBM: ends by size of the CPC", PointKind::kRate, key, [c] { return make_hbm_shares(c); },
      [counted, mhz = row.sm_clock_mhz](const MicrobenchRun& run) {
        double sum = 0;
        for (const std::uint32_t sm : counted) sum += run.cycles(sm);
        return sum / static_cast<double>(counted.size()) * 1000 / mhz;
      });
}

Mapping map_hbm_load(const MicrobenchRow& row, const Placement& placement) {
  std::string name = row.series;
  if (starts_with(name, "alone_")) return not_simulated("one line alone: when it is refreshed (docs/model/hbm.md)");
  if (!take_suffix(name, "_rate"))
    return not_simulated("spreads of single lines and boxes beside others: a rate says the same");
  HbmLoadConfig c;
  c.row_bytes = number_after(name, "rows_of_").value_or(0);
  const std::string head = fmt::format("rows_of_{}B_", c.row_bytes);
  c.ctas = starts_with(name, head) ? number_after(name, head).value_or(0) : 0;
  c.stages = static_cast<std::uint32_t>(row.x) / (kLoadBoxBytes / 1024);
  if (c.row_bytes != 128 && c.row_bytes != 256 && c.row_bytes != 512) return not_simulated("an unknown series");
  if (c.ctas == 0 || c.ctas > placement.num_sms()) return not_simulated("this GPU has not so many SMs");
  return one_trace(
      "reads of HBM by what is under way", PointKind::kRate,
      fmt::format("load {} {} {}", c.ctas, c.row_bytes, c.stages), [c] { return make_hbm_load(c); },
      [](const MicrobenchRun& run) {
        constexpr double kStampedBytes = double{kLoadBoxes} / 2 * kLoadBoxBytes;
        double rate = 0;
        for (std::size_t sm = 0; sm < run.stamps.size(); ++sm) {
          if (const double cycles = run.cycles(sm); cycles > 0) rate += kStampedBytes / cycles;
        }
        return rate;
      });
}

}  // namespace strata::app

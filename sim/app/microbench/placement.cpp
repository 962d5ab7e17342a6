#include "sim/app/microbench/placement.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "sim/app/microbench/run.hpp"
#include "sim/base/error.hpp"

namespace strata::app {

Placement::Placement(const GpuConfig& gpu)
    : alu_latency_(static_cast<std::uint32_t>(gpu.sm.alu_latency_cycles)), layout_(sm_layout(gpu.topology)) {
  gpcs_.resize(gpu.topology.gpc_sms.size());
  for (const bool lone : {false, true}) {
    for (std::uint32_t sm = 0; sm < num_sms(); ++sm) {
      if (layout_[sm].lone_tpc == lone) {
        gpcs_[layout_[sm].gpc].push_back(sm);
      }
    }
  }
  for (const SmPlace& place : layout_) {
    side_.push_back(static_cast<std::uint32_t>(gpu.topology.gpc_partition[place.gpc]));
  }
  const MicrobenchRun probe = run_microbench(gpu, *microbench::make_placement_probe(num_sms()), gpu.clocks.sm_max_mhz);
  double least = probe.cycles(0);
  for (std::uint32_t sm = 0; sm < num_sms(); ++sm) {
    least = std::min(least, probe.cycles(sm));
  }
  const double step = static_cast<double>(microbench::kProbeSteps) * alu_latency_;
  std::vector<bool> seen(num_sms(), false);
  for (std::uint32_t sm = 0; sm < num_sms(); ++sm) {
    const auto cta = static_cast<std::uint32_t>(std::lround((probe.cycles(sm) - least) / step));
    if (cta >= num_sms() || seen[cta]) {
      throw ModelBug("microbench: the placement probe did not find one CTA on every SM");
    }
    seen[cta] = true;
    cta_of_sm_.push_back(cta);
  }
}

std::vector<SmList> Placement::by_cpc(const SmList& sms) const {
  std::map<std::uint16_t, SmList> lists;
  for (const std::uint32_t sm : sms) {
    lists[layout_[sm].cpc].push_back(sm);
  }
  std::vector<SmList> out;
  for (auto& [cpc, list] : lists) {
    out.push_back(std::move(list));
  }
  return out;
}

std::vector<SmList> Placement::cpcs() const {
  SmList all(num_sms());
  std::iota(all.begin(), all.end(), 0U);
  return by_cpc(all);
}

microbench::Group Placement::group(const SmList& sms) const {
  microbench::Group g;
  g.rank.assign(num_sms(), -1);
  for (std::size_t i = 0; i < sms.size(); ++i) {
    g.rank[cta_of_sm_[sms[i]]] = static_cast<int>(i);
  }
  g.active = static_cast<std::uint32_t>(sms.size());
  return g;
}

SmList Placement::first_of(const SmList& from, std::size_t count, std::size_t step) const {
  SmList out;
  for (std::size_t i = 0; i < from.size() && out.size() < count; i += step) {
    out.push_back(from[i]);
  }
  return out;
}

SmList Placement::of_side(std::uint32_t side) const {
  SmList out;
  for (std::size_t g = 0; g < gpcs_.size(); ++g) {
    if (side_[gpcs_[g].front()] == side) {
      out.insert(out.end(), gpcs_[g].begin(), gpcs_[g].end());
    }
  }
  return out;
}

SmList Placement::of_cpcs(std::size_t cpcs, std::size_t each) const {
  const auto largest = std::max_element(gpcs_.begin(), gpcs_.end(),
                                        [](const SmList& a, const SmList& b) { return a.size() < b.size(); });
  SmList out;
  for (const SmList& sms : by_cpc(*largest)) {
    if (cpcs > 0 && sms.size() >= each) {
      out.insert(out.end(), sms.begin(), sms.begin() + static_cast<std::ptrdiff_t>(each));
      --cpcs;
    }
  }
  return out;
}

std::optional<SmList> Placement::named(const std::string& name, std::uint32_t count) const {
  const SmList& g0 = gpcs_.front();
  SmList all(num_sms());
  std::iota(all.begin(), all.end(), 0U);
  const auto exactly = [count](SmList sms) {
    return sms.size() == count ? std::optional(std::move(sms)) : std::nullopt;
  };
  const auto of_each_gpc = [this](std::size_t n) {
    SmList out;
    for (const SmList& g : gpcs_) {
      const SmList some = first_of(g, n);
      out.insert(out.end(), some.begin(), some.end());
    }
    return out;
  };
  if (name == "sm" || name == "tpc" || name == "gpc") {
    return exactly(first_of(g0, count));
  }
  if (name == "two_tpcs_of_gpc" || name == "sm_per_tpc_of_gpc") {
    return exactly(first_of(g0, count, 2));
  }
  if (name == "two_sms_of_two_gpcs" || name == "two_gpcs_heads") {
    return exactly({gpcs_[0].front(), gpcs_[1 % gpcs_.size()].front()});
  }
  if (name == "sm_per_gpc") {
    return exactly(first_of(of_each_gpc(1), count));
  }
  if (name == "tpc_per_gpc") {
    return exactly(of_each_gpc(2));
  }
  if (name == "two_gpcs" && gpcs_.size() > 1) {
    SmList both = g0;
    both.insert(both.end(), gpcs_[1].begin(), gpcs_[1].end());
    return exactly(std::move(both));
  }
  if (name == "sm_per_tpc") {
    return exactly(first_of(all, all.size(), 2));
  }
  if (name == "all") {
    return exactly(std::move(all));
  }
  if (name == "in_gpc") {
    return exactly(first_of(*std::max_element(gpcs_.begin(), gpcs_.end(),
                                              [](const SmList& a, const SmList& b) { return a.size() < b.size(); }),
                            count));
  }
  if (name == "one_cpc") {
    return exactly(of_cpcs(1, 6));
  }
  if (name == "three_cpcs") {
    return exactly(of_cpcs(3, 2));
  }
  if (name == "side0" || name == "side1") {
    return exactly(of_side(name == "side0" ? side_[0] : side_[0] ^ 1U));
  }
  if (name == "each_gpc" && count < gpcs_.size()) {
    return gpcs_[count];
  }
  if (name == "spread" && count > 0 && count <= num_sms()) {
    SmList out;
    for (std::uint64_t i = 0; i < count; ++i) {
      out.push_back(static_cast<std::uint32_t>(i * num_sms() / count));
    }
    return out;
  }
  return std::nullopt;
}

}  // namespace strata::app

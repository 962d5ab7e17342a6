/// Which CTAs of a launch with one CTA on every SM take part, and their barrier.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workloads/kernels/microbench/program.hpp"

namespace strata::microbench {

/// A chosen set of CTAs, as placement.cuh chooses SMs. The caller knows which CTA lands on which SM.
struct Group {
  std::vector<int> rank;  ///< by CTA; -1 = idle
  std::uint32_t active = 0;

  [[nodiscard]] std::uint32_t ctas() const { return static_cast<std::uint32_t>(rank.size()); }
  [[nodiscard]] std::uint64_t rank_of(const StreamId& id) const { return static_cast<std::uint64_t>(rank[id.cta]); }
};

/// A launch of one CTA per SM for the group. Throws InputError when the group is empty.
[[nodiscard]] Launch group_launch(const char* name, const Group& group, std::uint32_t warps);
[[nodiscard]] Program::Active active_in(const Group& group);
/// Arrives at the n-th barrier (from 1) of the group's CTAs; one stream of a CTA does.
[[nodiscard]] Operation arrive_at_group(Wait wait = {});
[[nodiscard]] Wait group_passed(const Group& group, std::uint32_t n);

/// One CTA on each of `sms` SMs; CTA k takes kProbeSteps * k dependent instructions more between its stamps than CTA 0.
/// Where a CTA landed is read off the time its SM was busy, as a program reads %smid.
[[nodiscard]] std::unique_ptr<TraceSource> make_placement_probe(std::uint32_t sms);
inline constexpr std::uint32_t kProbeSteps = 4;

}  // namespace strata::microbench

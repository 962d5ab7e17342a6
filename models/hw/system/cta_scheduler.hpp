/// Hands CTAs, or whole clusters, to SMs: one per SM and round until every SM is full, then as resources come free.
#pragma once

#include <cstdint>
#include <vector>

#include "models/hw/common/context.hpp"
#include "models/hw/sm/sm.hpp"

namespace strata {

/// Not modelled: priorities, preemption, more than one kernel at a time.
class CtaScheduler {
 public:
  CtaScheduler(Context& context, const Launch& launch, std::vector<Sm>& sms, ClusterTable& clusters);

  /// Fills the empty GPU; the first CTA starts at `start`.
  void start(Tick start);
  /// When a CTA that leaves its SM now has been dealt with: one after the other, those of the whole GPU.
  [[nodiscard]] Tick heard_of_end() { return ends_.reserve(context_.now(), kRateScale); }
  /// A CTA of `cluster` (kNoHandle: none) on `sm` has been dealt with; launches what fits now.
  void ended(std::uint32_t sm, std::uint32_t cluster);
  [[nodiscard]] std::uint64_t launched() const { return next_; }
  [[nodiscard]] std::uint64_t finished() const { return finished_; }
  [[nodiscard]] bool done() const { return finished_ == total_; }
  [[nodiscard]] Tick last_end() const { return last_end_; }  ///< of the CTAs that have been dealt with

 private:
  static constexpr std::int64_t kRateScale = 1024;

  bool place_on(std::uint32_t sm);
  bool place_pair(std::uint32_t sm);
  bool place_cluster(std::uint32_t gpc);
  void launch_cluster(const std::vector<std::uint32_t>& chosen);
  /// By SM, whether it gets one of the CTAs of a round of that many: fewer than there are SMs are spread over the TPCs.
  [[nodiscard]] std::vector<bool> chosen_for(std::uint64_t ctas) const;
  [[nodiscard]] std::uint64_t cta_of(std::uint64_t cluster_index, std::uint32_t rank) const;
  /// When the next CTA of `sm` can start, if not before `at`: an SM starts one after the other.
  [[nodiscard]] Tick start_on(std::uint32_t sm, Tick at);

  Context& context_;
  const Launch& launch_;
  std::vector<Sm>& sms_;
  ClusterTable& clusters_;
  std::vector<std::vector<std::uint32_t>> gpc_sms_;
  std::vector<std::uint32_t> order_;  ///< SMs in launch order
  std::vector<std::uint16_t> gpc_of_sm_;
  std::vector<std::uint16_t> tpc_of_sm_;
  std::vector<std::uint32_t> by_turn_;  ///< SMs in the order in which a round of few CTAs chooses them
  bool by_tpc_ = false;                 ///< clusters of exactly a TPC's SMs
  std::uint64_t total_;
  std::uint64_t next_ = 0;  ///< CTAs launched
  std::uint64_t finished_ = 0;
  Tick last_end_ = 0;
  std::uint32_t cluster_size_;
  Resource ends_;               ///< takes the ends of CTAs
  Resource clusters_out_;       ///< hands out clusters
  std::vector<Resource> gpcs_;  ///< reach one SM after the other
  std::vector<Tick> sm_free_;   ///< when an SM can start another CTA; 0 = it has had none
  Tick start_interval_;         ///< between CTAs of an SM
  Tick gpc_interval_;           ///< between first CTAs of SMs of a GPC
  Tick cluster_interval_;       ///< between clusters, beyond their CTAs
  Tick launch_latency_;
  Tick earliest_ = 0;
};

}  // namespace strata

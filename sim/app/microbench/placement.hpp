/// Where CTAs of a one-per-SM launch land, and the groups of SMs that microbenchmarks choose.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/gpu_config.hpp"
#include "sim/topology/sm_layout.hpp"
#include "workloads/kernels/microbench/group.hpp"

namespace strata::app {

using SmList = std::vector<std::uint32_t>;

class Placement {
 public:
  /// Runs a probe on the simulated GPU.
  explicit Placement(const GpuConfig& gpu);

  [[nodiscard]] std::uint32_t num_sms() const { return static_cast<std::uint32_t>(layout_.size()); }
  /// Clocks of one step of dependent_latency: what waits for the clock in a trace takes so many steps of it.
  [[nodiscard]] std::uint32_t alu_latency() const { return alu_latency_; }
  [[nodiscard]] std::uint32_t side(std::uint32_t sm) const { return side_[sm]; }
  /// SMs of each GPC: by number, those that take no part in larger clusters last.
  [[nodiscard]] const std::vector<SmList>& gpcs() const { return gpcs_; }
  /// SMs of each CPC, by number.
  [[nodiscard]] std::vector<SmList> cpcs() const;
  /// The group of these SMs, ranked in this order.
  [[nodiscard]] microbench::Group group(const SmList& sms) const;
  /// By CTA, what `by_sm` says of its SM.
  template <class T>
  [[nodiscard]] std::vector<T> by_cta(const std::vector<T>& by_sm) const {
    std::vector<T> out(by_sm.size());
    for (std::size_t sm = 0; sm < by_sm.size(); ++sm) {
      out[cta_of_sm_[sm]] = by_sm[sm];
    }
    return out;
  }
  /// SMs of a group as placement.cuh and l2_bandwidth.cu name it: "sm", "tpc", "gpc", "in_gpc", "side0", "spread",
  /// "all", ... of `count` SMs, or number `count` for "each_gpc". Nothing when the name is unknown or this GPU has no
  /// such group.
  [[nodiscard]] std::optional<SmList> named(const std::string& name, std::uint32_t count) const;

 private:
  [[nodiscard]] SmList first_of(const SmList& from, std::size_t count, std::size_t step = 1) const;
  [[nodiscard]] SmList of_side(std::uint32_t side) const;
  /// These SMs, a list for each of their CPCs.
  [[nodiscard]] std::vector<SmList> by_cpc(const SmList& sms) const;
  [[nodiscard]] SmList of_cpcs(std::size_t cpcs, std::size_t each) const;

  std::uint32_t alu_latency_;
  std::vector<SmPlace> layout_;
  std::vector<std::uint32_t> side_;
  std::vector<SmList> gpcs_;
  std::vector<std::uint32_t> cta_of_sm_;
};

}  // namespace strata::app

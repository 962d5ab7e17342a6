/// The events of a Kineto trace that matter to launches, reduced to what is needed of them.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sim/app/profile/launch_reader.hpp"
#include "workloads/library/operator_cells.hpp"

namespace strata::app {

/// What is known of an operator's launches; the same for every call with the same shapes.
struct OperatorFacts {
  std::string name;
  OperatorCells cells;
  std::string shape_missing;  ///< why the cells have no shape
};

struct KernelEvent {
  double start_us = 0;
  std::optional<double> us;
  std::int64_t operator_id = 0;  ///< "External id"; 0 = none
  std::int64_t correlation = 0;
  std::uint32_t kernel = 0;    ///< index into kernels()
  std::uint32_t seq = 0;       ///< 1-based, among the launches of its operator
  std::uint32_t previous = 0;  ///< 1 + index of the launch before it of the same operator; 0 = none
};

/// Takes events in any order; equal kernels and equal operators are kept once.
class KinetoEvents {
 public:
  /// `where` names the event in messages. Throws InputError for values of the wrong type.
  void add(const nlohmann::json& event, const std::string& path, const std::string& where);
  /// To be called after the last event: sorts launches by start and numbers those of each operator.
  void finish();

  [[nodiscard]] const std::vector<KernelEvent>& launches() const { return launches_; }
  /// Name, dimensions and resources of a launch's kernel.
  [[nodiscard]] const LaunchRow& kernel(const KernelEvent& launch) const { return kernels_[launch.kernel]; }
  /// The operator that made a launch, or why it is not known.
  [[nodiscard]] const OperatorFacts& operator_of(const KernelEvent& launch) const;
  [[nodiscard]] DriverWork driver_work() const { return driver_; }
  /// How many kernels ran on each device, of those that name one.
  [[nodiscard]] const std::map<std::int64_t, std::size_t>& devices() const { return devices_; }

 private:
  void add_kernel(const nlohmann::json& event, const std::string& path, const std::string& where);
  void add_operator(const nlohmann::json& event);
  void add_launch_call(const nlohmann::json& event);
  std::uint32_t keep(OperatorFacts facts);  ///< its index in facts_

  std::vector<KernelEvent> launches_;
  std::vector<LaunchRow> kernels_;
  std::unordered_map<std::string, std::uint32_t> kernel_index_;
  std::vector<OperatorFacts> facts_;
  std::unordered_map<std::string, std::uint32_t> facts_index_;
  std::unordered_map<std::int64_t, std::uint32_t> operators_;  ///< External id -> index into facts_
  std::unordered_map<std::int64_t, std::int64_t> calls_;       ///< correlation -> External id
  std::unordered_set<std::int64_t> graphs_;                    ///< correlations of CUDA graph launches
  DriverWork driver_;
  std::map<std::int64_t, std::size_t> devices_;
};

}  // namespace strata::app

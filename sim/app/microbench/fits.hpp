/// The few parameters that no single number states: each is fitted to the microbenchmark that isolates it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/config/gpu_description.hpp"
#include "validation/compare/microbench_table.hpp"

namespace strata::app {

struct FittedValue {
  std::string key;
  double before = 0;
  double after = 0;
  double error_before = 0;  ///< mean absolute error of its points
  double error_after = 0;
  int simulations = 0;
  std::string points;  ///< what it was fitted to
  /// One point, one parameter: the value is solved for, so that the simulated point is the measured one.
  bool solved = false;
  std::string doubt;  ///< why it may be no property of the card; empty where nothing speaks against it
};

struct FitRun {
  std::vector<FittedValue> values;
  std::vector<std::string> missing;  ///< "key: the rows it needs were not measured"
};

/// Whether any parameter has the rows that it is fitted to.
[[nodiscard]] bool can_fit(const MicrobenchData& data);

/// Fits into the description, in an order in which later parameters build on earlier ones. Origins become "fitted", or
/// "measured" where one point decides the value.
[[nodiscard]] FitRun fit_parameters(const MicrobenchData& data, GpuDescription& description, int jobs,
                                    const std::function<void(const std::string& key)>& progress);

}  // namespace strata::app

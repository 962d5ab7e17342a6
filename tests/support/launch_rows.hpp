/// Rows of launches.csv for tests of kernel names.
#pragma once

#include <string>

#include "sim/base/error.hpp"
#include "tests/support/recorded_rows.hpp"
#include "workloads/library/resolve.hpp"

namespace strata::test {

inline LaunchRow launch_row(const std::string& op, const std::string& kernel, const std::string& shape) {
  LaunchRow row;
  row.op = op;
  row.kernel = kernel;
  row.shape = shape;
  return row;
}

/// Why a launch is unsupported; empty when it can be simulated.
inline std::string unsupported_reason(const LaunchRow& row, const TargetFacts& target = hopper_facts()) {
  try {
    (void)resolve_launch(row, target);
  } catch (const UnsupportedError& error) {
    return error.what();
  }
  return {};
}

}  // namespace strata::test

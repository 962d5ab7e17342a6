/// Measured microbenchmarks against the simulator: every row that has a trace, simulated once per distinct trace.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "validation/compare/microbench_comparison.hpp"

namespace strata::app {

struct MicrobenchOptions {
  std::string only;  ///< program or part of a microbenchmark's name; empty = all
  int jobs = 1;
  std::function<void(std::size_t done, std::size_t of)> progress;  ///< may be empty; any thread
};

/// Ends the reason of rows that could be simulated but hold a zero.
inline constexpr std::string_view kNothingMeasured = "nothing measured";

/// Throws InputError when no row of `data` is left by `only`, and what simulate() throws.
[[nodiscard]] MicrobenchComparison compare_microbench(const GpuConfig& gpu, const MicrobenchData& data,
                                                      const MicrobenchOptions& options);

struct CheckedRows {
  std::size_t simulated = 0;         ///< rows that have a trace
  std::vector<MicrobenchRow> zeros;  ///< rows that would have one, but hold a zero: nothing was measured
};

/// Maps every row without simulating it: throws InputError, with the row's file and line, for one that
/// compare_microbench() would refuse.
[[nodiscard]] CheckedRows check_microbench(const GpuConfig& gpu, const MicrobenchData& data);

/// The folder of --data; where that was not given, the one that keeps the measurements of a GPU, validation/data/NAME/
/// microbench beside configs. Throws InputError where there is none.
[[nodiscard]] std::string microbench_folder(const std::string& data, const std::string& gpu_name);

}  // namespace strata::app

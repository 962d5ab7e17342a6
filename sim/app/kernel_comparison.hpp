/// Measured launches of library kernels against the simulator and the simple models it has to beat.
#pragma once

#include <functional>

#include "sim/app/measured_table.hpp"
#include "sim/config/gpu_config.hpp"
#include "validation/compare/comparison.hpp"

namespace strata::app {

struct KernelComparisonOptions {
  bool cycles_only = false;  ///< durations need a second simulation at the clock model's clock
  bool exact = false;        ///< long launches are simulated whole
  int jobs = 1;
  std::function<void(std::size_t done, std::size_t of)> progress;  ///< may be empty; any thread
};

/// Simulates every launch at the measured clock and, unless `cycles_only`, at the clock model's; scored.
[[nodiscard]] Comparison compare_kernels(const GpuConfig& gpu, const MeasuredFile& file,
                                         const KernelComparisonOptions& options);

}  // namespace strata::app

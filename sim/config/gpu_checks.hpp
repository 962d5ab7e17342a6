/// Checks of a GpuConfig that no single field can make.
#pragma once

#include <vector>

#include "sim/base/error.hpp"
#include "sim/config/gpu_config.hpp"

namespace strata {

/// Problems between fields, each under the key to change. Expects every field to be in its range.
[[nodiscard]] std::vector<Diagnostic> relation_problems(const GpuConfig& config);
/// Problems of single fields.
[[nodiscard]] std::vector<Diagnostic> range_problems(const GpuConfig& config);

}  // namespace strata

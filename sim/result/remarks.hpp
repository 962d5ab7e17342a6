/// What a reader of a result would take for a mistake, explained.
#pragma once

#include <string>
#include <vector>

#include "sim/config/gpu_config.hpp"
#include "sim/result/result.hpp"

namespace strata {

/// Sentences for Result::notes; none where nothing needs one.
[[nodiscard]] std::vector<std::string> remarks(const Result& result, const GpuConfig& config);

}  // namespace strata

/// Why microbenchmarks miss their aim, where that is known.
#pragma once

#include <string>

#include "sim/config/gpu_config.hpp"
#include "validation/compare/microbench_comparison.hpp"

namespace strata::app {

/// The causes of the points that are more than the aim off: each holds for misses in one direction, on the architecture
/// (and the GPU, where it is a card's own) that it was found on. Of how many points each is the cause is said, and for
/// how many none is known. Empty where none is known for any.
[[nodiscard]] std::string known_gap(const MicrobenchGroup& group, const GpuConfig& gpu);

/// Whether any cause is written down for a microbenchmark, in whatever direction.
[[nodiscard]] bool has_known_gap(const std::string& benchmark);

}  // namespace strata::app

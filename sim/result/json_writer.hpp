/// Results as JSON, schema "strata.result/1". Equal results give equal bytes; nothing about the host is written.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/config/gpu_description.hpp"
#include "sim/result/result.hpp"

namespace strata {

/// {"name", "product", "sms", peaks, "values_by_origin": {"fitted": n, ...}, "given": {key: value}}
[[nodiscard]] nlohmann::ordered_json gpu_json(const GpuDescription& gpu);
/// {"name", "family", "metrics", "counters", "traffic", "cycle_stack", "utilization", "bottleneck", "estimates", ...}
[[nodiscard]] nlohmann::ordered_json kernel_json(const Result& result, const GpuConfig& config);
/// Units of metrics, counters, cycle stack and utilization, by the keys of those blocks.
[[nodiscard]] nlohmann::ordered_json units_json();
/// {"schema", "version", "gpu", "units", "kernels": [...]}, to which a command may add keys of its own before writing.
[[nodiscard]] nlohmann::ordered_json document_json(const GpuDescription& gpu, const std::vector<Result>& results);
/// The document as text, indented by two, with a newline at the end.
[[nodiscard]] std::string result_json(const GpuDescription& gpu, const std::vector<Result>& results);

}  // namespace strata

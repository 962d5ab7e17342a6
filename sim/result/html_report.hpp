/// Results as one self-contained HTML page: tables, a cycle-stack bar and traffic bars as inline SVG, no scripts.
#pragma once

#include <string>
#include <vector>

#include "sim/config/gpu_description.hpp"
#include "sim/result/result.hpp"

namespace strata {

[[nodiscard]] std::string html_report(const GpuDescription& gpu, const std::vector<Result>& results);
/// The text with & < > " ' replaced.
[[nodiscard]] std::string html_escaped(const std::string& text);

}  // namespace strata

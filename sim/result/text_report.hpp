/// A result for people: aligned text with a unit on every number.
///
///   gemm bf16 4096 x 4096 x 4096 on h100-sxm5-80gb
///     time         185.31 us      325,400 SM cycles at 1756 MHz (clock model)
///     tensor        741.7 TFLOP/s   78 % of 949.5 TFLOP/s peak at this clock
///     bottleneck   tensor           tensor cores busy 80 % of the kernel
#pragma once

#include <string>

#include "sim/config/gpu_description.hpp"
#include "sim/result/result.hpp"

namespace strata {

struct TextOptions {
  bool colour = false;   ///< ANSI colours; ask for them on terminals only
  bool metrics = false;  ///< every counter under its Nsight Compute name
};

[[nodiscard]] std::string text_report(const Result& result, const GpuDescription& gpu, const TextOptions& options = {});

/// "1,234,567".
[[nodiscard]] std::string grouped(double value);
/// "33.55 MB", powers of 1000.
[[nodiscard]] std::string human_bytes(double bytes);

}  // namespace strata

/// Straight-line code that is executed once or again and again. validation/microbench/instruction_fetch.cu.
#pragma once

#include <memory>

#include "workloads/kernels/microbench/program.hpp"

namespace strata::microbench {

inline constexpr std::uint32_t kInstructionsPerKib = 64;  ///< of 16 bytes

/// Independent FFMA on four chains; a warp executes all of it `laps` times. One CTA.
struct StraightCodeConfig {
  std::uint32_t kib = 2;  ///< size of the code
  std::uint32_t warps = 1;
  std::uint32_t laps = 1;
  std::uint32_t apart = 0;                  ///< clocks by which each four warps start later than the four before
  std::uint32_t alu_latency = kAluLatency;  ///< of the described GPU
};
[[nodiscard]] std::unique_ptr<TraceSource> make_repeated_code(const StraightCodeConfig& config);

}  // namespace strata::microbench

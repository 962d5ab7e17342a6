/// The ladder's TMA + wgmma attention: flash_attention_wgmma with the instruction counts of its own compiled code.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/kernels/attention_common.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

struct LadderWgmmaConfig {
  AttentionShape shape;
  bool overlap = false;         ///< the next scores are multiplied beside the softmax of these
  std::uint32_t registers = 0;  ///< 0 = as compiled
  std::string name;
};

/// Throws UnsupportedError for head dims other than 32, 64 and 128.
[[nodiscard]] std::unique_ptr<TraceSource> make_ladder_wgmma(const LadderWgmmaConfig& config);

}  // namespace strata

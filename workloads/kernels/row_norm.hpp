/// Layer norm and RMS norm over rows, as PyTorch's vectorized kernel: a CTA per row reads it twice.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/spec/trace_source.hpp"

namespace strata {

struct NormConfig {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;  ///< a multiple of 4
  DataType type = DataType::kBf16;
  bool rms = false;               ///< RMS norm: no mean, no bias
  std::uint32_t parameters = 2;   ///< loads of weight and bias per element: 2 both, 1 one of them, 0 none
  bool shared_parameter = false;  ///< weight and bias are one tensor
  std::uint32_t warps = 4;
  std::uint32_t registers = 32;
  std::string name = "layer_norm";
};

[[nodiscard]] std::unique_ptr<TraceSource> make_row_norm(const NormConfig& config);

}  // namespace strata

/// The operation word that CUTLASS and cuBLAS put in kernel names: sgemm, s16816gemm, h884gemm, i16832gemm.
#pragma once

#include <cstdint>
#include <string_view>

#include "workloads/spec/launch.hpp"

namespace strata {

struct GemmOperation {
  DataType input = DataType::kFp32;   ///< unless another word of the name says so
  DataType output = DataType::kFp32;  ///< of the accumulators
  std::uint32_t mma_k = 0;            ///< elements of K of one tensor-core instruction; 0 on the FMA pipe
};

/// First letter: accumulators (s fp32, h fp16, i int32); digits: the instruction's M, N and K in a row.
/// @param ampere  tensor cores of the Ampere generation or later: fp32 operands are rounded to tf32
/// Throws UnsupportedError for other accumulators, instructions and conversions.
[[nodiscard]] GemmOperation parse_gemm_operation(std::string_view word, bool ampere);

[[nodiscard]] bool is_gemm_operation(std::string_view word);

}  // namespace strata

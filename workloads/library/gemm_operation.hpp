/// The operation word that CUTLASS and cuBLAS put in kernel names: sgemm, s16816gemm, h884gemm, i16832gemm.
#pragma once

#include <cstdint>
#include <string_view>

#include "workloads/library/tensor_instruction.hpp"
#include "workloads/spec/launch.hpp"

namespace strata {

struct GemmOperation {
  DataType input = DataType::kFp32;   ///< unless another word of the name says so
  DataType output = DataType::kFp32;  ///< of the accumulators
  TensorInstruction instruction;      ///< none on the FMA pipe
};

/// First letter: accumulators (s fp32, h fp16, i int32); digits: the instruction's M, N and K in a row.
/// @param ampere  tensor cores of the Ampere generation or later: fp32 operands are rounded to tf32
/// Throws UnsupportedError for other accumulators, instructions and conversions.
[[nodiscard]] GemmOperation parse_gemm_operation(std::string_view word, bool ampere);

[[nodiscard]] bool is_gemm_operation(std::string_view word);

/// Throws UnsupportedError that quotes the operation's `word` where it does not compute with operands of this type,
/// which another word of the name gives.
void expect_operands(std::string_view word, const GemmOperation& operation, DataType operands);

}  // namespace strata

/// Softmax and log-softmax over rows, in the four forms of PyTorch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/spec/trace_source.hpp"

namespace strata {

enum class SoftmaxForm : std::uint8_t {
  kWarp,       ///< a warp per row (two rows up to 128 columns), elements in registers
  kRegisters,  ///< a CTA per row, elements in registers
  kShared,     ///< a CTA per row, the row in shared memory, 16 B accesses
  kGlobal,     ///< a CTA per row, the row read three times, 16 B accesses
};

[[nodiscard]] const char* to_string(SoftmaxForm form);  ///< in words: "a warp per row"

struct SoftmaxConfig {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
  DataType input = DataType::kFp32;
  DataType output = DataType::kFp32;
  SoftmaxForm form = SoftmaxForm::kWarp;
  bool logarithm = false;
  /// Queries of a causal mask: row r keeps columns up to r modulo this, the others are -inf; 0 = nothing is masked.
  std::uint64_t causal_queries = 0;
  std::uint32_t threads = 128;  ///< of a CTA, a multiple of 32
  std::uint32_t registers = 32;
  std::string name = "softmax";
};

/// The form, threads and registers that PyTorch takes for this row length: a warp per row up to 2048 columns and 8 KiB,
/// else a CTA of up to 1024 threads whose elements are in registers (fewer than ten a thread), in shared memory (48
/// KiB) or nowhere.
void choose_softmax_form(SoftmaxConfig& config);

/// Columns rounded up to a power of two: the row length that the warp form is compiled for.
[[nodiscard]] std::uint64_t softmax_padded_cols(const SoftmaxConfig& config);

[[nodiscard]] std::unique_ptr<TraceSource> make_row_softmax(const SoftmaxConfig& config);

}  // namespace strata

/// Softmax, layer norm and RMS norm as validation/kernels/block/rowwise.cu writes them: a CTA of 256 threads a row, in
/// phases that each walk the whole row: read it, find its maximum or mean, sum, write the results.
///
/// Between phases the row waits in shared memory as fp32, or is read again from global memory (the three-pass softmax).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/spec/trace_source.hpp"

namespace strata {

enum class RowPassKind : std::uint8_t { kSoftmax, kLayerNorm, kRmsNorm };

struct RowPassConfig {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;  ///< a multiple of `vector`
  DataType type = DataType::kFp32;
  RowPassKind kind = RowPassKind::kSoftmax;
  std::uint32_t vector = 1;  ///< elements of one access of a thread: 1, 4 (fp32) or 8 (16-bit types)
  bool residual = false;     ///< a second matrix is added first, and the sum written
  bool in_shared = true;     ///< false: every phase reads global memory
  std::uint32_t registers = 32;
  std::string name = "row_pass";
};

/// Throws ModelBug for inconsistent configurations.
[[nodiscard]] std::unique_ptr<TraceSource> make_row_pass(const RowPassConfig& config);

}  // namespace strata

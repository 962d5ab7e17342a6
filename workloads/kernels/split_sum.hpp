/// Kernels that add up the partial results of a split: split-K GEMMs and attention over a split KV cache.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/spec/trace_source.hpp"

namespace strata {

/// cuBLASLt's splitKreduce_kernel: a thread sums one element of every partial matrix.
struct SplitKSumConfig {
  std::uint64_t rows = 0;  ///< of the row-major result
  std::uint64_t cols = 0;
  std::uint32_t splits = 2;
  DataType partial = DataType::kFp32;
  DataType output = DataType::kBf16;
  std::uint32_t active_wavefronts = 2;  ///< of a warp with rows; differs between instances of the template
  std::uint32_t block_cols = 32;        ///< threads along a row
  std::uint32_t block_rows = 16;
  std::uint32_t grid_rows = 0;  ///< CTAs along the rows, which then walk over them; 0 = as many as there are blocks
  std::uint32_t registers = 32;
  std::string name = "splitk_sum";
};
[[nodiscard]] std::unique_ptr<TraceSource> make_splitk_sum(const SplitKSumConfig& config);

/// A thread sums four neighbouring elements of every part (validation/kernels/gemm/splitk.cu); fp32 parts, 16-bit
/// result.
struct PartsSumConfig {
  std::uint32_t parts = 2;
  std::uint64_t elements = 0;  ///< of the result, a multiple of 4
  std::uint32_t registers = 32;
  std::string name = "parts_sum";
};
[[nodiscard]] std::unique_ptr<TraceSource> make_parts_sum(const PartsSumConfig& config);

/// Sums of attention outputs, each weighted by its part of the softmax denominator.
struct AttentionSplitConfig {
  std::uint64_t rows = 0;   ///< batch x heads x queries
  std::uint32_t batch = 1;  ///< z of cuDNN's grid
  std::uint32_t head_dim = 128;
  std::uint32_t splits = 4;
  DataType output = DataType::kBf16;
  std::uint32_t rows_per_cta = 4;
  std::uint32_t max_splits = 4;  ///< that the kernel is compiled for
  std::uint32_t registers = 54;
  std::string name = "attention_split_sum";
};
/// FlashAttention-2's flash_fwd_splitkv_combine_kernel: 128 threads, splits one after another.
[[nodiscard]] std::unique_ptr<TraceSource> make_flash_combine(const AttentionSplitConfig& config);
/// cuDNN's lean_reduction_kernel: 256 threads, one row per CTA, splits side by side.
[[nodiscard]] std::unique_ptr<TraceSource> make_lean_reduction(const AttentionSplitConfig& config);

}  // namespace strata

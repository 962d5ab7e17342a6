/// Matrix-vector product as validation/kernels/gemm/gemv.cu writes it: CTAs of eight warps.
///
/// Weights stored N x K: a warp takes a row and strides along K. Stored K x N: four lanes take four vectors of columns,
/// 64 groups of lanes share the depth and meet in shared memory. Loops are unrolled four times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/spec/trace_source.hpp"

namespace strata {

struct GemvConfig {
  std::uint64_t n = 0;  ///< results
  std::uint64_t k = 0;
  DataType type = DataType::kBf16;  ///< fp32 or bf16
  bool k_contiguous = true;         ///< weights stored N x K
  std::uint32_t registers = 32;
  std::string name = "gemv";
};

/// Throws ModelBug for inconsistent configurations.
[[nodiscard]] std::unique_ptr<TraceSource> make_gemv(const GemvConfig& config);

}  // namespace strata

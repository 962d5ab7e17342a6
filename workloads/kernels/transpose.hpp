/// Transposes of an fp32 matrix as validation/kernels/block/transpose.cu writes them: 32 x 32 tiles by 32 x 8 threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/spec/trace_source.hpp"

namespace strata {

enum class TransposeWay : std::uint8_t {
  kCopy,      ///< nothing is turned
  kNaive,     ///< rows in, columns out: every lane stores into a row of its own
  kTile,      ///< turned in shared memory, 32-way bank conflicts
  kPadded,    ///< turned in shared memory, rows padded by a word
  kSwizzled,  ///< turned in shared memory, columns exchanged by XOR with the row
};

struct TransposeConfig {
  std::uint64_t rows = 0;  ///< of the input
  std::uint64_t cols = 0;
  TransposeWay way = TransposeWay::kPadded;
  std::uint32_t registers = 32;
  std::string name = "transpose";
};

/// Throws ModelBug for inconsistent configurations.
[[nodiscard]] std::unique_ptr<TraceSource> make_transpose(const TransposeConfig& config);

}  // namespace strata

/// The tensor-core instructions that names of GEMM kernels speak of.
#pragma once

#include <cstdint>
#include <string_view>

#include "workloads/spec/launch.hpp"

namespace strata {

struct TensorInstruction {
  std::uint32_t m = 0;
  std::uint32_t n = 0;
  std::uint32_t k = 0;  ///< 0 = none: the FMA pipe
};

/// Throws UnsupportedError, which quotes the `word` of the name that says so, unless the tensor cores of Ampere and
/// later have an mma.sync of this shape for such operands: a name of both is none that a library writes for them.
void expect_mma_sync(std::string_view word, const TensorInstruction& instruction, DataType operands);

/// Throws UnsupportedError unless whole instructions fill a tile.
void expect_whole_instructions(const TensorInstruction& instruction, std::uint32_t tile_m, std::uint32_t tile_n,
                               std::uint32_t tile_k);

}  // namespace strata

/// What the main loop and the rest of cuBLAS's ampere_sgemm kernels execute, counted in their SASS.
#pragma once

#include <cstdint>
#include <string_view>

namespace strata {

/// Instructions are a warp's. What all these kernels have in common is not a column: K tiles of 8 for each slice, LDG
/// and STS of 4 B, LDS of 16 B, one barrier a K tile, two buffers, results through shared memory in passes of four
/// rows.
struct SgemmCounts {
  std::uint32_t tile_n;  ///< the first of the name
  std::uint32_t tile_m;
  std::uint32_t slices;
  std::string_view layout;
  std::uint32_t registers;
  std::uint32_t loop_others;        ///< of a K tile: all but FFMA, LDS, LDG, STS and the barrier
  std::uint32_t loop_instructions;  ///< of a K tile
  std::uint32_t loads_ahead;        ///< from an LDG to the STS of what it brings, average of a K tile's
  std::uint32_t prologue;           ///< but for the first tile's LDG and STS
  std::uint32_t epilogue_once;
  std::uint32_t epilogue_passes;  ///< all of them; of sliced kernels but for the STS, LDS and FADD that add up slices
  std::uint32_t code_bytes;
};

/// Null when the kernel is not among those counted.
[[nodiscard]] const SgemmCounts* sgemm_counts(std::uint32_t tile_n, std::uint32_t tile_m, std::uint32_t slices,
                                              std::string_view layout);

}  // namespace strata

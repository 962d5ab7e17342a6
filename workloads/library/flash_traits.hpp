/// The template arguments that name FlashAttention-2's kernels:
/// flash_fwd_kernel<Flash_fwd_kernel_traits<head dim, block rows, block columns, warps, ..., element>, flags...>.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/kernels/flash_attention_mma.hpp"
#include "workloads/library/resolve.hpp"

namespace strata {

/// Whether the name is that of kernel `stem` with such traits.
[[nodiscard]] bool has_flash_traits(std::string_view canonical, std::string_view stem);

struct FlashTraits {
  std::uint32_t head_dim = 0;
  std::uint32_t block_m = 0;
  std::uint32_t block_n = 0;
  std::uint32_t warps = 0;
  DataType element = DataType::kBf16;
  std::vector<std::uint32_t> flags;  ///< after the traits; at least `fewest_flags`
};

/// The element type that the traits name; UnsupportedError for one that the library has no kernels of.
[[nodiscard]] DataType flash_element(std::string_view canonical);

/// Throws UnsupportedError when traits or flags are missing or the tile is none that the model can build.
[[nodiscard]] FlashTraits parse_flash_traits(std::string_view canonical, std::size_t fewest_flags);

/// Shape, tile, warps, registers, shared memory and residency; not what the flags say. Throws UnsupportedError.
/// @param registers  per thread, where the row does not say
[[nodiscard]] FlashMmaConfig flash_config_of(const LaunchRow& row, const FlashTraits& traits, std::uint32_t registers,
                                             const TargetFacts& target);

/// Throws UnsupportedError where a row's grid divides the keys into more than `most` splits, or more than have a block
/// of keys each.
void expect_splits(const LaunchRow& row, const FlashMmaConfig& config, std::uint32_t most);

/// CTAs that are on the GPU at once.
[[nodiscard]] std::uint32_t flash_resident_ctas(const FlashMmaConfig& config, const TargetFacts& target);

}  // namespace strata

/// Names of cuBLAS's xmma GEMM kernels.
///
/// sm80_xmma_gemm_<A,C types>_<multiply, accumulate types>_<scale type>_<layout>_<n|t>_tilesize<M>x<N>x<K>_stage<S>_
/// warpsize<m>x<n>x<k>_<ffma | tensor16x8x16>[_aligna4][_alignc4]..., and sm90_... with warpgroupsize<m>x<n>x<k> in
/// place of stages and warps. The first tile number is along M of the row-major problem: recorded grids of 1024x64
/// outputs are 4x1 for tilesize256x64.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/spec/launch.hpp"

namespace strata {

struct XmmaName {
  std::uint32_t arch = 0;  ///< 80, 90, ...
  DataType input = DataType::kBf16;
  DataType output = DataType::kBf16;
  std::string layout;                          ///< "tn", ...
  std::array<std::uint32_t, 3> tile{};         ///< M, N, K
  std::uint32_t stages = 0;                    ///< 0 = not in the name
  std::array<std::uint32_t, 3> warps{};        ///< along M, N, K; 0 = not in the name
  std::array<std::uint32_t, 3> groups{};       ///< consumer warpgroups along M, N, K; 0 = not in the name
  std::array<std::uint32_t, 3> instruction{};  ///< of the tensor core; 0 = not in the name
  bool ffma = false;
  std::uint32_t align_elements = 0;  ///< of A, and B where it says so; 0 = not in the name
  bool splits_k = false;
  std::vector<std::string> unknown;  ///< words of the name that are not understood
};

/// The architecture of "sm80_xmma_gemm_..." names; nothing for others.
[[nodiscard]] std::optional<std::uint32_t> xmma_architecture(std::string_view canonical);

/// Throws UnsupportedError that says which part was not understood.
[[nodiscard]] XmmaName parse_xmma_name(std::string_view canonical);

}  // namespace strata

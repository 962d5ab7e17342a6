/// Names of the kernels in validation/kernels: "strata_" and words that give every parameter.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "workloads/library/resolve.hpp"
#include "workloads/spec/launch.hpp"

namespace strata {

/// strata_gemm_<rung>_<tile>_..._<type>_<layout>, for instance strata_gemm_wgmma_128x256x64_4s_2x1_bf16_tn.
struct LadderGemmName {
  std::string rung;          ///< naive, tiled, simt, wmma, mma, wgmma
  std::uint32_t tile_m = 0;  ///< of a CTA
  std::uint32_t tile_n = 0;
  std::uint32_t tile_k = 0;     ///< 0 = the rung has no tiles along K
  std::uint32_t cluster_m = 1;  ///< "2x1"
  std::uint32_t cluster_n = 1;
  std::uint32_t stages = 0;  ///< "4s"; "sb" is 1, "db" is 2
  std::uint32_t align = 0;   ///< "al4": elements of the widest copies
  std::uint32_t pad = 0;     ///< "p1": words behind a row of a shared tile
  bool strided = false;      ///< neighbouring lanes in neighbouring rows
  bool split_k = false;
  bool grouped = false;
  DataType type = DataType::kFp32;
  std::string layout;
};
/// Throws UnsupportedError that says which word is not understood.
[[nodiscard]] LadderGemmName parse_ladder_gemm_name(std::string_view canonical);

/// strata_<operation>_v<elements>_<type>, for instance strata_residual_rmsnorm_smem_v8_bf16.
struct LadderRowName {
  std::string operation;     ///< "residual_rmsnorm_smem"
  std::uint32_t vector = 1;  ///< elements of one access of a thread
  DataType type = DataType::kFp32;
};
/// Throws UnsupportedError when the name does not end in a vector and a type.
[[nodiscard]] LadderRowName parse_ladder_row_name(std::string_view canonical);

/// Warns where the row's op or dtype is not what the name says, which is simulated.
void note_overruled_row(const LaunchRow& row, const std::string& operation, DataType type, BuiltKernel& built);

/// Whether the name is "strata_" and then one of the stems.
[[nodiscard]] bool is_ladder_name(std::string_view canonical, std::span<const std::string_view> stems);

}  // namespace strata

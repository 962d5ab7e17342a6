/// The numbers in names of cuDNN's attention kernels:
/// ..._sm90_flash_fprop_wgmma_f16_knob_7_<q rows>x<kv rows>x<d>_4x1x1_cga1x1x1_kernel0_0.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/spec/launch.hpp"

namespace strata {

struct CudnnFlashName {
  std::array<std::uint32_t, 3> tile{};   ///< query rows, keys, head dim
  std::array<std::uint32_t, 3> warps{};  ///< along queries, keys, head dim
  std::vector<std::string> unknown;      ///< words of the name that are not understood
};

/// @param canonical  holds "flash_fprop". Throws UnsupportedError when tile or warps are missing, or with clusters.
[[nodiscard]] CudnnFlashName parse_cudnn_flash_name(std::string_view canonical);

}  // namespace strata

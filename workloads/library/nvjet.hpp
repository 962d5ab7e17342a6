/// cuBLAS's nvjet_sm90_* GEMM kernels: TMA + wgmma, persistent.
///
/// Name: nvjet_sm90_<types>_<t1>x<t2>_<kTile>x<stages>_<c1>x<c2>_<v|h>_bz[_coopA|_coopB][_splitK][_algo2]_<TN><N|T>
/// with t1, c1 tile and cluster along N and t2, c2 along M (cuBLAS is column-major). The last letter T: wgmma's 64
/// rows run along t1, N: along t2. coopA and coopB split wgmma's M or N over the consumer warpgroups; neither:
/// ping-pong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/kernels/gemm_tma_wgmma.hpp"
#include "workloads/library/families.hpp"

namespace strata {

/// Order of the cluster tiles, which the name does not give: bands of this many cluster tiles along N, swept along M.
/// Chosen by a tag-only replica (all CTAs in step, two 25 MB partitions, near copies, 8 KiB home interleave) on the
/// calibration rows that re-read their operands; HBM reads and fabric sectors against the counters:
///   6144^3 v 2x1: +2 %, -5 %   8192^3 h 1x2: +6 %, -4 %   8192x11008x4096 v 2x1: +5 %, -13 %
/// Next best for v is a sweep along N in bands of 8 along M (+4, -2 and +5, -6), for h bands of 5 (+2, +1). Bands of 2
/// or 16 miss one of the two counters by 25 to 130 %. Rows of one to four waves hardly depend on the order.
inline constexpr std::uint32_t kNvjetRasterGroup = 4;
inline constexpr RasterDirection kNvjetRasterDirection = RasterDirection::kAlongM;

struct NvjetName {
  DataType input = DataType::kBf16;
  DataType output = DataType::kBf16;
  std::uint32_t tile_n = 0;
  std::uint32_t tile_m = 0;
  std::uint32_t tile_k = 0;
  std::uint32_t stages = 0;
  std::uint32_t cluster_n = 0;
  std::uint32_t cluster_m = 0;
  bool vertical = false;  ///< v; h otherwise
  ConsumerMode consumers = ConsumerMode::kPingPong;
  bool split_k = false;
  bool wgmma_m_along_n = false;
  std::string layout;                ///< "TN", ...
  std::vector<std::string> unknown;  ///< words of the name that are not understood
};

/// Throws UnsupportedError that says which word was not understood.
[[nodiscard]] NvjetName parse_nvjet_name(std::string_view canonical);

/// The generator's configuration of a launch; grid, registers and shared memory are used where the row has them.
[[nodiscard]] GemmTmaConfig nvjet_config(const LaunchRow& row, const TargetFacts& target,
                                         std::uint32_t raster_group = kNvjetRasterGroup,
                                         RasterDirection raster = kNvjetRasterDirection);

[[nodiscard]] FamilyParser nvjet_family();

}  // namespace strata

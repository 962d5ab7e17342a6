/// cuBLAS's nvjet_* GEMM kernels for Hopper: TMA + wgmma, persistent.
///
/// Name: nvjet[_sm90]_<types>_<t1>x<t2>_<kTile>x<stages>_<c1>x<c2>_<v|h>[_bz|_badd][_coopA|_coopB][_splitK][_algo2]
/// and _<TN><N|T>, with t1, c1 tile and cluster along N and t2, c2 along M (cuBLAS is column-major). cuBLAS 12 leaves
/// the architecture out. The last letter T: wgmma's 64 rows run along t1, N: along t2. coopA and coopB split wgmma's M
/// or N over the consumer warpgroups; neither: ping-pong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/kernels/gemm_tma_wgmma.hpp"
#include "workloads/library/families.hpp"

namespace strata {

/// What a name says of C.
enum class NvjetC : std::uint8_t { kUnsaid, kNotRead, kAdded };

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
  NvjetC c = NvjetC::kUnsaid;  ///< bz, badd or neither
  bool split_k = false;
  bool algo2 = false;  ///< not known what it says
  bool wgmma_m_along_n = false;
  std::string layout;                ///< "TN", ...
  std::vector<std::string> unknown;  ///< words of the name that are not understood
};

/// Throws UnsupportedError that says which word was not understood.
[[nodiscard]] NvjetName parse_nvjet_name(std::string_view canonical);

/// The generator's configuration of a launch; grid, registers and shared memory are used where the row has them.
[[nodiscard]] GemmTmaConfig nvjet_config(const LaunchRow& row, const TargetFacts& target);

[[nodiscard]] FamilyParser nvjet_family();

}  // namespace strata

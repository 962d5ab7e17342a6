/// GEMM as Hopper's libraries write it: persistent, warp-specialised, TMA loads into a ring of stages, wgmma consumers.
///
/// One producer warp issues two TMA boxes per K tile (its share of A and of B, multicast to the cluster peers that
/// need them). Two consumer warpgroups either share a tile (cooperative, split along one of its dimensions) or take
/// whole tiles in turn (ping-pong, so that one's epilogue hides behind the other's main loop). Clusters take cluster
/// tiles cluster_id, cluster_id + clusters, ... in the order of the raster.
///
/// Not modelled: dynamic tile schedulers, beta != 0 (C is never read), bias and activation epilogues.
/// Cost: fetch() is a copy and a few patched fields per operation; no allocation, one division set per tile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/kernels/catalogue.hpp"
#include "workloads/kernels/gemm_common.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

enum class ConsumerMode : std::uint8_t {
  kPingPong,      ///< each warpgroup computes whole tiles, in turn
  kCooperativeM,  ///< both share a tile, split along the dimension that is wgmma's M ("coopA")
  kCooperativeN,  ///< both share a tile, split along the dimension that is wgmma's N ("coopB")
};

struct GemmTmaConfig {
  std::string name;  ///< kernel name shown to people; empty = "gemm_tma_wgmma"
  GemmProblem problem;
  std::uint32_t tile_m = 128;  ///< along M of the problem
  std::uint32_t tile_n = 128;  ///< along N of the problem
  std::uint32_t tile_k = 64;   ///< elements
  std::uint32_t stages = 4;
  ConsumerMode consumers = ConsumerMode::kCooperativeM;
  bool wgmma_m_along_n = false;  ///< wgmma's M (64) runs along the problem's N: the library computes C transposed
  std::uint32_t cluster_m = 1;
  std::uint32_t cluster_n = 1;
  bool multicast = true;
  RasterDirection raster = RasterDirection::kAlongM;
  std::uint32_t raster_group = 8;  ///< cluster tiles
  std::uint32_t split_k = 1;       ///< slices; each writes an fp32 partial that a launch of its own reduces
  std::uint32_t num_clusters = 0;  ///< 0 = as many as are resident at once, at most one per cluster tile
  std::uint32_t registers_per_thread = 168;
  std::uint32_t smem_dynamic_bytes = 0;  ///< 0 = stages + epilogue staging + barriers
  bool promote_fp8 = true;               ///< fp8: add each K tile's accumulators to fp32 registers

  [[nodiscard]] std::uint32_t cluster_size() const { return cluster_m * cluster_n; }
};

/// Shared memory of one CTA in bytes: the ring of stages, 16 KiB of epilogue staging, barriers.
[[nodiscard]] std::uint64_t gemm_tma_smem_bytes(const GemmTmaConfig& config);

/// Accumulator registers per consumer thread.
[[nodiscard]] std::uint32_t gemm_tma_accumulator_registers(const GemmTmaConfig& config);

/// Every problem of the configuration on this target, keyed by the option's name; empty when it can run.
[[nodiscard]] std::vector<Diagnostic> check_gemm_tma(const GemmTmaConfig& config, const TargetFacts& target);

/// "tile 128x256x64, 4 stages, cooperative, cluster 2x1 multicast, raster along M by 8".
[[nodiscard]] std::string describe_gemm_tma(const GemmTmaConfig& config);

/// Throws InputError with the problems of check_gemm_tma(), UnsupportedError on a target without TMA or wgmma.
[[nodiscard]] std::unique_ptr<TraceSource> make_gemm_tma(const GemmTmaConfig& config, const TargetFacts& target);

}  // namespace strata

/// GEMM as Hopper's libraries write it: persistent, warp-specialised, TMA loads into a ring of stages, wgmma consumers.
///
/// One producer warp issues two TMA boxes per K tile (its share of A and of B, multicast to the cluster peers that
/// need them). Two consumer warpgroups either share a tile (cooperative, split along one of its dimensions) or take
/// whole tiles in turn (ping-pong, so that one's epilogue hides behind the other's main loop). Clusters take cluster
/// tiles cluster_id, cluster_id + clusters, ... in the order of the raster.
///
/// Not modelled: dynamic tile schedulers, C read by TMA, bias and activation epilogues.
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

/// Instructions and wavefronts that no operation's shape gives, counted per warp of the stream unless said otherwise.
/// Fitted by non-negative least squares to `sm__inst_executed` of the 16 calibration rows of this kernel family:
/// mean error 0.9 %, largest 2.2 %; wavefronts from the same rows. They are properties of the code, not of a chip;
/// other libraries' kernels have their own.
struct GemmTmaCosts {
  /// Producer warp per K tile: two TMA issues, expect-tx, and the polls of the empty barrier.
  std::uint32_t producer_per_k_tile = 47;
  /// Of these, the ones that stand between a free stage and its second TMA box (the rest are failed polls).
  std::uint32_t producer_issue_slots = 12;
  /// Steps of dependent instructions from one K tile of the producer to the next: a thread that computes slots and
  /// coordinates, looks at the stage's barrier and issues two boxes takes 216 clk. Measured on an H200 by instruction
  /// samples of five nvjet kernels: 155 to 233 clk a K tile, mean 190, in which it does not wait for a stage, and some
  /// 25 until the look at a free stage's barrier answers (docs/model/nvjet.md).
  std::uint32_t producer_turn_steps = 54;
  /// Each consumer warp per K tile: full-barrier wait and polls, fence, commit, wait, empty arrive, loop.
  std::uint32_t consumer_per_k_tile = 20;
  /// Each consumer warp per wgmma, in tenths: the instruction and its descriptor arithmetic (3.9).
  std::uint32_t per_wgmma_tenths = 39;
  /// Each consumer warp per accumulator element of a thread, in hundredths: half a pack, an eighth of an stmatrix and
  /// as much addressing. Not identifiable from the rows beside the per-tile count; taken from the instruction forms.
  std::uint32_t per_element_hundredths = 75;
  /// Each consumer warp per tile: tile coordinates and accumulator set-up before, alpha, barriers and stores after.
  std::uint32_t tile_begin = 59;
  std::uint32_t tile_end = 118;
  /// Each of the 12 warps at the start: parameters, barrier set-up, descriptor prefetch, register hand-over.
  std::uint32_t prologue = 128;
  /// Shared-memory wavefronts of barrier traffic per K tile: the producer's and each consumer warpgroup's.
  /// Rows: 1.8-2.7 in all with ping-pong consumers, 10-12.5 with cooperative ones.
  std::uint32_t producer_barrier_wavefronts = 1;
  std::uint32_t ping_pong_barrier_wavefronts = 1;
  std::uint32_t cooperative_barrier_wavefronts = 5;
  std::uint32_t epilogue_conflict_ways = 1;  ///< bank conflicts of the epilogue's staging
  std::uint32_t box_wavefronts = 0;          ///< counted for each of its boxes beside what is staged
  /// Epilogue staging of one consumer warpgroup: one box of 64 x 64 bf16. Boxes are at most 128 B wide: stored
  /// sectors of 168-wide tiles are those of 64 + 64 + 40 columns.
  static constexpr std::uint32_t kStagingBytes = 8192;
  static constexpr std::uint32_t kStoreBoxBytesWide = 128;
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
  bool serpentine = false;         ///< every other band of the raster is swept backwards
  bool tiles_by_gpc = false;       ///< the first tiles in raster order go to the clusters of the first GPC, and so on
  std::uint32_t split_k = 1;       ///< slices; each writes an fp32 partial that a launch of its own reduces
  std::uint32_t num_clusters = 0;  ///< 0 = as many as are resident at once, at most one per cluster tile
  std::uint32_t registers_per_thread = 168;
  std::uint32_t smem_dynamic_bytes = 0;  ///< 0 = stages + epilogue staging + barriers
  bool reads_c = false;                  ///< C is added to the results, read a word at a time where they leave
  bool promote_fp8 = true;               ///< fp8: add each K tile's accumulators to fp32 registers

  GemmTmaCosts costs;

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

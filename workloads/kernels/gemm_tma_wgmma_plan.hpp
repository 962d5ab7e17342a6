/// What a TMA + wgmma GEMM works out once per launch, so that fetch() only copies and patches.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "workloads/kernels/gemm_tma_wgmma.hpp"

namespace strata {

/// Instructions and wavefronts that no operation's shape gives, counted per warp of the stream unless said otherwise.
/// Fitted by non-negative least squares to `sm__inst_executed` of the 16 calibration rows of this kernel family:
/// mean error 0.9 %, largest 2.2 %; wavefronts from the same rows. They are properties of the code, not of a chip.
struct GemmTmaCosts {
  /// Producer warp per K tile: two TMA issues, expect-tx, and the polls of the empty barrier.
  static constexpr std::uint32_t kProducerInstsPerKTile = 47;
  /// Of these, the ones that stand between a free stage and its second TMA box (the rest are failed polls).
  static constexpr std::uint32_t kProducerIssueSlots = 12;
  /// Each consumer warp per K tile: full-barrier wait and polls, fence, commit, wait, empty arrive, loop.
  static constexpr std::uint32_t kConsumerInstsPerKTile = 20;
  /// Each consumer warp per wgmma, in tenths: the instruction and its descriptor arithmetic (3.9).
  static constexpr std::uint32_t kTenthsPerWgmma = 39;
  /// Each consumer warp per accumulator element of a thread, in hundredths: half a pack, an eighth of an stmatrix and
  /// as much addressing. Not identifiable from the rows beside the per-tile count; taken from the instruction forms.
  static constexpr std::uint32_t kHundredthsPerElement = 75;
  /// Each consumer warp per tile: tile coordinates and accumulator set-up before, alpha, barriers and stores after.
  static constexpr std::uint32_t kTileBeginInsts = 59;
  static constexpr std::uint32_t kTileEndInsts = 118;
  /// Each of the 12 warps at the start: parameters, barrier set-up, descriptor prefetch, register hand-over.
  static constexpr std::uint32_t kPrologueInsts = 128;
  /// Shared-memory wavefronts of barrier traffic per K tile: the producer's and each consumer warpgroup's.
  /// Rows: 1.8-2.7 in all with ping-pong consumers, 10-12.5 with cooperative ones.
  static constexpr std::uint32_t kProducerBarrierWavefronts = 1;
  static constexpr std::uint32_t kPingPongBarrierWavefronts = 1;
  static constexpr std::uint32_t kCooperativeBarrierWavefronts = 5;
  /// Epilogue staging of one consumer warpgroup: one box of 64 x 64 bf16. Boxes are at most 128 B wide: stored
  /// sectors of 168-wide tiles are those of 64 + 64 + 40 columns.
  static constexpr std::uint32_t kStagingBytes = 8192;
  static constexpr std::uint32_t kStoreBoxBytesWide = 128;
};

inline constexpr std::uint32_t kMaxClusterSize = 16;
inline constexpr std::uint32_t kMaxStages = 30;  ///< two mbarriers a stage and two for the consumers' turns

class GemmTmaPlan {
 public:
  GemmTmaPlan(const GemmTmaConfig& config, const TargetFacts& target);

  /// A box of C that one consumer stages and stores, relative to the CTA's tile.
  struct StoreBox {
    std::uint32_t row = 0;
    std::uint32_t col = 0;
    std::uint32_t rows = 0;
    std::uint32_t cols = 0;
    std::uint32_t issue_slots = 0;       ///< per warp
    std::uint32_t write_wavefronts = 0;  ///< stmatrix
  };

  /// What a CTA loads and signals, by its rank in the cluster.
  struct Rank {
    std::uint32_t row_offset = 0;  ///< of its tile in the cluster tile, along M
    std::uint32_t col_offset = 0;
    std::uint32_t a_first = 0;  ///< its share of A's rows
    std::uint32_t a_rows = 0;
    std::uint32_t b_first = 0;
    std::uint32_t b_rows = 0;
    std::uint16_t a_mask = 0;  ///< multicast masks; 0 = this CTA only
    std::uint16_t b_mask = 0;
    std::uint16_t empty_mask = 0;  ///< CTAs whose producers wait for this CTA's consumers
  };

  struct Unit {
    std::uint32_t row0 = 0;  ///< of the cluster tile
    std::uint32_t col0 = 0;
    std::uint32_t slice = 0;
    std::uint32_t batch = 0;
    KRange k;
  };
  [[nodiscard]] Unit unit(std::uint64_t index) const {
    const std::uint64_t z = index / tiles;
    const TileOrder::Tile tile = order.at(index - z * tiles);
    const auto slice = static_cast<std::uint32_t>(z % config.split_k);
    return {tile.m * cluster_rows, tile.n * cluster_cols, slice, static_cast<std::uint32_t>(z / config.split_k),
            split_k_range(k_tiles, config.split_k, slice)};
  }

  GemmTmaConfig config;
  GemmAddresses addresses;
  TileOrder order;
  std::uint64_t tiles = 0;  ///< cluster tiles of one slice
  std::uint64_t units = 0;  ///< cluster tiles of all slices and products
  std::uint32_t clusters = 0;
  std::uint32_t k_tiles = 0;
  std::uint32_t cluster_rows = 0;
  std::uint32_t cluster_cols = 0;
  std::int64_t a_step = 0;  ///< bytes per K tile
  std::int64_t b_step = 0;
  bool cooperative = false;
  std::array<Rank, kMaxClusterSize> ranks{};
  std::array<std::vector<StoreBox>, 2> store_boxes;  ///< per consumer warpgroup

  Operation load_a;  ///< templates
  Operation load_b;
  Operation mma;
  Operation promote;
  Operation stage_c;
  Operation store_c;
  Launch launch;

  [[nodiscard]] std::uint8_t full(std::uint32_t stage) const { return static_cast<std::uint8_t>(stage); }
  [[nodiscard]] std::uint8_t empty(std::uint32_t stage) const {
    return static_cast<std::uint8_t>(config.stages + stage);
  }
  [[nodiscard]] std::uint8_t turn(std::uint32_t consumer) const {
    return static_cast<std::uint8_t>(2 * config.stages + consumer);
  }

 private:
  void plan_ranks();
  void plan_store_boxes();
  void plan_templates();
  void plan_launch(const TargetFacts& target);
};

/// Shape of the wgmma instructions of one consumer warpgroup.
struct WgmmaShape {
  std::uint32_t rows = 0;   ///< of the tile, along wgmma's M, that one consumer computes
  std::uint32_t cols = 0;   ///< along wgmma's N
  std::uint32_t n = 0;      ///< N of one instruction
  std::uint32_t k = 0;      ///< K of one instruction, elements
  std::uint32_t count = 0;  ///< instructions per K tile
};
[[nodiscard]] WgmmaShape gemm_tma_wgmma_shape(const GemmTmaConfig& config);

}  // namespace strata

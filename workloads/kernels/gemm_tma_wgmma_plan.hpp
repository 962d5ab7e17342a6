/// What a TMA + wgmma GEMM works out once per launch, so that fetch() only copies and patches.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "workloads/kernels/gemm_tma_wgmma.hpp"

namespace strata {

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

  /// The part of a tile that one CTA loads.
  struct Share {
    std::uint32_t first = 0;  ///< row of the tile, along M or N
    std::uint32_t rows = 0;
    std::uint32_t first_k = 0;
    std::uint32_t depth = 0;  ///< elements along K
  };

  /// What a CTA loads and signals, by its rank in the cluster.
  struct Rank {
    std::uint32_t row_offset = 0;  ///< of its tile in the cluster tile, along M
    std::uint32_t col_offset = 0;
    Share a;  ///< of A's tile
    Share b;
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
  std::vector<std::uint32_t> first_units;  ///< of each cluster
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
  Operation read_c;
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

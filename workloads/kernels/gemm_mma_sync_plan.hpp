/// What a cp.async + mma.sync GEMM works out once per launch, so that fetch() only copies and patches.
#pragma once

#include <cstdint>

#include "workloads/kernels/gemm_mma_sync.hpp"

namespace strata {

/// Instructions beside loads, ldmatrix and mma.sync, per warp. From the instruction sequences of CUTLASS main loops
/// (SASS of the multistage template), not fitted.
struct GemmMmaSyncCosts {
  static constexpr std::uint32_t kPrologueInsts = 120;  ///< parameters, tile coordinates, first addresses
  static constexpr std::uint32_t kPerKTile = 12;        ///< wait, barrier, ring and loop arithmetic
  static constexpr std::uint32_t kPerLoad = 2;          ///< beside each LDGSTS or LDG: address step, predicate
  static constexpr std::uint32_t kPerStore = 4;         ///< beside each global store: conversion, address, predicate
  static constexpr std::uint32_t kBarrierSteps = 8;     ///< dependent steps of a CTA barrier
  static constexpr std::uint32_t kEpilogueParts = 8;    ///< row groups that pass through shared memory in turn
};

class GemmMmaSyncPlan {
 public:
  GemmMmaSyncPlan(const GemmMmaSyncConfig& config, const TargetFacts& target);

  GemmMmaSyncConfig config;
  GemmAddresses addresses;
  TileOrder order;
  std::uint64_t tiles = 0;
  std::uint32_t k_tiles = 0;
  std::uint32_t ahead = 0;  ///< K tiles in flight before the first one is used
  bool through_registers = false;
  std::uint32_t rows_per_part = 0;

  Operation load_a;  ///< templates
  Operation load_b;
  Operation mma;
  Operation stage_tile;  ///< STS of a tile that came through registers
  Operation write_c;     ///< accumulators to shared memory
  Operation read_c;
  Operation store_c;
  Launch launch;

 private:
  void plan_loads();
  void plan_mma();
  void plan_epilogue();
  void plan_launch();
};

}  // namespace strata

/// GEMM as Ampere's libraries write it: a plain grid of CTAs, a ring of cp.async stages, ldmatrix and mma.sync.
///
/// All warps of a CTA run in step between barriers, so a CTA is one stream of `warps` warps. Per K tile: wait for the
/// stage, barrier, issue the loads of the tile `stages` - 1 ahead, ldmatrix and mma.sync of this one. Operands whose
/// rows are not aligned to 4 bytes cannot use cp.async and go through registers (LDG, STS), one tile ahead. The
/// epilogue passes C through shared memory so that global stores are wide.
///
/// Not modelled: beta != 0 (C is never read), bias and activation epilogues, stream-K.
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

struct GemmMmaSyncConfig {
  std::string name;  ///< empty = "gemm_mma_sync"
  GemmProblem problem;
  std::uint32_t tile_m = 128;  ///< of a CTA
  std::uint32_t tile_n = 128;
  std::uint32_t tile_k = 32;
  std::uint32_t warp_m = 64;  ///< of a warp
  std::uint32_t warp_n = 64;
  std::uint32_t stages = 4;
  bool swizzle = true;  ///< shared-memory rows are permuted so that ldmatrix has no bank conflicts
  RasterDirection raster = RasterDirection::kAlongM;
  std::uint32_t raster_group = 8;          ///< tiles across the sweep
  std::uint32_t split_k = 1;               ///< slices; each writes an fp32 partial that a launch of its own reduces
  std::uint32_t registers_per_thread = 0;  ///< 0 = estimated from the warp tile
  std::uint32_t smem_dynamic_bytes = 0;    ///< 0 = stages or epilogue staging, whichever is larger

  [[nodiscard]] std::uint32_t warps() const { return tile_m / warp_m * (tile_n / warp_n); }
};

/// Shape of the mma.sync instruction for a type: K elements of one m16n8 instruction.
[[nodiscard]] std::uint32_t mma_sync_k(DataType type);

[[nodiscard]] std::uint64_t gemm_mma_sync_smem_bytes(const GemmMmaSyncConfig& config);
[[nodiscard]] std::uint32_t gemm_mma_sync_registers(const GemmMmaSyncConfig& config);

/// Bytes per lane that the rows of an operand allow: 16, 8, 4, 2 or 1. Below 4 there is no cp.async.
[[nodiscard]] std::uint32_t access_bytes(std::int64_t pitch_bytes);

/// Every problem of the configuration on this target, keyed by the option's name; empty when it can run.
[[nodiscard]] std::vector<Diagnostic> check_gemm_mma_sync(const GemmMmaSyncConfig& config, const TargetFacts& target);

/// "tile 128x128x32, warps of 64x64, 4 stages, raster along M by 8".
[[nodiscard]] std::string describe_gemm_mma_sync(const GemmMmaSyncConfig& config);

/// Throws InputError with the problems of check_gemm_mma_sync().
[[nodiscard]] std::unique_ptr<TraceSource> make_gemm_mma_sync(const GemmMmaSyncConfig& config,
                                                              const TargetFacts& target);

}  // namespace strata

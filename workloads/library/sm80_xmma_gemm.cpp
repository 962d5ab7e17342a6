#include "workloads/library/sm80_xmma_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/kernels/gemm_mma_sync.hpp"
#include "workloads/kernels/gemm_simt.hpp"
#include "workloads/kernels/tile_split_sum.hpp"
#include "workloads/library/gemm_launch.hpp"
#include "workloads/library/split_producer.hpp"
#include "workloads/library/xmma_name.hpp"

namespace strata {

namespace {

constexpr std::uint32_t kDefaultStages = 3;

bool matches(std::string_view canonical) { return xmma_architecture(canonical).value_or(90) < 90; }

/// Two recorded fp32 launches with 8 and 128 K tiles leave 1750 instructions of a warp for prologue and epilogue at 128
/// results a thread, one tensor-pipe instruction a warp, and 2400 to 3400 wavefronts of a CTA where 1024 would do.
void take_epilogue(GemmCtaCosts& costs) {
  costs.prologue = 300;
  costs.per_element_tenths = 114;
  costs.epilogue_conflict_ways = 2;
  costs.uncounted_tensor = 1;
}

void take_launch(const LaunchRow& row, const XmmaName& name, GemmCtaConfig& config) {
  config.name = canonical_kernel_name(row.kernel);
  config.problem = gemm_problem_of(row, name.layout, name.input, name.output);
  config.tile_m = name.tile[0];
  config.tile_n = name.tile[1];
  config.tile_k = name.tile[2];
  config.stages = name.stages == 0 ? kDefaultStages : name.stages;
  config.raster = RasterDirection::kAlongM;  // recorded grids: x counts the tiles along M
  config.raster_group = 1;
  config.split_k = split_k_of(row, config.problem);
  if (config.split_k > 1) config.split_reduction = split_reduction_of(config);
  if (name.align_elements != 0) {
    config.access_limit_bytes = std::clamp(name.align_elements * bits_of(name.input) / 8, 1U, 16U);
  }
  take_resources(row, config);
  config.warp_slices = name.warps[2];
}

void take_warps(const XmmaName& name, GemmCtaConfig& config) {
  if (config.tile_m % name.warps[0] != 0 || config.tile_n % name.warps[1] != 0) {
    throw UnsupportedError(fmt::format("warps {}x{} of the name do not divide tile {}x{}", name.warps[0], name.warps[1],
                                       config.tile_m, config.tile_n));
  }
  config.warp_m = config.tile_m / name.warps[0];
  config.warp_n = config.tile_n / name.warps[1];
}

BuiltKernel make_ffma(const LaunchRow& row, const TargetFacts& target, const XmmaName& name) {
  GemmSimtConfig config;
  take_launch(row, name, config);
  take_warps(name, config);
  take_epilogue(config.costs);
  // Wavefronts by SASS of six launches (Nsight Compute, H200): 3.0 an LDS.128 (3.3 in warps of 64x64), 3.3 to 3.8 a
  // cp.async of a tile that is turned.
  config.lds_wavefronts = 3;
  config.costs.turned_copy_tenths = 34;
  spread_lanes(config);
  return build_gemm(config, target);
}

BuiltKernel make_tensor(const LaunchRow& row, const TargetFacts& target, const XmmaName& name) {
  GemmMmaSyncConfig config;
  take_launch(row, name, config);
  take_warps(name, config);
  config.mma_k = name.instruction[2];
  take_epilogue(config.costs);
  return build_gemm(config, target);
}

/// execute_split_k_kernel: adds up what the slices of the GEMM before it left, as many as that grid's z says. A CTA
/// adds up 32 rows for each warp along M, its own z counts those of a tile: 1, 2, 2, 4, 2 and 2 with tiles of 32x32,
/// 64x64, 128x64, 256x64, 128x128 and 256x128 and 1, 1, 2, 2, 2 and 4 such warps (cuBLAS 13.0).
BuiltKernel make_sum(const LaunchRow& row, const TargetFacts& target, const XmmaName& name) {
  constexpr std::uint32_t kWarpRows = 32;
  const GemmProblem problem = gemm_problem_of(row, name.layout, name.input, name.output);
  GemmCtaConfig resources;
  take_resources(row, resources);
  TileSplitSumConfig config;
  config.m = static_cast<std::uint64_t>(problem.m);
  config.n = static_cast<std::uint64_t>(problem.n);
  config.batch = static_cast<std::uint32_t>(problem.batch);
  const std::string kernel = canonical_kernel_name(row.kernel);
  config.splits = parts_of_producer(row, target, {"sm80_xmma_gemm"}, kernel.substr(0, kernel.find("_execute_split_k")));
  config.tile_m = name.tile[0];
  config.tile_n = name.tile[1];
  config.warps = warps_of(row, name.warps[0] * name.warps[1]);
  config.parts = std::max(1U, config.tile_m / (kWarpRows * name.warps[0]));
  if (row.grid && row.grid->z % config.batch == 0) config.parts = std::max(1U, row.grid->z / config.batch);
  if (config.tile_m % config.parts != 0) {
    throw UnsupportedError(fmt::format("{} CTAs do not divide the {} rows of a tile", config.parts, config.tile_m));
  }
  config.output = name.output;
  config.registers = row.registers.value_or(config.registers);
  config.smem_bytes = resources.smem_dynamic_bytes;
  config.name = kernel;
  BuiltKernel built;
  built.source = make_tile_split_sum(config);
  expect_ctas(row, built.source->launch());
  built.description = fmt::format("sum of {} parts of {} x {}", config.splits, config.m, config.n);
  note_overruled_cells(row, name.layout, name.input, built);
  return built;
}

BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const XmmaName name = parse_xmma_name(canonical_kernel_name(row.kernel));
  if (name.warps[0] == 0) {
    throw UnsupportedError("the name lacks warpsize<m>x<n>x<k>");
  }
  if (!name.ffma && name.instruction[2] == 0) {
    throw UnsupportedError("the name lacks ffma or tensor<m>x<n>x<k>");
  }
  if (name.groups[0] != 0) {
    throw UnsupportedError("the name has a warpgroupsize, which only sm90 kernels have");
  }
  if (name.splits_k) return make_sum(row, target, name);
  const TileSizes sizes{name.tile[1], name.tile[0], name.tile[2], name.stages};
  std::string warning;
  const LaunchRow fitting = fitting_row(row, least_resources(row, sizes, name.input, name.warps[2]), warning);
  BuiltKernel built = name.ffma ? make_ffma(fitting, target, name) : make_tensor(fitting, target, name);
  expect_ctas(row, built.source->launch());
  note_name(row, name, warning, built);
  return built;
}

}  // namespace

FamilyParser sm80_xmma_gemm_family() { return {"sm80_xmma_gemm", matches, make, "sm80_xmma_gemm_", true}; }

}  // namespace strata

#include "workloads/library/sm90_xmma_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/kernels/gemm_tma_wgmma.hpp"
#include "workloads/library/gemm_launch.hpp"
#include "workloads/library/xmma_name.hpp"

namespace strata {

namespace {

/// Every recorded launch has 231,424 B: a ring of 192 KiB, whatever the tile, and 34 KiB of staging.
constexpr std::uint32_t kRingBytes = 196608;
constexpr std::uint32_t kStagingBytes = 34816;

bool matches(std::string_view canonical) { return xmma_architecture(canonical).value_or(0) == 90; }

ConsumerMode consumers_of(const XmmaName& name) {
  const std::array<std::uint32_t, 3>& g = name.groups;
  if (g == std::array<std::uint32_t, 3>{0, 0, 0} || g == std::array<std::uint32_t, 3>{1, 1, 1}) {
    return ConsumerMode::kPingPong;  // three warpgroups are launched all the same: each consumer has a tile of its own
  }
  if (g == std::array<std::uint32_t, 3>{2, 1, 1}) {
    return ConsumerMode::kCooperativeM;
  }
  if (g == std::array<std::uint32_t, 3>{1, 2, 1}) {
    return ConsumerMode::kCooperativeN;
  }
  throw UnsupportedError(
      fmt::format("warpgroupsize{}x{}x{} is not modelled; expected 1x1x1, 2x1x1 or 1x2x1", g[0], g[1], g[2]));
}

/// The name does not give the cluster. Its x runs along N and its y along M: sectors that SMs asked the L2 for are 4.4
/// of 10.6 million in a 1536^3 of tile 64x128 and cluster 1x8x1, where eight CTAs along M ask for 4.4 and along N
/// for 10.0; 619 of 805 million in an 8192^3 of 256x128 and 1x2x1 (671 and 537). Without the row: two CTAs along the
/// shorter side of the tile, so that they share the longer.
void take_cluster(const LaunchRow& row, GemmTmaConfig& config) {
  if (!row.cluster) {
    const bool along_m = config.tile_m <= config.tile_n;
    config.cluster_m = along_m ? 2 : 1;
    config.cluster_n = along_m ? 1 : 2;
    return;
  }
  if (row.cluster->z != 1) {
    throw UnsupportedError(fmt::format("a cluster of {}x{}x{} CTAs, which shares a tile along K, is not modelled",
                                       row.cluster->x, row.cluster->y, row.cluster->z));
  }
  config.cluster_m = row.cluster->y;
  config.cluster_n = row.cluster->x;
}

/// From two recorded launches with 64 and 128 K tiles: 363 instructions of a CTA per K tile beside wgmma's 3.9 each, of
/// which the producer has 47; the rest of a tile as in sm80_xmma kernels (11 to 13 a result); and about as many bank
/// conflicts as results staged.
GemmTmaCosts xmma_costs() {
  GemmTmaCosts costs;
  costs.consumer_per_k_tile = 39;
  costs.per_element_hundredths = 1210;
  costs.epilogue_conflict_ways = 2;
  return costs;
}

GemmTmaConfig config_of(const LaunchRow& row, const XmmaName& name) {
  GemmTmaConfig config;
  config.name = canonical_kernel_name(row.kernel);
  config.problem = gemm_problem_of(row, name.layout, name.input, name.output);
  config.tile_m = name.tile[0];
  config.tile_n = name.tile[1];
  config.tile_k = name.tile[2];
  config.consumers = consumers_of(name);
  config.costs = xmma_costs();
  const auto stage_bytes =
      static_cast<std::uint32_t>(ring_bytes(config.tile_m, config.tile_n, config.tile_k, 1, name.input));
  const std::uint32_t smem = row.smem_dynamic.value_or(kRingBytes + kStagingBytes);
  config.stages =
      name.stages != 0 ? name.stages : std::max(2U, (smem - std::min(smem, kStagingBytes)) / std::max(1U, stage_bytes));
  take_cluster(row, config);
  config.raster = RasterDirection::kAlongM;
  config.registers_per_thread = row.registers.value_or(168);
  config.smem_dynamic_bytes = row.smem_dynamic.value_or(0);
  config.num_clusters = row.grid ? static_cast<std::uint32_t>(row.grid->count() / config.cluster_size()) : 0;
  return config;
}

BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const XmmaName name = parse_xmma_name(canonical_kernel_name(row.kernel));
  if (name.splits_k) {
    throw UnsupportedError("split-K of sm90_xmma kernels is not modelled");
  }
  if (name.ffma || name.warps[0] != 0) {
    throw UnsupportedError("the name has ffma or a warpsize, which only sm80 kernels have");
  }
  const GemmTmaConfig config = config_of(row, name);
  BuiltKernel built;
  built.source = make_gemm_tma(config, target);
  built.description = describe_gemm_tma(config);
  note_name(row, name, {}, built);
  return built;
}

}  // namespace

FamilyParser sm90_xmma_gemm_family() {
  return {"sm90_xmma_gemm", matches, make, "sm90_xmma_gemm_", false, false, true};
}

}  // namespace strata

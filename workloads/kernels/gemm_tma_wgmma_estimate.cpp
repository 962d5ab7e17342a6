#include <algorithm>

#include "workloads/kernels/gemm_tma_wgmma_plan.hpp"
#include "workloads/kernels/gemm_tma_wgmma_spec.hpp"

namespace strata {

namespace {

/// Rules of thumb for comparing tiles, in SM cycles and bytes per SM cycle; published rates of the H100.
constexpr double kOperandBytesPerCycle = 122;   ///< wgmma operand reads from shared memory
constexpr double kFillBytesPerCycle = 40;       ///< sustained from L2 by one SM with all SMs loading
constexpr double kDeliveredBytesPerCycle = 60;  ///< into one SM's shared memory, multicast included, all SMs loading
constexpr double kTileLatency = 1200;           ///< first stage of a CTA, last store
constexpr double kEpilogueBytesPerCycle = 24;   ///< conversion, staging and store of C

}  // namespace

double estimate_gemm_tma_cycles(const GemmTmaConfig& config, const TargetFacts& target) {
  const WgmmaShape shape = gemm_tma_wgmma_shape(config);
  const GemmProblem& p = config.problem;
  const double k_tiles = static_cast<double>(ceil_div(static_cast<std::uint64_t>(p.k), config.tile_k));
  const double tiles = static_cast<double>(
      ceil_div(static_cast<std::uint64_t>(p.m), std::uint64_t{config.tile_m} * config.cluster_m) *
      ceil_div(static_cast<std::uint64_t>(p.n), std::uint64_t{config.tile_n} * config.cluster_n) * config.split_k);
  const double clusters = std::max(1U, target.num_sms / config.cluster_size());
  const double waves =
      static_cast<double>(ceil_div(static_cast<std::uint64_t>(tiles), static_cast<std::uint64_t>(clusters)));
  const double step_bytes = 32;  // K of one instruction, in bytes
  const double instruction = std::max(shape.n / 2.0, (64 * step_bytes + shape.n * step_bytes) / kOperandBytesPerCycle);
  const double consumers = config.consumers == ConsumerMode::kPingPong ? 1 : 2;
  const double tensor = instruction * shape.count * consumers;
  const double element_bytes = bits_of(p.input) / 8.0;
  // Peers that only pad the cluster share nothing worth having.
  const auto sharing = [&](std::int64_t extent, std::uint32_t tile, std::uint32_t cluster) {
    const std::uint64_t existing = ceil_div(static_cast<std::uint64_t>(extent), tile);
    return config.multicast ? static_cast<double>(std::min<std::uint64_t>(cluster, existing)) : 1.0;
  };
  const double from_l2 = config.tile_m / sharing(p.n, config.tile_n, config.cluster_n) +
                         config.tile_n / sharing(p.m, config.tile_m, config.cluster_m);
  const double fill =
      std::max(from_l2 / kFillBytesPerCycle, (config.tile_m + config.tile_n) / kDeliveredBytesPerCycle) *
      config.tile_k * element_bytes;
  const double per_tile = std::max(tensor, fill) * k_tiles / config.split_k;
  const double epilogue =
      static_cast<double>(config.tile_m) * config.tile_n * bits_of(p.output) / 8.0 / kEpilogueBytesPerCycle;
  const bool hidden = config.consumers == ConsumerMode::kPingPong;
  return kTileLatency + waves * per_tile + (hidden ? 1 : waves) * epilogue;
}

}  // namespace strata

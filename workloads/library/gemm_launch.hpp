/// What the GEMM families read from a row of launches.csv beside the kernel's name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/kernels/gemm_cta.hpp"
#include "workloads/kernels/gemm_mma_sync.hpp"
#include "workloads/kernels/gemm_simt.hpp"
#include "workloads/library/name_words.hpp"
#include "workloads/library/resolve.hpp"

namespace strata {

/// The product that a launch computes. A GEMM's shape is [batch,]M,N,K,layout; of an attention written as GEMMs, the
/// kernel's layout says which of the two it is: TN is Q K^T, NN is P V, one product a head. Throws UnsupportedError.
/// @param layout  as the kernel's name gives it; empty = the shape's
[[nodiscard]] GemmProblem gemm_problem_of(const LaunchRow& row, const std::string& layout, DataType input,
                                          DataType output);

/// Slices of K: what the grid's z holds beyond the batch; 1 without a grid. Throws UnsupportedError when the batch does
/// not divide z.
[[nodiscard]] std::uint32_t split_k_of(const LaunchRow& row, const GemmProblem& problem);

/// Cuts a CTA tile into `warps` warp tiles of the least circumference, which read the fewest fragments, wider along N
/// where there is a tie. False when no cut into multiples of `least_m` x `least_n` exists.
bool cut_warps(GemmCtaConfig& config, std::uint32_t warps, std::uint32_t least_m, std::uint32_t least_n);

/// Warps of a CTA from the launch's block, or `otherwise`.
[[nodiscard]] std::uint32_t warps_of(const LaunchRow& row, std::uint32_t otherwise);

/// What slices of split-K do with sums of `partial_bytes` an element: they leave partials where all of these fit the
/// workspace of 32 MiB that PyTorch gives cuBLAS on Hopper, otherwise each adds to C in its turn. A 1536^3 launch in
/// five slices and a 3001^3 one in four read C, launches of 256^3 and 1023^3 in four do not.
[[nodiscard]] SplitKReduction split_reduction_of(const GemmCtaConfig& config);

/// What a kernel cannot do without, by its name: a ring for the stages of both tiles, and the accumulators.
struct LeastResources {
  std::uint64_t smem_bytes = 0;
  std::uint64_t registers = 0;  ///< of a thread
};
[[nodiscard]] std::uint64_t ring_bytes(std::uint32_t tile_m, std::uint32_t tile_n, std::uint32_t tile_k,
                                       std::uint32_t stages, DataType type);
/// Of a CTA that cuts its tile over the threads of the row's block, `slices` times along K; sizes that the name lacks
/// take nothing.
[[nodiscard]] LeastResources least_resources(const LaunchRow& row, const TileSizes& sizes, DataType type,
                                             std::uint32_t slices);
/// The row without registers or shared memory that are less than that; `warning` says so then.
[[nodiscard]] LaunchRow fitting_row(const LaunchRow& row, const LeastResources& least, std::string& warning);

/// Registers and shared memory, where the row has them.
void take_resources(const LaunchRow& row, GemmCtaConfig& config);

/// Gives each lane its part of the warp's tile: four lanes along the shorter side, eight along the other.
void spread_lanes(GemmSimtConfig& config);

[[nodiscard]] BuiltKernel build_gemm(const GemmSimtConfig& config, const TargetFacts& target);
[[nodiscard]] BuiltKernel build_gemm(const GemmMmaSyncConfig& config, const TargetFacts& target);

/// Notes and lists the words of a kernel's name that its parser does not understand.
void note_unknown_words(const std::vector<std::string>& words, BuiltKernel& built);

/// Warns where the row's layout or type of operands is not that of the kernel's name, which is simulated.
void note_overruled_cells(const LaunchRow& row, const std::string& layout, DataType input, BuiltKernel& built);

/// Both of them for a parsed name of a vendor library's GEMM.
/// @param resources  the warning of fitting_row(), which yields to one about the name
template <class Name>
void note_name(const LaunchRow& row, const Name& name, const std::string& resources, BuiltKernel& built) {
  note_unknown_words(name.unknown, built);
  note_overruled_cells(row, name.layout, name.input, built);
  if (built.warning.empty()) built.warning = resources;
}

/// Throws UnsupportedError when the row's grid has another number of CTAs than the generator.
void expect_ctas(const LaunchRow& row, const Launch& launch);

}  // namespace strata

#include "workloads/library/split_k_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/kernels/arithmetic.hpp"
#include "workloads/kernels/split_sum.hpp"
#include "workloads/library/cpp_name.hpp"
#include "workloads/library/flash_attention_2_row.hpp"
#include "workloads/library/nvjet.hpp"
#include "workloads/library/row_shape.hpp"
#include "workloads/library/shape.hpp"

namespace strata {
namespace {

constexpr const char* kKernel = "splitKreduce_kernel";
constexpr std::uint64_t kMaxSplits = 256;

bool matches(std::string_view canonical) { return calls_kernel(canonical, kKernel); }

/// The name does not say into how many parts cuBLAS split K; it splits until the CTAs fill the GPU once. The GEMMs
/// whose accumulator type the name gives as float are nvjet kernels with one CTA per SM and small tiles (2 parts at M
/// <= 64 and N >= 4096, 16 at 128 x 128), the others CUTLASS kernels of 128 x 128 with two CTAs per SM (12 parts at 333
/// x 777).
std::uint32_t likely_splits(const GemmCells& g, bool nvjet, std::uint32_t num_sms) {
  const auto m = static_cast<std::uint64_t>(g.m);
  const auto n = static_cast<std::uint64_t>(g.n);
  const auto k = static_cast<std::uint64_t>(g.k);
  const std::uint64_t tiles = nvjet ? ceil_div(n, 64) * ceil_div(m, 32) : ceil_div(n, 128) * ceil_div(m, 128);
  std::uint64_t splits = std::uint64_t{num_sms} * (nvjet ? 1 : 2) / tiles;
  if (nvjet) splits = std::bit_floor(std::max<std::uint64_t>(splits, 1));
  const std::uint64_t deepest = std::max<std::uint64_t>(2, k / 64);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(splits, 2, deepest));
}

/// Parts that the GEMM before the sum made: grid z of CUTLASS kernels, CTAs per tile of nvjet kernels; 0 if unknown.
std::uint32_t producer_splits(const LaunchRow& row, const GemmCells& g) {
  if (!row.producer_grid) return 0;
  if (row.producer_grid->z > 1) return row.producer_grid->z;
  const std::string name = canonical_kernel_name(row.producer_kernel);
  if (!name.starts_with("nvjet_") || name.find("splitK") == std::string::npos) return 0;
  const NvjetName nvjet = parse_nvjet_name(name);
  const auto clusters = [](std::uint64_t elements, std::uint32_t tile, std::uint32_t cluster) {
    return ceil_div(ceil_div(elements, tile), cluster) * cluster;
  };
  const std::uint64_t tiles = clusters(static_cast<std::uint64_t>(g.m), nvjet.tile_m, nvjet.cluster_m) *
                              clusters(static_cast<std::uint64_t>(g.n), nvjet.tile_n, nvjet.cluster_n);
  const std::uint64_t splits = row.producer_grid->count() / tiles;
  return splits > 1 && splits <= kMaxSplits ? static_cast<std::uint32_t>(splits) : 0;
}

/// splitKreduce_kernel<threads x, threads y, index, partial sums, output, ...>
BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  constexpr std::size_t kAccumulator = 8;
  const std::string name = canonical_kernel_name(row.kernel);
  const auto arguments = template_arguments(name, kKernel);
  SplitKSumConfig c;
  c.block_cols = integer_argument(arguments, 0);
  c.block_rows = integer_argument(arguments, 1);
  c.partial = type_argument(arguments, 3);
  c.output = type_argument(arguments, 4);
  if (c.block_cols == 0 || c.block_cols % 32 != 0 || c.block_rows == 0 ||
      std::uint64_t{c.block_cols} * c.block_rows > 1024) {
    throw UnsupportedError(fmt::format("block {}x{} is not modelled", c.block_cols, c.block_rows));
  }
  const GemmCells g = parse_gemm_shape(row.shape);
  constexpr std::int64_t kMaxSide = 0x7fffffff;
  if (g.m > kMaxSide || g.n > kMaxSide) {
    throw UnsupportedError(fmt::format("{} x {} sums; at most 2^31 - 1 each are simulated", g.m, g.n));
  }
  c.rows = static_cast<std::uint64_t>(g.m);
  c.cols = static_cast<std::uint64_t>(g.n);
  const bool nvjet = arguments.size() <= kAccumulator || arguments[kAccumulator] == "float";
  c.splits = producer_splits(row, g);
  const bool known = c.splits > 0;
  if (!known) c.splits = likely_splits(g, nvjet, std::max(1U, target.num_sms));
  c.active_wavefronts = nvjet ? 2 : 1;
  // Launches seen have at most four CTAs an SM; where the rows need more, CTAs walk over them.
  constexpr std::uint64_t kCtasOfSm = 4;
  const std::uint64_t most = kCtasOfSm * std::max(1U, target.num_sms);
  c.grid_rows = row.grid
                    ? row.grid->y
                    : static_cast<std::uint32_t>(std::max<std::uint64_t>(1, most / ceil_div(c.cols, c.block_cols)));
  c.registers = row.registers.value_or(32);
  c.name = name;
  check_memory(
      static_cast<double>(c.rows * c.cols) * (double{1} * c.splits * bits_of(c.partial) + bits_of(c.output)) / 8,
      target);
  BuiltKernel built;
  built.source = make_splitk_sum(c);
  expect_grid(row, built.source->launch().grid);
  built.description = fmt::format("sum of {} parts of {} x {}", c.splits, c.rows, c.cols);
  if (!known) built.notes.push_back(fmt::format("{} parts assumed", c.splits));
  return built;
}

}  // namespace

FamilyParser split_k_sum_family() { return FamilyParser{"splitk_sum", &matches, &make, kKernel, true}; }

}  // namespace strata

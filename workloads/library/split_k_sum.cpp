#include "workloads/library/split_k_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/kernels/arithmetic.hpp"
#include "workloads/kernels/split_sum.hpp"
#include "workloads/library/cpp_name.hpp"
#include "workloads/library/flash_attention_2_row.hpp"
#include "workloads/library/row_shape.hpp"
#include "workloads/library/shape.hpp"
#include "workloads/library/split_producer.hpp"

namespace strata {
namespace {

constexpr const char* kKernel = "splitKreduce_kernel";
constexpr std::uint32_t kMaxSplits = 256;

bool matches(std::string_view canonical) { return calls_kernel(canonical, kKernel); }

/// splitKreduce_kernel<threads x, threads y, index, partial sums, output, ...>
BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  constexpr std::size_t kAccumulator = 8;
  const std::string name = canonical_kernel_name(row.kernel);
  const auto arguments = whole_arguments(name, kKernel);
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
  c.splits = parts_of_producer(row, target, {"nvjet", "cutlass_gemm", "ampere_gemm", "sm80_xmma_gemm"});
  if (c.splits > kMaxSplits) {
    throw UnsupportedError(fmt::format("{} parts; at most {} are simulated", c.splits, kMaxSplits));
  }
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
  built.warning = overruled_operator(row, "gemm");
  return built;
}

}  // namespace

FamilyParser split_k_sum_family() { return FamilyParser{"splitk_sum", &matches, &make, kKernel, true}; }

}  // namespace strata

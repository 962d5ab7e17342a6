#include "workloads/library/attention_split_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/kernels/arithmetic.hpp"
#include "workloads/kernels/split_sum.hpp"
#include "workloads/library/cpp_name.hpp"
#include "workloads/library/flash_attention_2_row.hpp"
#include "workloads/library/row_shape.hpp"

namespace strata {
namespace {

constexpr const char* kCombine = "flash_fwd_splitkv_combine_kernel";
constexpr const char* kLean = "lean_reduction_kernel";
constexpr std::uint32_t kMaxSplits = 128;

bool matches_combine(std::string_view canonical) { return calls_kernel(canonical, kCombine); }
bool matches_lean(std::string_view canonical) { return calls_kernel(canonical, kLean); }

std::uint64_t rows_of(const AttentionShape& s) { return std::uint64_t{s.batch} * s.heads * s.q_len; }

/// FlashAttention-2's num_splits_heuristic: the fewest parts that fill the GPU's waves at least 85 % as well as the
/// best number does. `slots`: twice the SMs.
std::uint32_t flash_splits(std::uint64_t tiles, std::uint64_t slots, std::uint64_t kv_blocks) {
  if (static_cast<double>(tiles) >= 0.8 * static_cast<double>(slots)) return 1;
  const std::uint64_t most = std::min({std::uint64_t{kMaxSplits}, slots, kv_blocks});
  std::vector<double> efficiency(most + 1, 0.0);
  double best = 0;
  for (std::uint64_t n = 1; n <= most; ++n) {
    const bool eligible = n == 1 || ceil_div(kv_blocks, n) != ceil_div(kv_blocks, n - 1);
    if (!eligible) continue;
    const double waves = static_cast<double>(tiles * n) / static_cast<double>(slots);
    efficiency[n] = waves / static_cast<double>(ceil_div(tiles * n, slots));
    best = std::max(best, efficiency[n]);
  }
  for (std::uint64_t n = 1; n <= most; ++n) {
    if (efficiency[n] >= 0.85 * best) return static_cast<std::uint32_t>(n);
  }
  return 1;
}

/// Parts that the attention kernel before the sum made: FlashAttention-2 counts them along grid y, cuDNN along x.
std::uint32_t producer_splits(const LaunchRow& row) {
  if (!row.producer_grid) return 0;
  const bool flash = row.producer_kernel.find("flash_fwd_splitkv_kernel") != std::string::npos;
  const std::uint32_t splits = flash ? row.producer_grid->y : row.producer_grid->x;
  const bool attention = flash || row.producer_kernel.find("flash_fprop") != std::string::npos;
  return attention && splits > 1 && splits <= kMaxSplits ? splits : 0;
}

BuiltKernel finish(const AttentionSplitConfig& c, std::unique_ptr<TraceSource> source, const LaunchRow& row) {
  BuiltKernel built;
  built.source = std::move(source);
  expect_grid(row, built.source->launch().grid);
  built.description = fmt::format("sum of {} attention parts, {} rows of {}", c.splits, c.rows, c.head_dim);
  return built;
}

/// flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<head dim, tile rows, tile columns, ...>, rows of a CTA,
/// log2 of the most parts, head dim is even>
BuiltKernel make_combine(const LaunchRow& row, const TargetFacts& target) {
  const std::string name = canonical_kernel_name(row.kernel);
  const auto arguments = template_arguments(name, kCombine);
  const auto traits = template_arguments(name, "Flash_fwd_kernel_traits");
  AttentionShape s = attention_shape_of(row);
  AttentionSplitConfig c;
  c.rows = rows_of(s);
  c.head_dim = s.head_dim;
  c.rows_per_cta = integer_argument(arguments, 1);
  const std::uint32_t log2 = integer_argument(arguments, 2);
  const std::uint32_t tile_m = integer_argument(traits, 1);
  const std::uint32_t tile_n = integer_argument(traits, 2);
  if (c.rows_per_cta == 0 || c.rows_per_cta > 64 || log2 == 0 || log2 > 7 || tile_m == 0 || tile_n == 0) {
    throw UnsupportedError("the kernel name's tile, rows or number of parts are out of range");
  }
  c.max_splits = 1U << log2;
  // One query of grouped heads is run as a group of queries of one head.
  const bool grouped = s.q_len == 1 && s.kv_heads < s.heads;
  const std::uint64_t q = grouped ? s.heads / s.kv_heads : s.q_len;
  const std::uint64_t heads = grouped ? s.kv_heads : s.heads;
  const std::uint64_t tiles = s.batch * heads * ceil_div(q, tile_m);
  const std::uint32_t splits = flash_splits(tiles, std::uint64_t{2} * target.num_sms, ceil_div(s.kv_len, tile_n));
  const std::uint32_t made = producer_splits(row);
  c.splits = std::clamp(made > 0 ? made : splits, c.max_splits / 2 + 1, c.max_splits);
  if (name.find("half_t") != std::string::npos) c.output = DataType::kFp16;
  c.registers = row.registers.value_or(54);
  c.name = name.substr(0, name.find('<'));
  return finish(c, make_flash_combine(c), row);
}

/// lean_reduction_kernel says nothing; the attention kernel before it splits until it has two CTAs per SM (8 parts of
/// 32 heads on 132 SMs).
BuiltKernel make_lean(const LaunchRow& row, const TargetFacts& target) {
  const AttentionShape s = attention_shape_of(row);
  AttentionSplitConfig c;
  c.rows = rows_of(s);
  c.batch = s.batch;
  c.head_dim = s.head_dim;
  c.output = s.dtype;
  const std::uint64_t tiles = std::max<std::uint64_t>(1, std::uint64_t{s.batch} * s.heads * ceil_div(s.q_len, 16));
  c.splits = producer_splits(row);
  const bool known = c.splits > 0;
  if (!known) {
    c.splits =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(std::uint64_t{2} * target.num_sms / tiles, 2, kMaxSplits));
  }
  c.max_splits = c.splits;
  c.registers = row.registers.value_or(32);
  c.name = kLean;
  BuiltKernel built = finish(c, make_lean_reduction(c), row);
  if (!known) built.notes.push_back(fmt::format("{} parts assumed", c.splits));
  return built;
}

}  // namespace

FamilyParser flash_combine_family() {
  return FamilyParser{"flash_combine", &matches_combine, &make_combine, kCombine, true};
}

FamilyParser lean_reduction_family() { return FamilyParser{"lean_reduction", &matches_lean, &make_lean, kLean, true}; }

}  // namespace strata

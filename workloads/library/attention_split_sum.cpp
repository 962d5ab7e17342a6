#include "workloads/library/attention_split_sum.hpp"

#include <fmt/format.h>

#include <string>

#include "sim/base/error.hpp"
#include "workloads/kernels/split_sum.hpp"
#include "workloads/library/cpp_name.hpp"
#include "workloads/library/flash_attention_2_row.hpp"
#include "workloads/library/flash_traits.hpp"
#include "workloads/library/row_shape.hpp"
#include "workloads/library/split_producer.hpp"

namespace strata {
namespace {

constexpr const char* kCombine = "flash_fwd_splitkv_combine_kernel";
constexpr const char* kLean = "lean_reduction_kernel";
constexpr const char* kTraits = "Flash_fwd_kernel_traits";

bool matches_combine(std::string_view canonical) { return calls_kernel(canonical, kCombine); }
bool matches_lean(std::string_view canonical) { return calls_kernel(canonical, kLean); }

std::uint64_t rows_of(const AttentionShape& s) { return std::uint64_t{s.batch} * s.heads * s.q_len; }

BuiltKernel finish(const AttentionSplitConfig& c, std::unique_ptr<TraceSource> source, const LaunchRow& row) {
  BuiltKernel built;
  built.source = std::move(source);
  expect_grid(row, built.source->launch().grid);
  built.warning = overruled_operator(row, "attention");
  built.description = fmt::format("sum of {} attention parts, {} rows of {}", c.splits, c.rows, c.head_dim);
  return built;
}

/// flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<head dim, tile rows, tile columns, ...>, rows of a CTA,
/// log2 of the most parts, head dim is even>
BuiltKernel make_combine(const LaunchRow& row, const TargetFacts& target) {
  const std::string name = canonical_kernel_name(row.kernel);
  const auto arguments = whole_arguments(name, kCombine);
  const auto traits = template_arguments(name, kTraits);
  const AttentionShape s = attention_shape_of(row);
  AttentionSplitConfig c;
  c.rows = rows_of(s);
  c.head_dim = s.head_dim;
  c.rows_per_cta = integer_argument(arguments, 1);
  const std::uint32_t log2 = integer_argument(arguments, 2);
  if (c.rows_per_cta == 0 || c.rows_per_cta > 64 || log2 == 0 || log2 > 7) {
    throw UnsupportedError("the kernel name's rows or number of parts are out of range");
  }
  if (const std::uint32_t named = integer_argument(traits, 0); named != s.head_dim) {
    throw UnsupportedError(fmt::format("head dim {} padded to {} is not modelled", s.head_dim, named));
  }
  c.max_splits = 1U << log2;
  // A sum of parts of another tile or type is another attention's.
  const std::string parts = name.substr(name.find(kTraits), name.find('>') - name.find(kTraits));
  c.splits = parts_of_producer(row, target, {"flash_split_kv"}, parts);
  if (c.splits <= c.max_splits / 2 || c.splits > c.max_splits) {
    throw UnsupportedError(fmt::format("{} parts, of the launch before it; the kernel's name is for {} to {}", c.splits,
                                       c.max_splits / 2 + 1, c.max_splits));
  }
  c.output = flash_element(name);
  c.registers = row.registers.value_or(54);
  c.name = name.substr(0, name.find('<'));
  BuiltKernel built = finish(c, make_flash_combine(c), row);
  if (built.warning.empty()) built.warning = overruled_type(row, c.output);
  return built;
}

/// lean_reduction_kernel says nothing: type and parts are those of the attention kernel before it.
BuiltKernel make_lean(const LaunchRow& row, const TargetFacts& target) {
  const AttentionShape s = attention_shape_of(row);
  AttentionSplitConfig c;
  c.rows = rows_of(s);
  c.batch = s.batch;
  c.head_dim = s.head_dim;
  c.output = s.dtype;
  c.splits = parts_of_producer(row, target, {"cudnn_sm80_attention"});
  c.max_splits = c.splits;
  c.registers = row.registers.value_or(32);
  c.name = kLean;
  return finish(c, make_lean_reduction(c), row);
}

}  // namespace

FamilyParser flash_combine_family() {
  return FamilyParser{"flash_combine", &matches_combine, &make_combine, kCombine, true};
}

FamilyParser lean_reduction_family() { return FamilyParser{"lean_reduction", &matches_lean, &make_lean, kLean, true}; }

}  // namespace strata

#include "workloads/library/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/kernels/options.hpp"
#include "workloads/library/ampere_gemm.hpp"
#include "workloads/library/attention_split_sum.hpp"
#include "workloads/library/cudnn_attention.hpp"
#include "workloads/library/cudnn_sm80_attention.hpp"
#include "workloads/library/cutlass_gemm.hpp"
#include "workloads/library/elementwise.hpp"
#include "workloads/library/families.hpp"
#include "workloads/library/flash_attention_2.hpp"
#include "workloads/library/flash_split_kv.hpp"
#include "workloads/library/ladder_attention.hpp"
#include "workloads/library/ladder_block.hpp"
#include "workloads/library/ladder_gemm.hpp"
#include "workloads/library/ladder_plain.hpp"
#include "workloads/library/layer_norm.hpp"
#include "workloads/library/not_modelled.hpp"
#include "workloads/library/nvjet.hpp"
#include "workloads/library/sm80_xmma_gemm.hpp"
#include "workloads/library/sm90_xmma_gemm.hpp"
#include "workloads/library/softmax.hpp"
#include "workloads/library/split_k_sum.hpp"
#include "workloads/library/tensor_reduce.hpp"
#include "workloads/library/triangle.hpp"

namespace strata {

std::span<const FamilyParser> kernel_families() {
  static const std::array kFamilies{
      nvjet_family(),
      flash_attention_2_family(),
      cudnn_sm90_attention_family(),
      elementwise_family(),
      softmax_family(),
      layer_norm_family(),
      tensor_reduce_family(),
      triangle_family(),
      split_k_sum_family(),
      flash_combine_family(),
      lean_reduction_family(),
      cutlass_gemm_family(),
      sm80_xmma_gemm_family(),
      sm90_xmma_gemm_family(),
      ampere_gemm_family(),
      flash_split_kv_family(),
      cudnn_sm80_attention_family(),
      ladder_simt_family(),
      ladder_mma_family(),
      ladder_wmma_family(),
      ladder_wgmma_family(),
      ladder_rows_family(),
      ladder_elementwise_family(),
      ladder_splitk_sum_family(),
      ladder_plain_gemm_family(),
      ladder_gemv_family(),
      ladder_transpose_family(),
      ladder_rotary_family(),
      ladder_attention_family(),
  };
  return kFamilies;
}

namespace {

const FamilyParser* find_family(std::string_view canonical) {
  for (const FamilyParser& family : kernel_families()) {
    if (family.matches(canonical)) {
      return &family;
    }
  }
  return nullptr;
}

/// Problems that stand on a line each, one after the other.
std::string on_one_line(std::string_view problems) {
  std::string out;
  for (const char c : problems) {
    out += c == '\n' ? std::string("; ") : std::string(1, c);
  }
  return out;
}

/// The identifier before template arguments, without namespaces: what a person would call the kernel.
std::string identifier_of(const std::string& canonical) {
  std::string text = canonical.substr(0, canonical.find('<'));
  const std::size_t colon = text.rfind("::");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

/// The family whose names begin with this one, which is too long for chance: a profiler cut it. Null where none does.
const FamilyParser* family_of_cut(const std::string& canonical) {
  constexpr std::size_t kFewest = 8;
  const std::string name = identifier_of(canonical);
  for (const FamilyParser& family : kernel_families()) {
    const std::string_view stem = family.stem;
    if (name.size() >= kFewest && stem.starts_with(name)) return &family;
  }
  return nullptr;
}

/// The family whose names begin most nearly as this one; null when no more than two letters of three agree.
const FamilyParser* nearest_family(const std::string& canonical) {
  const std::string name = identifier_of(canonical);
  const FamilyParser* best = nullptr;
  double least = 1.0 / 3;
  for (const FamilyParser& family : kernel_families()) {
    const std::string_view stem = family.stem[0] == '\0' ? family.family : family.stem;
    const double share =
        static_cast<double>(word_distance(name.substr(0, stem.size()), stem)) / static_cast<double>(stem.size());
    if (share < least) {
      least = share;
      best = &family;
    }
  }
  return best;
}

/// Throws UnsupportedError, or InputError for a word that is no data type, where a launch's cells rule out that this
/// GPU ran it, whatever the kernel.
void check_cells(const LaunchRow& row, const TargetFacts& target) {
  if (!row.dtype.empty()) {
    static_cast<void>(parse_data_type(row.dtype));
  }
  const std::uint64_t smem = std::uint64_t{row.smem_dynamic.value_or(0)} + row.smem_static.value_or(0);
  if (target.smem_per_cta_bytes > 0 && smem > static_cast<std::uint64_t>(target.smem_per_cta_bytes)) {
    throw UnsupportedError(fmt::format("{} B of dynamic and static shared memory; a CTA of this GPU may have {} B",
                                       smem, target.smem_per_cta_bytes));
  }
}

/// A word that is nearly an operator whose shape or kernel differs from an elementwise one's, but is not. Elementwise
/// operators are many and near each other: any word may be one.
std::string misspelt_operator(const LaunchRow& row) {
  static constexpr std::array<std::string_view, 7> kOperators{"attention",  "softmax",  "layernorm", "rmsnorm",
                                                              "layer_norm", "rms_norm", "transpose"};
  constexpr std::size_t kFewEdits = 2;
  if (std::find(kOperators.begin(), kOperators.end(), row.op) != kOperators.end()) {
    return {};
  }
  for (const std::string_view known : kOperators) {
    if (word_distance(row.op, known) <= kFewEdits) {
      return fmt::format("an op of '{}', which is taken for an elementwise one; did you mean '{}'?", row.op, known);
    }
  }
  return {};
}

/// Where the grid, block or cluster of a row is not that of the kernel which its name and shape describe: which one
/// held. Families that take the row's grid, or refuse one that does not fit, have the same.
std::string overruled_dims(const LaunchRow& row, const FamilyParser& family, const Launch& launch) {
  if (row.block && row.block->count() != launch.block.count()) {
    return fmt::format("a block of {} threads; the kernel's own {} are simulated", row.block->count(),
                       launch.block.count());
  }
  if (family.names_cluster && row.cluster && *row.cluster != launch.cluster) {
    return fmt::format("a cluster of {}x{}x{} CTAs; the kernel's own {}x{}x{} is simulated", row.cluster->x,
                       row.cluster->y, row.cluster->z, launch.cluster.x, launch.cluster.y, launch.cluster.z);
  }
  if (row.grid && row.grid->count() != launch.num_ctas()) {
    return fmt::format("a grid of {} CTAs; the kernel's own {} are simulated", row.grid->count(), launch.num_ctas());
  }
  return {};
}

}  // namespace

std::string family_of(std::string_view kernel_name) {
  const FamilyParser* family = find_family(canonical_kernel_name(kernel_name));
  return family == nullptr ? std::string{} : family->family;
}

bool uses_producer(std::string_view kernel_name) {
  const FamilyParser* family = find_family(canonical_kernel_name(kernel_name));
  return family != nullptr && family->uses_producer;
}

void expect_asked_type(const LaunchRow& row, DataType named) {
  if (row.asked.dtype.empty()) {
    return;
  }
  const DataType asked = parse_data_type(row.asked.dtype);
  if (asked != named && !(asked == DataType::kFp32 && named == DataType::kTf32)) {
    throw UnsupportedError(
        fmt::format("the name says {}, --dtype says {}; leave out one of the two", to_string(named), to_string(asked)));
  }
}

std::string overruled_type(const LaunchRow& row, DataType named) {
  const auto plain = [](DataType type) { return type == DataType::kTf32 ? DataType::kFp32 : type; };
  if (row.dtype.empty() || plain(parse_data_type(row.dtype)) == plain(named)) {
    return {};
  }
  return fmt::format("operands of {}; the {} of the kernel's name is simulated", row.dtype, to_string(named));
}

std::string overruled_operator(const LaunchRow& row, const std::string& named) {
  if (row.op.empty() || row.op.starts_with(named)) {
    return {};
  }
  return fmt::format("an op of '{}'; the {} of the kernel's name is simulated", row.op, named);
}

std::string overruled_row_operator(const LaunchRow& row, const std::string& named) {
  std::string op;
  std::remove_copy(row.op.begin(), row.op.end(), std::back_inserter(op), '_');
  const bool fits = op.empty() || op == "attention" || op == "gemm" || op.find(named) != std::string::npos;
  return fits ? std::string{} : fmt::format("an op of '{}'; the {} of the kernel's name is simulated", row.op, named);
}

BuiltKernel resolve_launch(const LaunchRow& row, const TargetFacts& target) {
  const std::string canonical = canonical_kernel_name(row.kernel);
  if (canonical.empty()) {
    throw UnsupportedError("the kernel's name is missing");
  }
  const FamilyParser* family = find_family(canonical);
  if (family == nullptr) {
    if (const std::string_view reason = reason_not_modelled(canonical); !reason.empty()) {
      throw UnsupportedError(fmt::format("kernel '{}': {}", identifier_of(canonical), reason));
    }
    if (canonical.size() == 4 && std::equal(canonical.begin(), canonical.end(), "auto",
                                            [](unsigned char a, char b) { return std::tolower(a) == b; })) {
      throw UnsupportedError(fmt::format("kernel '{}' is of no known family; did you mean 'auto'?", canonical));
    }
    if (canonical.starts_with("_Z")) {
      throw UnsupportedError(
          fmt::format("kernel '{}' is a mangled name; give it as c++filt prints it", identifier_of(canonical)));
    }
    if (const FamilyParser* cut = family_of_cut(canonical)) {
      throw UnsupportedError(fmt::format("kernel '{}' is cut short: names of {} begin '{}'; record whole names",
                                         identifier_of(canonical), cut->family, cut->stem));
    }
    const FamilyParser* nearest = nearest_family(canonical);
    throw UnsupportedError(fmt::format("kernel '{}' is of no known family{}", identifier_of(canonical),
                                       nearest == nullptr ? "" : fmt::format("; the nearest is {}", nearest->family)));
  }
  try {
    if (family->needs_wgmma && !(target.has_wgmma && target.has_tma)) {
      throw UnsupportedError(kNeedsWgmma);
    }
    check_cells(row, target);
    BuiltKernel built = family->make(row, target);
    if (row.parts_are_summed && !row.grid && built.parts < 2) {
      throw UnsupportedError("K was split (a splitKreduce launch follows); record grid_dim");
    }
    if (built.warning.empty()) {
      built.warning = overruled_dims(row, *family, built.source->launch());
    }
    if (built.warning.empty()) {
      built.warning = misspelt_operator(row);
    }
    return built;
  } catch (const InputError& error) {
    throw UnsupportedError(fmt::format("{}: {}", family->family, on_one_line(error.what())));
  } catch (const UnsupportedError& error) {
    throw UnsupportedError(fmt::format("{}: {}", family->family, error.what()));
  }
}

}  // namespace strata

#include "workloads/library/ladder_plain.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "sim/base/error.hpp"
#include "workloads/kernels/gemm_plain.hpp"
#include "workloads/kernels/gemv.hpp"
#include "workloads/kernels/rotary.hpp"
#include "workloads/kernels/transpose.hpp"
#include "workloads/library/gemm_launch.hpp"
#include "workloads/library/ladder_name.hpp"
#include "workloads/library/name_words.hpp"
#include "workloads/library/row_shape.hpp"

namespace strata {

namespace {

bool matches_plain_gemm(std::string_view canonical) {
  static constexpr std::array<std::string_view, 2> kStems{"gemm_naive_", "gemm_tiled_"};
  return is_ladder_name(canonical, kStems);
}

/// Each of the two rungs was compiled for one tile and one type; the generator has no others.
void expect_plain_words(const LadderGemmName& name) {
  const bool tiled = name.rung == "tiled";
  const std::uint32_t side = tiled ? 32 : 16;
  const std::uint32_t depth = tiled ? 32 : 0;
  if (name.tile_m != side || name.tile_n != side || name.tile_k != depth) {
    const std::string depth_word = name.tile_k > 0 ? fmt::format("x{}", name.tile_k) : std::string{};
    throw UnsupportedError(fmt::format("a tile of {}x{}{}; the ladder's {} kernels have {}", name.tile_m, name.tile_n,
                                       depth_word, name.rung, tiled ? "32x32x32" : "16x16"));
  }
  if (name.type != DataType::kFp32) {
    throw UnsupportedError(
        fmt::format("the name says {}; the ladder's {} kernels multiply fp32", to_string(name.type), name.rung));
  }
}

BuiltKernel make_plain_gemm(const LaunchRow& row, const TargetFacts& target) {
  GemmPlainConfig c;
  c.name = canonical_kernel_name(row.kernel);
  const LadderGemmName name = parse_ladder_gemm_name(c.name);
  expect_plain_words(name);
  c.problem = gemm_problem_of(row, name.layout, DataType::kFp32, DataType::kFp32);
  if (c.problem.batch > 1) {
    throw UnsupportedError(fmt::format("shape '{}': {} kernels multiply one pair of matrices; expected M,N,K,layout",
                                       row.shape, name.rung));
  }
  c.tiled = name.rung == "tiled";
  c.strided = name.strided;
  c.pad = name.pad;
  c.reads_c = row.op == "gemm_beta";
  c.registers = row.registers.value_or(32);
  BuiltKernel built;
  built.source = make_gemm_plain(c, target);
  built.description = fmt::format("{} {}x{}", name.rung, name.tile_m, name.tile_n);
  expect_ctas(row, built.source->launch());
  note_overruled_cells(row, name.layout, DataType::kFp32, built);
  return built;
}

bool matches_gemv(std::string_view canonical) {
  static constexpr std::array<std::string_view, 1> kStems{"gemv_"};
  return is_ladder_name(canonical, kStems);
}

/// strata_gemv_w8_<type>_<layout>
BuiltKernel make_ladder_gemv(const LaunchRow& row, const TargetFacts& target) {
  GemvConfig c;
  c.name = canonical_kernel_name(row.kernel);
  const std::vector<std::string_view> words = words_of(c.name);
  const auto type = words.size() == 5 ? operand_type(words[3]) : std::nullopt;
  const bool known = type == DataType::kFp32 || type == DataType::kBf16;
  if (!known || words[2] != "w8" || !is_layout(words[4])) {
    throw UnsupportedError("expected strata_gemv_w8_<f32|bf16>_<layout>");
  }
  const GemmProblem p = gemm_problem_of(row, std::string(words[4]), *type, *type);
  if (p.m != 1 || !p.a_k_contiguous) {
    throw UnsupportedError(fmt::format("{} rows in layout {}; this kernel multiplies one row", p.m, p.layout()));
  }
  c.type = *type;
  c.n = static_cast<std::uint64_t>(p.n);
  c.k = static_cast<std::uint64_t>(p.k);
  c.k_contiguous = p.b_k_contiguous;
  c.registers = row.registers.value_or(32);
  check_memory(static_cast<double>(c.n) * static_cast<double>(c.k) * bits_of(c.type) / 8, target);
  BuiltKernel built;
  built.source = make_gemv(c);
  built.description = fmt::format("gemv of {} x {}", c.n, c.k);
  note_overruled_cells(row, std::string(words[4]), *type, built);
  return built;
}

constexpr std::array<std::pair<std::string_view, TransposeWay>, 5> kWays{{{"copy", TransposeWay::kCopy},
                                                                          {"naive", TransposeWay::kNaive},
                                                                          {"tile", TransposeWay::kTile},
                                                                          {"padded", TransposeWay::kPadded},
                                                                          {"swizzled", TransposeWay::kSwizzled}}};

bool matches_transpose(std::string_view canonical) {
  static constexpr std::array<std::string_view, 1> kStems{"transpose_"};
  return is_ladder_name(canonical, kStems);
}

/// strata_transpose_<way>_32x32_f32
BuiltKernel make_ladder_transpose(const LaunchRow& row, const TargetFacts& target) {
  TransposeConfig c;
  c.name = canonical_kernel_name(row.kernel);
  const std::vector<std::string_view> words = words_of(c.name);
  const bool cut_to_size = words.size() == 5 && words[3] == "32x32" && operand_type(words[4]) == DataType::kFp32;
  bool known = false;
  for (const auto& [word, way] : kWays) {
    if (cut_to_size && words[2] == word) {
      c.way = way;
      known = true;
    }
  }
  if (!known) throw UnsupportedError("expected strata_transpose_<copy|naive|tile|padded|swizzled>_32x32_f32");
  const RowMatrix matrix = row_matrix_of(row);
  c.rows = matrix.rows;
  c.cols = matrix.cols;
  c.registers = row.registers.value_or(32);
  check_memory(static_cast<double>(c.rows * c.cols) * 8, target);
  BuiltKernel built;
  built.source = make_transpose(c);
  built.description = fmt::format("transpose of {} x {}", c.rows, c.cols);
  note_overruled_row(row, "transpose", DataType::kFp32, built);
  return built;
}

bool matches_rotary(std::string_view canonical) {
  static constexpr std::array<std::string_view, 1> kStems{"rotary_"};
  return is_ladder_name(canonical, kStems);
}

BuiltKernel make_ladder_rotary(const LaunchRow& row, const TargetFacts& target) {
  RotaryConfig c;
  c.name = canonical_kernel_name(row.kernel);
  const LadderRowName name = parse_ladder_row_name(c.name);
  if (name.operation != "rotary") throw UnsupportedError("expected strata_rotary_v<elements>_<type>");
  const std::array<std::uint64_t, 3> cells = three_cells(row.shape, "tokens,heads,head dimension");
  c.tokens = cells[0];
  c.heads = cells[1];
  c.head_dim = cells[2];
  c.type = name.type;
  c.vector = name.vector;
  c.registers = row.registers.value_or(32);
  if ((c.vector != 4 && c.vector != 8) || c.head_dim % (2 * std::uint64_t{c.vector}) != 0) {
    throw UnsupportedError(fmt::format("head dimension {} with accesses of {} elements", c.head_dim, c.vector));
  }
  check_memory(static_cast<double>(c.tokens) * static_cast<double>(c.heads) * static_cast<double>(c.head_dim) *
                   bits_of(c.type) / 4,
               target);
  BuiltKernel built;
  built.source = make_rotary(c);
  built.description = fmt::format("rotary embedding of {} tokens, {} heads of {}", c.tokens, c.heads, c.head_dim);
  note_overruled_row(row, "rotary", name.type, built);
  return built;
}

}  // namespace

FamilyParser ladder_plain_gemm_family() {
  return {"ladder_plain_gemm", &matches_plain_gemm, &make_plain_gemm, "strata_gemm_naive"};
}
FamilyParser ladder_gemv_family() { return {"ladder_gemv", &matches_gemv, &make_ladder_gemv, "strata_gemv"}; }
FamilyParser ladder_transpose_family() {
  return {"ladder_transpose", &matches_transpose, &make_ladder_transpose, "strata_transpose"};
}
FamilyParser ladder_rotary_family() { return {"ladder_rotary", &matches_rotary, &make_ladder_rotary, "strata_rotary"}; }

}  // namespace strata

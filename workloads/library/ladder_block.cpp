#include "workloads/library/ladder_block.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "sim/base/error.hpp"
#include "workloads/kernels/elementwise.hpp"
#include "workloads/kernels/row_pass.hpp"
#include "workloads/kernels/split_sum.hpp"
#include "workloads/library/ladder_name.hpp"
#include "workloads/library/row_shape.hpp"

namespace strata {

namespace {

constexpr std::uint32_t kThreads = 256;

// ---- softmax and norms ----------------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 5> kRowStems{"softmax_", "layernorm_", "rmsnorm_", "residual_layernorm_",
                                                    "residual_rmsnorm_"};

/// What the harness compiles; another word behind a stem would be taken for one of them.
constexpr std::array<std::string_view, 6> kRowOperations{"softmax_3pass",           "softmax_smem",
                                                         "layernorm_smem",          "rmsnorm_smem",
                                                         "residual_layernorm_smem", "residual_rmsnorm_smem"};

bool matches_rows(std::string_view canonical) { return is_ladder_name(canonical, kRowStems); }

RowPassKind row_pass_kind(std::string_view operation) {
  if (operation.find("layernorm") != std::string_view::npos) return RowPassKind::kLayerNorm;
  return operation.find("rmsnorm") != std::string_view::npos ? RowPassKind::kRmsNorm : RowPassKind::kSoftmax;
}

BuiltKernel make_rows(const LaunchRow& row, const TargetFacts& target) {
  RowPassConfig c;
  c.name = canonical_kernel_name(row.kernel);
  const LadderRowName name = parse_ladder_row_name(c.name);
  if (std::find(kRowOperations.begin(), kRowOperations.end(), name.operation) == kRowOperations.end()) {
    throw UnsupportedError(fmt::format("operation '{}' of the name is not known; expected one of {}", name.operation,
                                       fmt::join(kRowOperations, ", ")));
  }
  const RowMatrix matrix = row_matrix_of(row);
  c.rows = matrix.rows;
  c.cols = matrix.cols;
  c.type = name.type;
  c.vector = name.vector;
  c.kind = row_pass_kind(name.operation);
  c.residual = name.operation.starts_with("residual_");
  c.in_shared = name.operation.ends_with("_smem");
  c.registers = row.registers.value_or(40);
  if (c.vector != 1 && c.vector != 4 && c.vector != 8) {
    throw UnsupportedError(fmt::format("accesses of {} elements; expected 1, 4 or 8", c.vector));
  }
  if (c.cols % c.vector != 0) {
    throw UnsupportedError(fmt::format("{} columns; this kernel takes multiples of {}", c.cols, c.vector));
  }
  check_memory(static_cast<double>(c.rows * c.cols) * bits_of(c.type) / 8 * (c.residual ? 4 : 2), target);
  BuiltKernel built;
  built.description = fmt::format("{} of {} x {}", name.operation, c.rows, c.cols);
  built.source = make_row_pass(c);
  const std::string_view operation = name.operation;
  note_overruled_row(row, c.residual ? "residual_norm" : std::string(operation.substr(0, operation.find('_'))),
                     name.type, built);
  return built;
}

// ---- one vector a thread --------------------------------------------------------------------------------------------

/// Instructions of a warp beside its accesses, from the compiled code (CUDA 13.0, sm_90a), for v1 fp32, v4 fp32 and v8
/// bf16. `other` is what does not depend on the data: indices, bounds, addresses, exit.
struct ElementOp {
  std::string_view name;
  std::uint32_t matrices;  ///< read
  bool row_vector;         ///< a vector of one row is read as well
  Arithmetic v1, v4, v8;
};

constexpr std::array kElementOps{
    ElementOp{"gelu",
              1,
              false,
              {.fma = 12, .alu = 3, .mufu = 2, .other = 9},
              {.fma = 42, .alu = 7, .mufu = 8, .other = 9},
              {.fma = 82, .alu = 27, .mufu = 16, .other = 9}},
    ElementOp{"silu",
              1,
              false,
              {.fma = 7, .alu = 3, .mufu = 2, .other = 9},
              {.fma = 22, .alu = 7, .mufu = 8, .other = 9},
              {.fma = 42, .alu = 27, .mufu = 16, .other = 9}},
    ElementOp{"geglu",
              2,
              false,
              {.fma = 14, .alu = 3, .mufu = 2, .other = 10},
              {.fma = 47, .alu = 7, .mufu = 8, .other = 10},
              {.fma = 91, .alu = 39, .mufu = 16, .other = 10}},
    ElementOp{"swiglu",
              2,
              false,
              {.fma = 9, .alu = 3, .mufu = 2, .other = 10},
              {.fma = 27, .alu = 7, .mufu = 8, .other = 10},
              {.fma = 51, .alu = 39, .mufu = 16, .other = 10}},
    ElementOp{"residual",
              2,
              false,
              {.fma = 4, .alu = 2, .other = 10},
              {.fma = 7, .alu = 3, .other = 10},
              {.fma = 21, .alu = 21, .other = 10}},
    ElementOp{"bias",
              1,
              true,
              {.fma = 11, .alu = 9, .mufu = 1, .other = 13},
              {.fma = 12, .alu = 12, .mufu = 1, .other = 13},
              {.fma = 28, .alu = 28, .mufu = 1, .other = 13}},
    ElementOp{"bias_gelu",
              1,
              true,
              {.fma = 19, .alu = 12, .mufu = 3, .other = 13},
              {.fma = 52, .alu = 16, .mufu = 9, .other = 13},
              {.fma = 96, .alu = 48, .mufu = 17, .other = 13}},
};

constexpr std::array<std::string_view, 7> kElementStems{"gelu_v",     "silu_v", "geglu_v",    "swiglu_v",
                                                        "residual_v", "bias_v", "bias_gelu_v"};

bool matches_elementwise(std::string_view canonical) { return is_ladder_name(canonical, kElementStems); }

const ElementOp& element_op(std::string_view operation) {
  const auto* found = std::find_if(kElementOps.begin(), kElementOps.end(),
                                   [&](const ElementOp& candidate) { return candidate.name == operation; });
  if (found == kElementOps.end()) throw UnsupportedError(fmt::format("operation '{}' is not known", operation));
  return *found;
}

BuiltKernel make_elementwise_pass(const LaunchRow& row, const TargetFacts& target) {
  ElementwiseConfig c;
  c.name = canonical_kernel_name(row.kernel);
  const LadderRowName name = parse_ladder_row_name(c.name);
  const ElementOp& op = element_op(name.operation);
  const RowMatrix matrix = row_matrix_of(row);
  c.elements = matrix.rows * matrix.cols;
  c.output.type = name.type;
  for (std::uint32_t i = 0; i < op.matrices; ++i) c.inputs.push_back(c.output);
  if (op.row_vector) {
    c.inputs.push_back({.type = name.type, .access = OperandAccess::kPeriodic, .extent = matrix.cols});
    c.counted_tensor = 1;  // of the remainder that finds the column
  }
  c.block = kThreads;
  c.vector = c.elements_per_thread = name.vector;
  c.registers = row.registers.value_or(32);
  switch (name.vector) {
    case 1:
      c.counted = op.v1;
      break;
    case 4:
      c.counted = op.v4;
      break;
    case 8:
      c.counted = op.v8;
      break;
    default:
      throw UnsupportedError(fmt::format("accesses of {} elements; expected 1, 4 or 8", name.vector));
  }
  check_memory(static_cast<double>(c.elements) * bits_of(name.type) / 8 * (op.matrices + 1), target);
  BuiltKernel built;
  built.description = fmt::format("{} of {} x {}, {} elements a thread", op.name, matrix.rows, matrix.cols, c.vector);
  built.source = make_elementwise(c);
  note_overruled_row(row, name.operation, name.type, built);
  return built;
}

// ---- sum of split-K parts -------------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 1> kSumStems{"splitk_reduce_"};

bool matches_splitk_sum(std::string_view canonical) { return is_ladder_name(canonical, kSumStems); }

BuiltKernel make_ladder_splitk_sum(const LaunchRow& row, const TargetFacts& target) {
  if (row.op == "gemm") {
    throw UnsupportedError("a GEMM's shape does not say into how many parts K was split; expected parts,elements");
  }
  PartsSumConfig c;
  c.name = canonical_kernel_name(row.kernel);
  if (c.name != "strata_splitk_reduce_bf16") throw UnsupportedError("expected strata_splitk_reduce_bf16");
  const RowMatrix parts = row_matrix_of(row);
  c.parts = static_cast<std::uint32_t>(parts.rows);
  c.elements = parts.cols;
  if (c.elements % 4 != 0) {
    throw UnsupportedError(fmt::format("{} elements; this kernel adds vectors of 4", c.elements));
  }
  c.registers = row.registers.value_or(32);
  check_memory(static_cast<double>(parts.rows * parts.cols) * 4, target);
  BuiltKernel built;
  built.description = fmt::format("sum of {} parts of {} elements", c.parts, c.elements);
  built.source = make_parts_sum(c);
  note_overruled_row(row, "splitk_sum", DataType::kBf16, built);
  return built;
}

}  // namespace

FamilyParser ladder_rows_family() { return {"ladder_rows", &matches_rows, &make_rows, "strata_softmax"}; }
FamilyParser ladder_elementwise_family() {
  return {"ladder_elementwise", &matches_elementwise, &make_elementwise_pass, "strata_gelu"};
}
FamilyParser ladder_splitk_sum_family() {
  return {"ladder_splitk_sum", &matches_splitk_sum, &make_ladder_splitk_sum, "strata_splitk_reduce"};
}

}  // namespace strata

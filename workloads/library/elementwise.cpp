#include "workloads/library/elementwise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/counted.hpp"
#include "sim/base/error.hpp"
#include "workloads/kernels/elementwise.hpp"
#include "workloads/library/elementwise_name.hpp"
#include "workloads/library/row_shape.hpp"
#include "workloads/library/shape.hpp"

namespace strata {
namespace {

constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 44;

/// The tensor sizes, in elements, that the operator's shape makes likely; largest last where two would fit.
struct ShapeFacts {
  std::optional<AttentionCells> attention;
  std::optional<RowsColsCells> matrix;
  std::vector<std::uint64_t> candidates;
};

ShapeFacts facts_of(const LaunchRow& row) {
  ShapeFacts f;
  const auto add = [&](std::initializer_list<std::int64_t> factors) {
    std::uint64_t product = 1;
    for (const std::int64_t v : factors) {
      if (v <= 0 || product > kMaxElements / static_cast<std::uint64_t>(v)) return;
      product *= static_cast<std::uint64_t>(v);
    }
    f.candidates.push_back(product);
  };
  if (row.shape.empty()) return f;
  if (row.op == "attention") {
    const AttentionCells a = parse_attention_shape(row.shape);
    f.attention = a;
    add({a.batch, a.heads, a.q_len, a.kv_len});
    add({a.batch, a.heads, a.q_len, a.head_dim});
    add({a.batch, a.kv_heads, a.kv_len, a.head_dim});
    add({a.batch, a.heads, a.kv_len, a.head_dim});
    add({a.q_len, a.kv_len});
    add({a.batch, a.heads, a.q_len});
    add({1});
  } else if (row.op == "gemm") {
    const GemmCells g = parse_gemm_shape(row.shape);
    add({g.m, g.n});
    add({g.m, g.k});
    add({g.n, g.k});
  } else {
    f.matrix = parse_rows_cols(row.shape);
    add({f.matrix->rows, f.matrix->cols});
    if (f.candidates.empty()) {
      throw UnsupportedError(
          fmt::format("shape: {} x {} elements; at most 2^44 of them are simulated", f.matrix->rows, f.matrix->cols));
    }
  }
  return f;
}

/// Elements of the launch: the likely size that needs exactly this grid, else all that the grid covers.
std::optional<std::uint64_t> matching_size(const ShapeFacts& facts, std::uint64_t ctas, std::uint64_t span) {
  for (const std::uint64_t n : facts.candidates) {
    if ((n + span - 1) / span == ctas) return n;
  }
  return std::nullopt;
}

/// The launch is what ran, so its grid holds; a shape that asks for another one may be another tensor's, or a mistake.
std::string overruled_shape(const LaunchRow& row, const ShapeFacts& facts, std::uint64_t covered) {
  if (!facts.matrix) return {};
  return fmt::format("a grid of {} CTAs covers {} elements, not the {} x {} of the shape; the grid was taken",
                     row.grid->count(), covered, facts.matrix->rows, facts.matrix->cols);
}

/// Elements per thread of vectorized kernels: 16 where every tensor has one-byte elements, else 8 (PyTorch for sm_90:
/// add, mul, isneginf, casts and fills of calibration rows); 4 in earlier releases.
std::vector<std::uint32_t> vectorized_work(const ElementwiseName& e) {
  std::uint32_t widest = bits_of(e.output);
  for (const DataType t : e.inputs) widest = std::max(widest, bits_of(t));
  const std::uint32_t first = std::max(e.vector, widest <= 8 ? 16U : 8U);
  return {first, std::max(e.vector, 4U), std::max(e.vector, 8U), std::max(e.vector, 16U)};
}

Operand operand(DataType type, OperandAccess access = OperandAccess::kFull, std::uint64_t extent = 0) {
  return Operand{.type = type, .access = access, .extent = extent};
}

/// Two operands laid out like the result run in the vectorized kernel. Where the strided one has two for a matrix, the
/// second is taken for a row of it, as a bias is: its reads then are the matrix and little else.
bool adds_row(const ElementwiseConfig& c, const ShapeFacts& facts) {
  return c.order == ThreadOrder::kStrided && c.inputs.size() == 2 && facts.matrix &&
         c.elements == static_cast<std::uint64_t>(facts.matrix->rows) * static_cast<std::uint64_t>(facts.matrix->cols);
}

/// Broadcasts and permutations of the strided kernel, where the operator tells them.
void shape_strided(const ElementwiseName& e, const ShapeFacts& facts, const std::string& row_op, ElementwiseConfig& c) {
  c.dims = 2;
  if (facts.matrix && row_op == "transpose" && c.inputs.size() == 1) {
    // The output is contiguous, so its rows are the fastest dimension: reads go down the columns of the input.
    c.inputs[0] = operand(c.inputs[0].type, OperandAccess::kTransposed, static_cast<std::uint64_t>(facts.matrix->rows));
    c.inputs[0].inner = static_cast<std::uint64_t>(facts.matrix->cols);
  }
  if (adds_row(c, facts)) {
    c.inputs[1] = operand(c.inputs[1].type, OperandAccess::kPeriodic, static_cast<std::uint64_t>(facts.matrix->cols));
  }
  if (!facts.attention) return;
  const AttentionCells& a = *facts.attention;
  const auto q = static_cast<std::uint64_t>(a.q_len);
  const auto k = static_cast<std::uint64_t>(a.kv_len);
  const auto heads = static_cast<std::uint64_t>(a.batch * a.heads);
  const bool scores = c.elements == heads * q * k;
  const bool mask = c.elements == q * k && heads > 1;
  if (e.functor == Functor::kWhere) {
    // Scores: a flag per row chooses between a scalar and the scores. Mask: a flag per element chooses between two
    // scalars. Executed SASS: the last operand is loaded with the flag, whatever that says, the other where it is set.
    const DataType flag = e.inputs.empty() ? DataType::kBool : e.inputs.front();
    if (scores && !mask) {
      c.inputs = {operand(flag, OperandAccess::kPerRow, k), operand(c.output.type)};
    } else {
      c.inputs = {operand(flag), operand(c.output.type, OperandAccess::kPerRow, c.elements)};
      c.dims = 1;
    }
  } else if (c.inputs.size() == 2 && scores && !mask) {
    c.inputs[1] = operand(c.inputs[1].type, OperandAccess::kPeriodic, q * k);
  } else if (e.functor == Functor::kCopy && c.inputs.size() == 1) {
    const auto d = static_cast<std::uint64_t>(a.head_dim);
    if (c.elements == heads * q * d) {
      c.inputs[0] = operand(c.inputs[0].type, OperandAccess::kPermuted, d);
      c.inputs[0].inner = static_cast<std::uint64_t>(a.heads);
      c.inputs[0].middle = q;
      c.dims = 3;
    }
  }
}

/// An operator of many kernels has interim results of other types than its operands.
bool is_composite(const std::string& op) {
  static constexpr const char* kComposite[] = {"attention", "gemm", "softmax", "layernorm", "rmsnorm"};
  return std::find(std::begin(kComposite), std::end(kComposite), op) != std::end(kComposite);
}

/// The row's type is that of an operand or of the result, as the functor has them, or else contradicts the name.
std::string overruled_types(const LaunchRow& row, const ElementwiseName& e) {
  if (!e.knows_types || e.casts || is_composite(row.op)) return {};
  const auto same = [&](DataType type) { return overruled_type(row, type).empty(); };
  if (same(e.output) || std::any_of(e.inputs.begin(), e.inputs.end(), same)) return {};
  return overruled_type(row, e.inputs.empty() ? e.output : e.inputs.front());
}

BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const std::string name = canonical_kernel_name(row.kernel);
  ElementwiseName e = parse_elementwise_name(name);
  if (!e.knows_types && row.dtype.empty()) {
    throw UnsupportedError("the kernel name says no element type of a known size; give it in the column dtype");
  }
  const DataType row_type = row.dtype.empty() ? e.output : parse_data_type(row.dtype);
  if (!e.knows_types) {
    e.output = row_type;
    std::fill(e.inputs.begin(), e.inputs.end(), row_type);
  }
  if (e.knows_types) expect_asked_type(row, e.inputs.empty() ? e.output : e.inputs.front());
  if (e.casts) std::fill(e.inputs.begin(), e.inputs.end(), row_type);
  ElementwiseConfig c;
  c.order = e.order;
  c.casts = e.casts;
  c.functor = e.functor;
  c.vector = e.vector;
  c.block = threads_of(row, e.threads > 0 ? e.threads : 128);
  c.registers = row.registers.value_or(32);
  c.name = name;
  for (const DataType t : e.inputs) c.inputs.push_back(operand(t));
  c.output = operand(e.output);
  const ShapeFacts facts = facts_of(row);
  std::string warning;
  const std::vector<std::uint32_t> work =
      e.elements_per_thread > 0 ? std::vector<std::uint32_t>{e.elements_per_thread} : vectorized_work(e);
  c.elements_per_thread = work.front();
  if (row.grid) {
    c.ctas = row.grid->count();
    for (const std::uint32_t per_thread : work) {
      if (const auto n = matching_size(facts, c.ctas, std::uint64_t{c.block} * per_thread)) {
        c.elements_per_thread = per_thread;
        c.elements = *n;
        break;
      }
    }
    if (c.elements == 0) {
      c.elements = c.ctas * c.block * c.elements_per_thread;
      warning = overruled_shape(row, facts, c.elements);
    }
  } else if (facts.matrix && !facts.candidates.empty()) {
    c.elements = facts.candidates.front();
  }
  if (c.elements == 0) {
    throw UnsupportedError("neither grid_dim nor a rows,cols shape says how many elements there are");
  }
  double bytes = bits_of(e.output);
  for (const DataType t : e.inputs) bytes += bits_of(t);
  bytes *= static_cast<double>(c.elements) / 8;
  check_memory(bytes, target);
  if (c.order == ThreadOrder::kStrided) shape_strided(e, facts, row.op, c);
  BuiltKernel built;
  built.warning = warning.empty() ? overruled_types(row, e) : std::move(warning);
  built.description = fmt::format("elementwise {}, {}, {} elements, {} per thread", cost_of(c.functor).name,
                                  counted(c.inputs.size(), "input"), c.elements, c.elements_per_thread);
  if (c.functor == Functor::kOther) built.notes.push_back("functor of unknown cost: four instructions per element");
  if (adds_row(c, facts)) built.notes.push_back("a strided kernel of two operands: the second is taken for one row");
  built.source = make_elementwise(c);
  return built;
}

}  // namespace

FamilyParser elementwise_family() {
  return FamilyParser{"elementwise", &is_elementwise_name, &make, "vectorized_elementwise_kernel"};
}

}  // namespace strata

#include "workloads/library/tensor_reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/kernels/tensor_reduce.hpp"
#include "workloads/library/cpp_name.hpp"
#include "workloads/library/row_shape.hpp"

namespace strata {
namespace {

constexpr const char* kKernel = "reduce_kernel";

bool matches(std::string_view canonical) { return calls_kernel(canonical, kKernel); }

ReduceOperator operator_of(std::string_view ops) {
  const auto holds = [&](const char* word) { return ops.find(word) != std::string_view::npos; };
  if (holds("Welford")) return ReduceOperator::kWelford;
  if (holds("ArgM") || holds("MinOps") || holds("MaxOps")) return ReduceOperator::kIndexed;
  if (holds("and_kernel") || holds("or_kernel")) return ReduceOperator::kLogical;
  if (holds("Max") || holds("Min") || holds("max") || holds("min")) return ReduceOperator::kExtreme;
  return ReduceOperator::kSum;
}

bool fits(const ReduceConfig& c, const LaunchRow& row) {
  const ReducePlan plan = plan_reduce(c);
  const bool grid = !row.grid || (row.grid->x == plan.grid_x && row.grid->y == plan.ctas_per_output);
  const bool block = !row.block || (row.block->x == plan.block_x && row.block->y == plan.block_y);
  return grid && block;
}

/// What may be reduced of a matrix: each row, each column, all of it. The launch's own dimensions tell which.
std::vector<ReduceShape> shapes_of(const RowMatrix& m) {
  return {ReduceShape{m.rows, m.cols, true}, ReduceShape{m.cols, m.rows, false}, ReduceShape{1, m.rows * m.cols, true}};
}

/// reduce_kernel<threads / outputs of a thread, outputs of a thread, ReduceOp<input, operator, index, output, loads in
/// flight, elements of a vector>>
BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const std::string name = canonical_kernel_name(row.kernel);
  const auto outer = whole_arguments(name, kKernel);
  const auto arguments = template_arguments(name, "ReduceOp");
  ReduceConfig c;
  c.output_vector = std::max(1U, integer_argument(outer, 1));
  c.max_threads = integer_argument(outer, 0) * c.output_vector;
  c.input = type_argument(arguments, 0);
  expect_asked_type(row, c.input);
  if (arguments.size() > 1) c.op = operator_of(arguments[1]);
  if (arguments.size() > 3) c.output = type_argument(arguments, 3);
  if (arguments.size() > 4) c.unroll = integer_argument(arguments, 4);
  c.input_vector = arguments.size() > 5 ? integer_argument(arguments, 5) : std::min(4U, c.unroll);
  if (c.unroll == 0 || c.unroll > 16 || c.input_vector == 0 || c.input_vector > 16 || c.output_vector > 4 ||
      c.max_threads < 32 || c.max_threads > 1024 || !std::has_single_bit(c.max_threads)) {
    throw UnsupportedError(
        "the kernel name's threads, unrolling or vector width are out of range; expected a power of two of 32 to 1024 "
        "threads");
  }
  c.num_sms = target.num_sms;
  c.registers = row.registers.value_or(32);
  c.name = name;
  const RowMatrix matrix = row_matrix_of(row);
  check_memory(static_cast<double>(matrix.rows * matrix.cols) * bits_of(c.input) / 8, target);
  bool found = false;
  for (const ReduceShape& shape : shapes_of(matrix)) {
    // A kernel with several outputs per thread reduces over rows of neighbours.
    if (c.output_vector > 1 && shape.contiguous) continue;
    c.shape = shape;
    found = fits(c, row);
    if (found) break;
  }
  if (!found) {
    throw UnsupportedError(
        fmt::format("the launch's dimensions fit no reduction of {} x {} elements", matrix.rows, matrix.cols));
  }
  BuiltKernel built;
  const ReducePlan plan = plan_reduce(c);
  built.description = fmt::format("reduction of {} {} values to each of {}, block {}x{}, {} CTAs per output",
                                  c.shape.inputs, c.shape.contiguous ? "neighbouring" : "strided", c.shape.outputs,
                                  plan.block_x, plan.block_y, plan.ctas_per_output);
  built.source = make_tensor_reduce(c);
  return built;
}

}  // namespace

FamilyParser tensor_reduce_family() { return FamilyParser{"reduce", &matches, &make, kKernel}; }

}  // namespace strata

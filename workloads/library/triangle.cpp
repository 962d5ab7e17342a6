#include "workloads/library/triangle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/kernels/triangle.hpp"
#include "workloads/library/cpp_name.hpp"
#include "workloads/library/row_shape.hpp"
#include "workloads/library/shape.hpp"

namespace strata {
namespace {

constexpr const char* kKernel = "triu_tril_kernel";

bool matches(std::string_view canonical) { return calls_kernel(canonical, kKernel); }

/// triu_tril_kernel<type, index, upper, elements of a thread, in place>; earlier releases end after `upper`.
BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const std::string name = canonical_kernel_name(row.kernel);
  const auto arguments = whole_arguments(name, kKernel);
  TriangleConfig c;
  c.type = type_argument(arguments, 0);
  c.upper = integer_argument(arguments, 2) != 0;
  c.elements_per_thread = arguments.size() > 3 ? integer_argument(arguments, 3) : 1;
  if (c.elements_per_thread == 0 || c.elements_per_thread > 16) {
    throw UnsupportedError(fmt::format("{} elements per thread; expected 1 to 16", c.elements_per_thread));
  }
  if (arguments.size() > 4 && integer_argument(arguments, 4) != 0) {
    throw UnsupportedError("triu and tril in place are not modelled");
  }
  if (row.op == "attention") {  // the mask of a causal pass
    const AttentionCells a = parse_attention_shape(row.shape);
    constexpr std::int64_t kMaxSide = 0x7fffffff;
    if (a.q_len > kMaxSide || a.kv_len > kMaxSide) {
      throw UnsupportedError(fmt::format("a mask of {} x {}; at most 2^31 - 1 each are simulated", a.q_len, a.kv_len));
    }
    c.rows = static_cast<std::uint64_t>(a.q_len);
    c.cols = static_cast<std::uint64_t>(a.kv_len);
  } else {
    const RowMatrix matrix = row_matrix_of(row);
    c.rows = matrix.rows;
    c.cols = matrix.cols;
  }
  c.threads = threads_of(row, c.threads);
  c.registers = row.registers.value_or(30);
  c.name = name;
  if (row.grid) {  // a batch of matrices, all in one row of the grid
    const std::uint64_t padded = (c.cols + c.elements_per_thread - 1) / c.elements_per_thread * c.elements_per_thread;
    const std::uint64_t covered = row.grid->count() * c.threads * c.elements_per_thread;
    c.matrices = std::max<std::uint64_t>(1, covered / (c.rows * padded));
  }
  check_memory(2.0 * static_cast<double>(c.matrices) * static_cast<double>(c.rows * c.cols) * bits_of(c.type) / 8,
               target);
  BuiltKernel built;
  built.description =
      fmt::format("{} triangle of {} x {} {}", c.upper ? "upper" : "lower", c.rows, c.cols, to_string(c.type));
  built.notes.push_back("diagonal 0 assumed");
  built.warning = overruled_row_operator(row, c.upper ? "triu" : "tril");
  built.source = make_triangle(c);
  return built;
}

}  // namespace

FamilyParser triangle_family() { return FamilyParser{"triangle", &matches, &make, kKernel}; }

}  // namespace strata

#include "workloads/library/layer_norm.hpp"

#include <fmt/format.h>

#include <string>

#include "sim/base/error.hpp"
#include "workloads/kernels/row_norm.hpp"
#include "workloads/library/cpp_name.hpp"
#include "workloads/library/row_shape.hpp"

namespace strata {
namespace {

constexpr const char* kKernel = "vectorized_layer_norm_kernel";

bool matches(std::string_view canonical) { return calls_kernel(canonical, kKernel); }

/// vectorized_layer_norm_kernel<type, accumulator, is RMS norm>
BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const std::string name = canonical_kernel_name(row.kernel);
  const auto arguments = whole_arguments(name, kKernel);
  NormConfig c;
  c.type = type_argument(arguments, 0);
  expect_asked_type(row, c.type);
  c.rms = arguments.size() > 2 && integer_argument(arguments, 2) != 0;
  const RowMatrix matrix = row_matrix_of(row);
  c.rows = matrix.rows;
  if (row.grid && row.grid->count() != c.rows) {
    throw UnsupportedError(
        fmt::format("{} CTAs do not fit the shape, which needs one for each of {} rows", row.grid->count(), c.rows));
  }
  c.cols = matrix.cols;
  if (c.cols % 4 != 0) {
    throw UnsupportedError(fmt::format("{} columns; this kernel takes multiples of 4", c.cols));
  }
  // The calibration rows deliver the input and one parameter tensor, yet load two: weight and bias are the same tensor.
  c.parameters = c.rms ? 1 : 2;
  c.shared_parameter = !c.rms;
  c.warps = threads_of(row, 32 * c.warps) / 32;
  c.registers = row.registers.value_or(c.rms ? 27 : 32);
  c.name = name;
  check_memory(static_cast<double>(c.rows) * static_cast<double>(c.cols) * bits_of(c.type) / 4, target);
  BuiltKernel built;
  built.description = fmt::format("{} norm, {} x {}", c.rms ? "RMS" : "layer", c.rows, c.cols);
  if (!c.rms) built.notes.push_back("weight and bias taken as one tensor");
  built.warning = overruled_row_operator(row, c.rms ? "rmsnorm" : "layernorm");
  if (built.warning.empty()) built.warning = overruled_type(row, c.type);
  built.source = make_row_norm(c);
  return built;
}

}  // namespace

FamilyParser layer_norm_family() { return FamilyParser{"layer_norm", &matches, &make, kKernel}; }

}  // namespace strata

#include "workloads/library/softmax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/kernels/row_softmax.hpp"
#include "workloads/library/cpp_name.hpp"
#include "workloads/library/row_shape.hpp"
#include "workloads/library/shape.hpp"

namespace strata {
namespace {

constexpr const char* kWarp = "softmax_warp_forward";
constexpr const char* kRegisters = "cunn_SoftMaxForwardReg";
constexpr const char* kShared = "cunn_SoftMaxForwardSmem";
constexpr const char* kGlobal = "cunn_SoftMaxForward";
constexpr const char* kGlobalNew = "cunn_SoftMaxForwardGmem";

bool matches(std::string_view canonical) {
  for (const char* name : {kWarp, kRegisters, kShared, kGlobal, kGlobalNew}) {
    if (calls_kernel(canonical, name)) return true;
  }
  return false;
}

/// softmax_warp_forward<input, output, accumulator, log2 of the columns, is log-softmax, is masked>
void read_warp_form(const std::string& name, SoftmaxConfig& c) {
  const auto arguments = whole_arguments(name, kWarp);
  c.form = SoftmaxForm::kWarp;
  c.input = type_argument(arguments, 0);
  c.output = type_argument(arguments, 1);
  const std::uint32_t log2 = integer_argument(arguments, 3);
  c.logarithm = arguments.size() > 4 && integer_argument(arguments, 4) != 0;
  if (arguments.size() > 5 && integer_argument(arguments, 5) != 0) {
    throw UnsupportedError("masked softmax is not modelled");
  }
  if (log2 > 11 || softmax_padded_cols(c) != std::uint64_t{1} << log2) {
    throw UnsupportedError(
        fmt::format("the shape has {} columns; the kernel is for rows of 2^{} once padded", c.cols, log2));
  }
}

/// cunn_SoftMaxForwardReg<input, accumulator, output, epilogue, index, elements of a thread>; the other forms begin
/// with the elements of a vector and have no count.
std::uint32_t read_block_form(const std::string& name, SoftmaxConfig& c) {
  const bool registers = calls_kernel(name, kRegisters);
  const char* kernel = registers                        ? kRegisters
                       : calls_kernel(name, kShared)    ? kShared
                       : calls_kernel(name, kGlobalNew) ? kGlobalNew
                                                        : kGlobal;
  const auto arguments = whole_arguments(name, kernel);
  const std::size_t first = registers ? 0 : 1;
  c.form = registers ? SoftmaxForm::kRegisters : (kernel == kShared ? SoftmaxForm::kShared : SoftmaxForm::kGlobal);
  c.input = type_argument(arguments, first);
  c.output = type_argument(arguments, first + 2);
  c.logarithm = name.find("LogSoftMax") != std::string::npos;
  return registers ? integer_argument(arguments, 5) : 0;
}

void read_launch(const LaunchRow& row, std::uint32_t thread_elements, SoftmaxConfig& c) {
  const SoftmaxForm named = c.form;
  choose_softmax_form(c);
  if (c.form != named) {  // another release's rules, or an odd alignment
    c.form = named;
    if (named == SoftmaxForm::kWarp) {
      c.threads = 128;
    } else if (c.threads == 128) {
      c.threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(1024, (c.cols + 31) / 32 * 32));
    }
  }
  c.threads = threads_of(row, c.threads);
  const std::uint64_t elements = (c.cols + c.threads - 1) / c.threads;
  if (thread_elements != 0 && elements != thread_elements) {
    throw UnsupportedError(fmt::format("{} columns are {} elements for each of {} threads; the kernel keeps {}", c.cols,
                                       elements, c.threads, thread_elements));
  }
  c.registers = row.registers.value_or(c.registers);
  // Softmax over another tensor than the shape's: its rows are what the grid covers.
  if (row.grid && c.form != SoftmaxForm::kWarp) c.rows = row.grid->count();
}

/// Queries of the mask that PyTorch adds to the scores of causal attention (all ones, tril), 0 without one.
std::uint64_t causal_queries(const LaunchRow& row) {
  if (row.op != "attention") return 0;
  const AttentionCells cells = parse_attention_shape(row.shape);
  return cells.causal ? static_cast<std::uint64_t>(cells.q_len) : 0;
}

BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const std::string name = canonical_kernel_name(row.kernel);
  SoftmaxConfig c;
  const RowMatrix matrix = row_matrix_of(row);
  c.rows = matrix.rows;
  c.cols = matrix.cols;
  c.causal_queries = causal_queries(row);
  std::uint32_t thread_elements = 0;  // that the register form is compiled for
  if (calls_kernel(name, kWarp)) {
    read_warp_form(name, c);
  } else {
    thread_elements = read_block_form(name, c);
  }
  expect_asked_type(row, c.input);
  read_launch(row, thread_elements, c);
  c.name = name;
  check_memory(static_cast<double>(c.rows) * static_cast<double>(c.cols) * (bits_of(c.input) + bits_of(c.output)) / 8,
               target);
  BuiltKernel built;
  built.description =
      fmt::format("{}softmax, {} x {}, {}", c.logarithm ? "log-" : "", c.rows, c.cols, to_string(c.form));
  if (c.causal_queries != 0) built.notes.push_back("a causal mask: half of the divisions take their slow path");
  built.warning = overruled_row_operator(row, "softmax");
  if (built.warning.empty() && row.op == "softmax") built.warning = overruled_type(row, c.input);
  built.source = make_row_softmax(c);
  if (row.grid && row.grid->count() != built.source->launch().num_ctas()) {
    throw UnsupportedError(fmt::format("{} CTAs do not fit the shape, which needs {}", row.grid->count(),
                                       built.source->launch().num_ctas()));
  }
  return built;
}

}  // namespace

FamilyParser softmax_family() { return FamilyParser{"softmax", &matches, &make, "softmax_warp_forward"}; }

}  // namespace strata

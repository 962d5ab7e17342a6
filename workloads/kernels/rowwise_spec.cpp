#include "workloads/kernels/rowwise_spec.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/kernels/options.hpp"
#include "workloads/kernels/row_norm.hpp"
#include "workloads/kernels/row_softmax.hpp"
#include "workloads/kernels/tensor_reduce.hpp"

namespace strata {
namespace {

constexpr std::int64_t kMaxSide = std::int64_t{1} << 31;

std::vector<OptionSpec> options() {
  return {
      {"rows", OptionType::kInt, "", false, "rows of the matrix, 1 to 2^31"},
      {"cols", OptionType::kInt, "", false, "columns of the matrix, 1 to 2^31"},
      {"operator", OptionType::kText, "softmax", false,
       "softmax, log_softmax, layer_norm, rms_norm, sum, max, argmax or var"},
      {"dtype", OptionType::kText, "bf16", false, "type of input and output"},
      {"over", OptionType::kText, "rows", false,
       "what a reduction (sum, max, argmax, var) makes one value of: each of rows, each of cols, or all"},
      {"threads", OptionType::kInt, "", true, "threads of a CTA of softmax or a norm, a multiple of 32 up to 1024"},
  };
}

struct Request {
  std::uint64_t rows = 1;
  std::uint64_t cols = 1;
  DataType type = DataType::kBf16;
  std::string op;
  std::string over;
  std::uint32_t threads = 0;  ///< 0 = as PyTorch chooses
};

BuiltKernel softmax(const Request& r) {
  SoftmaxConfig c;
  c.rows = r.rows;
  c.cols = r.cols;
  c.input = c.output = r.type;
  c.logarithm = r.op == "log_softmax";
  choose_softmax_form(c);
  if (r.threads != 0) c.threads = r.threads;
  c.name = r.op;
  BuiltKernel built;
  built.description = fmt::format("{} of {} x {} {}, {}, {} threads", r.op, r.rows, r.cols, to_string(r.type),
                                  to_string(c.form), c.threads);
  built.notes.push_back(fmt::format("{} chosen by the row length", to_string(c.form)));
  built.source = make_row_softmax(c);
  return built;
}

BuiltKernel norm(const Request& r) {
  NormConfig c;
  c.rows = r.rows;
  c.cols = r.cols;
  c.type = r.type;
  c.rms = r.op == "rms_norm";
  c.parameters = c.rms ? 1 : 2;
  if (r.threads != 0) c.warps = r.threads / 32;
  c.name = r.op;
  BuiltKernel built;
  built.description =
      fmt::format("{} of {} x {} {}, {} warps per row", r.op, r.rows, r.cols, to_string(r.type), c.warps);
  built.source = make_row_norm(c);
  return built;
}

BuiltKernel reduction(const Request& r, const TargetFacts& target) {
  ReduceConfig c;
  c.input = c.output = r.type;
  c.num_sms = std::max(1U, target.num_sms);
  c.op = r.op == "max" ? ReduceOperator::kExtreme
                       : (r.op == "argmax" ? ReduceOperator::kIndexed
                                           : (r.op == "var" ? ReduceOperator::kWelford : ReduceOperator::kSum));
  if (r.over == "rows") {
    c.shape = ReduceShape{r.rows, r.cols, true};
  } else if (r.over == "cols") {
    c.shape = ReduceShape{r.cols, r.rows, false};
  } else {
    c.shape = ReduceShape{1, r.rows * r.cols, true};
  }
  c.name = r.op;
  const ReducePlan plan = plan_reduce(c);
  BuiltKernel built;
  built.description =
      fmt::format("{} of {} {} values for each of {}, block {}x{}, {} CTAs per output", r.op, c.shape.inputs,
                  to_string(r.type), c.shape.outputs, plan.block_x, plan.block_y, plan.ctas_per_output);
  built.notes.push_back("block and grid chosen as PyTorch's reduce_kernel does");
  built.source = make_tensor_reduce(c);
  return built;
}

BuiltKernel make(const KernelOptions& given, const TargetFacts& target) {
  static const std::vector<OptionSpec> kOptions = options();
  OptionReader reader(given, kOptions);
  Request r;
  r.rows = static_cast<std::uint64_t>(reader.required_integer("rows", 1, kMaxSide));
  r.cols = static_cast<std::uint64_t>(reader.required_integer("cols", 1, kMaxSide));
  r.op = reader.choice("operator", {"softmax", "log_softmax", "layer_norm", "rms_norm", "sum", "max", "argmax", "var"});
  r.over = reader.choice("over", {"rows", "cols", "all"});
  r.type = reader.data_type("dtype", DataType::kBf16);
  if (reader.given("threads")) r.threads = static_cast<std::uint32_t>(reader.integer("threads", 32, 1024));
  if (r.threads % 32 != 0) reader.problem("threads", fmt::format("{}: must be a multiple of 32", r.threads));
  const bool is_norm = r.op == "layer_norm" || r.op == "rms_norm";
  const bool is_softmax = r.op == "softmax" || r.op == "log_softmax";
  if (reader.given("over") && (is_norm || is_softmax)) {
    reader.problem("over", fmt::format("{} does not use it; only sum, max, argmax and var do", r.op));
  }
  if (reader.given("threads") && !is_norm && !is_softmax) {
    reader.problem("threads", fmt::format("{} does not use it; only softmax, log_softmax and norms do", r.op));
  }
  if (is_norm && r.cols % 4 != 0) reader.problem("cols", fmt::format("{}: norms take multiples of 4", r.cols));
  if (bits_of(r.type) < 8) reader.problem("dtype", "elements of less than a byte are not modelled");
  const double bytes = static_cast<double>(r.rows) * static_cast<double>(r.cols) * bits_of(r.type) / 8 *
                       (is_norm || is_softmax ? 2.0 : 1.0);
  const double limit = target.memory_bytes > 0 ? static_cast<double>(target.memory_bytes) : 0x1p46;
  if (bytes > limit) {
    reader.problem("rows",
                   fmt::format("the tensors need {:.1f} GiB; the GPU has {:.1f} GiB", bytes / 0x1p30, limit / 0x1p30));
  }
  reader.finish();
  if (is_softmax) return softmax(r);
  return is_norm ? norm(r) : reduction(r, target);
}

}  // namespace

KernelSpec rowwise_spec() {
  return KernelSpec{"rowwise", "softmax, layer norm, RMS norm or reduction of a matrix, as PyTorch's kernels do it",
                    options(), &make};
}

}  // namespace strata

/// Candidates for operators over rows and elements: PyTorch's own rules choose among its kernels.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/kernels/options.hpp"
#include "workloads/kernels/row_softmax.hpp"
#include "workloads/library/candidate_families.hpp"
#include "workloads/library/row_shape.hpp"

namespace strata {

namespace {

std::string cpp_type(DataType type) {
  switch (type) {
    case DataType::kBf16:
      return "c10::BFloat16";
    case DataType::kFp16:
      return "c10::Half";
    case DataType::kFp32:
      return "float";
    default:
      throw UnsupportedError(
          fmt::format("no kernel is known for rows of {}; expected bf16, fp16 or fp32", to_string(type)));
  }
}

struct ElementwiseOperator {
  std::string_view op;
  std::uint32_t tensors;     ///< inputs and output
  std::string_view functor;  ///< with {0} for the type
};
/// Functors as PyTorch 2 instantiates them, shortened to what a name has to tell.
constexpr std::array kOperators{
    ElementwiseOperator{"add", 3, "at::native::CUDAFunctor_add<{0}>"},
    ElementwiseOperator{"mul", 3,
                        "at::native::BinaryFunctor<{0}, {0}, {0}, at::native::binary_internal::MulFunctor<float> >"},
    ElementwiseOperator{"silu", 2, "at::native::silu_kernel(at::TensorIteratorBase&)::{{lambda({0})#1}}"},
    ElementwiseOperator{"gelu", 2, "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&)::{{lambda({0})#1}}"},
    ElementwiseOperator{"neg", 2, "at::native::neg_kernel_cuda(at::TensorIteratorBase&)::{{lambda({0})#1}}"},
    ElementwiseOperator{"copy", 2, "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{{lambda({0})#1}}"},
    ElementwiseOperator{"fill", 1, "at::native::FillFunctor<{0}>"},
};

/// 16-byte accesses of 16-bit types from Hopper on, else four elements (CUDALoops.cuh).
std::uint32_t vector_width(DataType type, const TargetFacts& target) {
  return target.architecture == "hopper" && bits_of(type) <= 16 ? 8 : 4;
}

std::string elementwise_kernel(const LaunchRow& row, DataType type, const TargetFacts& target) {
  for (const ElementwiseOperator& op : kOperators) {
    if (op.op == row.op) {
      return fmt::format("void at::native::vectorized_elementwise_kernel<{}, {}, std::array<char*, {}ul> >()",
                         vector_width(type, target), fmt::format(fmt::runtime(op.functor), cpp_type(type)), op.tensors);
    }
  }
  if (row.op == "transpose") {
    return fmt::format(
        "void at::native::elementwise_kernel<128, 4, "
        "at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{{lambda({0})"
        "#1}}"
        " >(at::TensorIteratorBase&)::{{lambda(int)#1}}>()",
        cpp_type(type));
  }
  return {};
}

std::string softmax_kernel(const LaunchRow& row, DataType type) {
  SoftmaxConfig c;
  const RowMatrix matrix = row_matrix_of(row);
  c.rows = matrix.rows;
  c.cols = matrix.cols;
  c.input = c.output = type;
  choose_softmax_form(c);
  const std::string t = cpp_type(type);
  switch (c.form) {
    case SoftmaxForm::kWarp:
      return fmt::format("void softmax_warp_forward<{0}, {0}, float, {1}, false, false>()", t,
                         std::bit_width(softmax_padded_cols(c)) - 1);
    case SoftmaxForm::kRegisters:
      return fmt::format(
          "void at::native::cunn_SoftMaxForwardReg<{0}, float, {0}, at::native::SoftMaxForwardEpilogue, "
          "long, {1}>()",
          t, (c.cols + c.threads - 1) / c.threads);
    case SoftmaxForm::kShared:
    case SoftmaxForm::kGlobal:
      break;
  }
  return fmt::format(
      "void at::native::cunn_SoftMaxForward{1}<{2}, {0}, float, {0}, at::native::SoftMaxForwardEpilogue, "
      "long>()",
      t, c.form == SoftmaxForm::kShared ? "Smem" : "", 128 / bits_of(type));
}

std::string kernel_of(const LaunchRow& row, const TargetFacts& target) {
  const DataType type = parse_data_type(row.dtype);
  if (row.op == "softmax") {
    return softmax_kernel(row, type);
  }
  const bool rms = row.op == "rmsnorm" || row.op == "rms_norm";
  if (rms || row.op == "layernorm" || row.op == "layer_norm") {
    return fmt::format("void at::native::vectorized_layer_norm_kernel<{}, float, {}>()", cpp_type(type),
                       rms ? "true" : "false");
  }
  return elementwise_kernel(row, type, target);
}

}  // namespace

std::vector<std::string> operators_with_candidates() {
  std::vector<std::string> known{"gemm", "attention", "softmax", "layernorm", "rmsnorm", "transpose"};
  for (const ElementwiseOperator& op : kOperators) known.emplace_back(op.op);
  return known;
}

void add_row_candidates(const LaunchRow& row, const TargetFacts& target, CandidateList& out) {
  const std::string kernel = kernel_of(row, target);
  if (kernel.empty()) {
    const std::vector<std::string> known = operators_with_candidates();
    std::string lower = row.op;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    out.refuse(fmt::format("operators with a kernel are {}{}", fmt::join(known, ", "), nearest_hint(lower, known)));
    return;
  }
  out.add({{candidate_row(row, kernel)}, 0, row.op});
}

}  // namespace strata

#include "workloads/library/operator_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>

#include "sim/base/error.hpp"
#include "workloads/library/cpp_name.hpp"

namespace strata {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::int64_t kMaxElements = std::int64_t{1} << 44;

std::int64_t product(const Dims& dims, std::size_t first, std::size_t last) {
  std::int64_t out = 1;
  for (std::size_t i = first; i < last; ++i) {
    if (dims[i] < 1) {
      throw UnsupportedError(fmt::format("the operator's tensors have no elements: a dimension is {}", dims[i]));
    }
    if (out > kMaxElements / dims[i]) {
      throw UnsupportedError("the operator's tensors have more than 2^44 elements");
    }
    out *= dims[i];
  }
  return out;
}

/// "aten::mul_" is "mul": the namespace and the mark of operators that work in place go.
std::string_view bare_name(std::string_view name) {
  if (const std::size_t colon = name.rfind("::"); colon != std::string_view::npos) {
    name.remove_prefix(colon + 2);
  }
  if (name.size() > 1 && name.ends_with('_')) {
    name.remove_suffix(1);
  }
  return name;
}

const OperatorArgument& argument(const RecordedOperator& op, std::size_t i) {
  static const OperatorArgument kNone;
  return i < op.arguments.size() ? op.arguments[i] : kNone;
}

const Dims& tensor(const RecordedOperator& op, std::size_t i, std::size_t fewest_dims) {
  const Dims& dims = argument(op, i).dims;
  if (dims.size() < fewest_dims) {
    throw UnsupportedError(
        fmt::format("argument {} of {} has {} dimensions, expected {} or more; profile with record_shapes=True", i + 1,
                    op.name, dims.size(), fewest_dims));
  }
  return dims;
}

std::string dtype_of(const OperatorArgument& argument) {
  const auto type = cpp_data_type(argument.type);
  return type ? to_string(*type) : std::string{};
}

// --- matrix products ---

struct ProductOperator {
  std::string_view name;
  std::size_t a;              ///< argument index; B follows it
  bool b_has_k_last = false;  ///< weights of linear layers: N x K
};
constexpr std::array kProducts{
    ProductOperator{"mm", 0},      ProductOperator{"bmm", 0},          ProductOperator{"matmul", 0},
    ProductOperator{"mv", 0},      ProductOperator{"addmm", 1},        ProductOperator{"_addmm_activation", 1},
    ProductOperator{"baddbmm", 1}, ProductOperator{"addmv", 1},        ProductOperator{"_scaled_mm", 0},
    ProductOperator{"_int_mm", 0}, ProductOperator{"linear", 0, true},
};

/// Whether dimension `i` is contiguous; without strides a tensor is taken as contiguous in its last dimension.
bool runs_along(const OperatorArgument& t, std::size_t i) {
  if (t.strides.size() != t.dims.size()) {
    return i + 1 == t.dims.size();
  }
  return t.strides[i] == 1;
}

OperatorCells product_cells(const RecordedOperator& op, const ProductOperator& kind) {
  const Dims& a = tensor(op, kind.a, 2);
  const Dims& b = tensor(op, kind.a + 1, 1);
  const std::size_t k_of_a = a.size() - 1;
  const std::size_t k_of_b = kind.b_has_k_last || b.size() == 1 ? b.size() - 1 : b.size() - 2;
  const std::int64_t k = a[k_of_a];
  if (b[k_of_b] != k) {
    throw UnsupportedError(
        fmt::format("{}: A ends in {} and B has {} along K; the shapes do not fit", op.name, k, b[k_of_b]));
  }
  const bool batched = b.size() > 2;
  const std::int64_t n = b.size() == 1 ? 1 : b[kind.b_has_k_last ? b.size() - 2 : b.size() - 1];
  const std::int64_t batch = batched ? product(a, 0, a.size() - 2) : 1;
  const std::int64_t m = batched ? a[a.size() - 2] : product(a, 0, a.size() - 1);
  const char b_letter = runs_along(argument(op, kind.a + 1), k_of_b) ? 'T' : 'N';
  const char a_letter = runs_along(argument(op, kind.a), k_of_a) ? 'N' : 'T';
  const std::string prefix = batch > 1 ? fmt::format("{},", batch) : std::string{};
  return {"gemm", dtype_of(argument(op, kind.a)), fmt::format("{}{},{},{},{}{}", prefix, m, n, k, b_letter, a_letter)};
}

// --- attention ---

struct AttentionOperator {
  std::string_view name;
  std::size_t causal;   ///< index of the argument is_causal, or of custom_mask_type
  bool sequence_first;  ///< batch, sequence, heads, d; else batch, heads, sequence, d
  std::string_view backend;
};
constexpr std::array kAttentions{
    AttentionOperator{"_cudnn_attention_forward", 10, false, "cudnn"},
    AttentionOperator{"_scaled_dot_product_cudnn_attention", 6, false, "cudnn"},
    AttentionOperator{"_scaled_dot_product_flash_attention", 4, false, "flash"},
    AttentionOperator{"_flash_attention_forward", 8, true, "flash"},
    AttentionOperator{"_scaled_dot_product_efficient_attention", 6, false, "efficient"},
    AttentionOperator{"_efficient_attention_forward", 9, true, "efficient"},
    AttentionOperator{"scaled_dot_product_attention", 5, false, ""},
    AttentionOperator{"_scaled_dot_product_attention_math", 5, false, "math"},
    AttentionOperator{"_flash_attn_forward", 5, true, "flash"},
};

bool causal_of(const RecordedOperator& op, const AttentionOperator& kind) {
  const std::string& value = argument(op, kind.causal).value;
  if (value == "True" || value == "true" || value == "1") {
    return true;
  }
  if (value == "False" || value == "false" || value == "0") {
    return false;
  }
  throw UnsupportedError(fmt::format(
      "{} does not say whether it is causal; profile with record_shapes=True, or give a shape column", op.name));
}

OperatorCells attention_cells(const RecordedOperator& op, const AttentionOperator& kind) {
  const Dims& q = tensor(op, 0, 3);
  const Dims& k = tensor(op, 1, 3);
  if (q.size() != 4 || k.size() != 4) {
    throw UnsupportedError(fmt::format("{} of packed sequences: their lengths are not recorded", op.name));
  }
  const std::size_t heads = kind.sequence_first ? 2 : 1;
  const std::size_t length = kind.sequence_first ? 1 : 2;
  (void)product(q, 0, q.size());
  (void)product(k, 0, k.size());
  return {"attention", dtype_of(argument(op, 0)),
          fmt::format("{},{},{},{},{},{},{},{}", q[0], q[heads], k[heads], q[length], k[length], q[3],
                      causal_of(op, kind) ? 1 : 0, kind.backend)};
}

// --- rows and columns ---

OperatorCells matrix_cells(std::string_view name, std::string dtype, const Dims& dims, std::size_t first_column_dim) {
  (void)product(dims, 0, dims.size());
  return {std::string(name), std::move(dtype),
          fmt::format("{},{}", product(dims, 0, first_column_dim), product(dims, first_column_dim, dims.size()))};
}

/// How many numbers a list such as "[4096]" or "[8, 128]" holds; one where it is not recorded.
std::size_t list_size(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1;
}

OperatorCells norm_cells(const RecordedOperator& op, std::string_view name) {
  const Dims& dims = tensor(op, 0, 1);
  const std::size_t normalised = std::min(list_size(argument(op, 1).value), dims.size());
  return matrix_cells(name, dtype_of(argument(op, 0)), dims, dims.size() - normalised);
}

OperatorCells softmax_cells(const RecordedOperator& op, std::string_view name) {
  const Dims& dims = tensor(op, 0, 1);
  const std::string& text = argument(op, 1).value;
  std::int64_t along = -1;
  std::from_chars(text.data(), text.data() + text.size(), along);
  const auto last = static_cast<std::int64_t>(dims.size()) - 1;
  if (along != -1 && along != last) {
    throw UnsupportedError(fmt::format("softmax along dimension {} of {} is not modelled", along, dims.size()));
  }
  return matrix_cells(name, dtype_of(argument(op, 0)), dims, dims.size() - 1);
}

/// The dimensions that tensors of these have when broadcast together; the larger of two that do not fit.
Dims broadcast(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 1; i <= out.size(); ++i) {
    const std::int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    const std::int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1) {
      return product(a, 0, a.size()) >= product(b, 0, b.size()) ? a : b;
    }
    out[out.size() - i] = x == 1 ? y : x;
  }
  return out;
}

/// A copy of a matrix from rows that run along the other dimension.
bool is_transpose(const RecordedOperator& op, std::string_view name) {
  if (name != "copy" || op.arguments.size() < 2) {
    return false;
  }
  const OperatorArgument& to = op.arguments[0];
  const OperatorArgument& from = op.arguments[1];
  const auto matrix = [](const OperatorArgument& t) {
    return t.dims.size() == 2 && t.strides.size() == 2 && t.dims[0] > 1 && t.dims[1] > 1;
  };
  return matrix(to) && matrix(from) && runs_along(to, 1) != runs_along(from, 1);
}

OperatorCells elementwise_cells(const RecordedOperator& op, std::string_view name) {
  std::optional<Dims> dims;
  std::string dtype;
  for (const OperatorArgument& argument : op.arguments) {
    if (argument.dims.empty()) {
      continue;
    }
    dims = dims ? broadcast(*dims, argument.dims) : argument.dims;
    dtype = dtype.empty() ? dtype_of(argument) : dtype;
  }
  if (!dims) {
    throw UnsupportedError(fmt::format("the shapes of {} are not recorded; profile with record_shapes=True", op.name));
  }
  return matrix_cells(is_transpose(op, name) ? "transpose" : name, dtype, *dims, dims->size() - 1);
}

template <typename Kinds>
auto find_kind(const Kinds& kinds, std::string_view name) {
  return std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.name == name; });
}

}  // namespace

OperatorCells cells_of_operator(const RecordedOperator& op) {
  const std::string_view name = bare_name(op.name);
  if (const auto kind = find_kind(kProducts, name); kind != kProducts.end()) {
    return product_cells(op, *kind);
  }
  if (const auto kind = find_kind(kAttentions, name); kind != kAttentions.end()) {
    return attention_cells(op, *kind);
  }
  if (name == "rms_norm" || name == "_fused_rms_norm") {
    return norm_cells(op, "rmsnorm");
  }
  if (name == "layer_norm" || name == "native_layer_norm") {
    return norm_cells(op, "layernorm");
  }
  if (name == "softmax" || name == "_softmax" || name == "log_softmax" || name == "_log_softmax") {
    return softmax_cells(op, "softmax");
  }
  return elementwise_cells(op, name);
}

}  // namespace strata

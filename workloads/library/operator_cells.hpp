/// From the operator that launched a kernel, as a framework's profiler records it, to cells of launches.csv.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace strata {

/// One argument of an operator: a tensor has dimensions, anything else a text.
struct OperatorArgument {
  std::vector<std::int64_t> dims;     ///< of a list of tensors: those of its first
  std::vector<std::int64_t> strides;  ///< elements; empty when not recorded
  std::string type;                   ///< as the profiler spells it: "c10::BFloat16", "Scalar"
  std::string value;                  ///< of scalars, where recorded: "True", "-1", "[4096]"
};

struct RecordedOperator {
  std::string name;  ///< "aten::mm"
  std::vector<OperatorArgument> arguments;
};

/// The cells op, dtype and shape of a launch.
struct OperatorCells {
  std::string op;
  std::string dtype;  ///< empty when not recorded
  std::string shape;

  bool operator==(const OperatorCells&) const = default;
};

/// PyTorch's matrix products, attentions (FlashAttention's and xFormers' too), softmax, norms, reductions; every other
/// operator is taken as elementwise over the broadcast of its tensors. Argument orders are those of PyTorch 2's
/// native_functions.yaml. Throws UnsupportedError that says what is missing and how to record it.
[[nodiscard]] OperatorCells cells_of_operator(const RecordedOperator& op);

}  // namespace strata

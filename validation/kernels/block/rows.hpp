// Problems of rows x cols elements.
#pragma once

#include "../harness/kernel.hpp"

namespace ladder {

struct RowsCols {
  std::size_t rows = 0, cols = 0;
  [[nodiscard]] std::size_t count() const { return rows * cols; }
};

[[nodiscard]] inline std::vector<Key> rows_cols_keys() {
  return {{"rows", 4096, "rows"}, {"cols", 4096, "columns, contiguous"}};
}

[[nodiscard]] inline RowsCols rows_cols(const Shape& shape) {
  const RowsCols rc{static_cast<std::size_t>(shape.size("rows")), static_cast<std::size_t>(shape.size("cols"))};
  require(rc.count() < (std::size_t{1} << 31), "rows x cols must be under 2^31");
  return rc;
}

/// Starts a problem: the shape cell, and compulsory bytes for `matrices` matrices of the size.
[[nodiscard]] inline Problem rows_problem(const RowsCols& rc, Type type, double matrices) {
  Problem problem;
  problem.shape = std::to_string(rc.rows) + "," + std::to_string(rc.cols);
  problem.bytes = matrices * double(rc.count()) * double(type_bytes(type));
  return problem;
}

/// An output of the size whose elements the host computes one by one.
[[nodiscard]] inline Output element_output(const TensorPtr& tensor, const RowsCols& rc,
                                           std::function<double(std::size_t row, std::size_t col)> value, double cost) {
  Output output;
  output.tensor = tensor;
  output.rows = rc.rows;
  output.cols = rc.cols;
  output.cost_per_element = cost;
  output.reference = [value](std::size_t row, std::span<const std::size_t> cols, double* values) {
    for (std::size_t i = 0; i < cols.size(); ++i) values[i] = value(row, cols[i]);
  };
  return output;
}

}  // namespace ladder

/// The shape column of launches.csv.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace strata {

struct GemmCells {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::string layout;  ///< "TN", ...
  std::int64_t batch = 1;
  bool names_layout = false;  ///< false: the shape ends with K, and TN is assumed
};

struct AttentionCells {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t q_len = 0;
  std::int64_t kv_len = 0;
  std::int64_t head_dim = 0;
  bool causal = false;
  std::string backend;
};

struct RowsColsCells {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

/// "[batch,]M,N,K,layout"; without a layout it is TN. Each throws UnsupportedError that says what was found and
/// expected.
[[nodiscard]] GemmCells parse_gemm_shape(const std::string& shape);
/// "batch,heads,kv_heads,q,kv,d,causal,backend"; causal is 0/1, true/false or causal/full; the backend may be missing.
[[nodiscard]] AttentionCells parse_attention_shape(const std::string& shape);
/// "rows,cols"
[[nodiscard]] RowsColsCells parse_rows_cols(const std::string& shape);

/// What was expected in place of the first cell that is no value at all: neither a whole number nor, where one belongs,
/// a layout or a mask. Empty where there is none, and where the operator's shape has another number of cells. Numbers
/// that no kernel takes, such as 0, are values.
[[nodiscard]] std::string unreadable_cell(const std::string& op, const std::string& shape);

}  // namespace strata

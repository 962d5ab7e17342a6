#include "workloads/library/flash_attention_2_row.hpp"

#include <fmt/format.h>

#include "sim/base/error.hpp"
#include "workloads/library/shape.hpp"

namespace strata {
namespace {

std::uint32_t size_of(const char* what, std::int64_t value) {
  if (value < 1 || value > (std::int64_t{1} << 26)) {
    throw UnsupportedError(fmt::format("shape: {} = {}; expected 1 to 2^26", what, value));
  }
  return static_cast<std::uint32_t>(value);
}

}  // namespace

AttentionShape attention_shape_of(const LaunchRow& row) {
  const AttentionCells cells = parse_attention_shape(row.shape);
  AttentionShape s;
  s.batch = size_of("batch", cells.batch);
  s.heads = size_of("heads", cells.heads);
  s.kv_heads = size_of("kv_heads", cells.kv_heads);
  s.q_len = size_of("q", cells.q_len);
  s.kv_len = size_of("kv", cells.kv_len);
  s.head_dim = size_of("d", cells.head_dim);
  s.causal = cells.causal;
  if (!row.dtype.empty()) s.dtype = parse_data_type(row.dtype);
  return s;
}

void take_named_cells(const LaunchRow& row, bool causal, DataType element, BuiltKernel& built) {
  const auto mask = [](bool hides) { return hides ? "causal" : "full"; };
  const AttentionCells cells = parse_attention_shape(row.shape);
  const bool same = cells.causal == causal || (cells.causal && cells.q_len == 1);
  if (!same && row.asked.causal) {
    throw UnsupportedError(fmt::format("the name says {} attention, --causal says {}; leave out one of the two",
                                       mask(causal), *row.asked.causal ? "on" : "off"));
  }
  if (!same) {
    built.warning = fmt::format("a shape of {} attention; the {} one of the kernel's name is simulated",
                                mask(cells.causal), mask(causal));
  } else if (built.warning = overruled_operator(row, "attention"); built.warning.empty()) {
    built.warning = overruled_type(row, element);
  }
}

void expect_grid(const LaunchRow& row, const Dim3& expected) {
  if (!row.grid || *row.grid == expected) return;
  throw UnsupportedError(fmt::format("grid {}x{}x{} does not fit the shape, which needs {}x{}x{}", row.grid->x,
                                     row.grid->y, row.grid->z, expected.x, expected.y, expected.z));
}

}  // namespace strata

#include "workloads/library/row_shape.hpp"

#include <fmt/format.h>

#include <charconv>

#include "sim/base/error.hpp"
#include "workloads/library/shape.hpp"

namespace strata {
namespace {

constexpr double kMaxElements = 0x1p40;

RowMatrix checked(double rows, double cols) {
  if (rows * cols > kMaxElements || rows > 0x7fffffff || cols > 0x7fffffff) {
    throw UnsupportedError(fmt::format(
        "shape: {:.0f} x {:.0f} elements; at most 2^40 of them, 2^31 - 1 along each side, are simulated", rows, cols));
  }
  return {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols)};
}

}  // namespace

RowMatrix row_matrix_of(const LaunchRow& row) {
  if (row.op == "attention") {
    const AttentionCells a = parse_attention_shape(row.shape);
    return checked(static_cast<double>(a.batch) * static_cast<double>(a.heads) * static_cast<double>(a.q_len),
                   static_cast<double>(a.kv_len));
  }
  if (row.op == "gemm") {
    const GemmCells g = parse_gemm_shape(row.shape);
    return checked(static_cast<double>(g.m), static_cast<double>(g.n));
  }
  const RowsColsCells m = parse_rows_cols(row.shape);
  return checked(static_cast<double>(m.rows), static_cast<double>(m.cols));
}

std::array<std::uint64_t, 3> three_cells(const std::string& shape, const char* expected) {
  std::array<std::uint64_t, 3> cells{};
  const char* at = shape.data();
  const char* end = at + shape.size();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0 && at != end && *at == ',') ++at;
    const auto [next, error] = std::from_chars(at, end, cells[i]);
    const bool last = i + 1 == cells.size();
    if (error != std::errc{} || cells[i] == 0 || cells[i] > 0x7fffffff || (last ? next != end : next == end)) {
      throw UnsupportedError(fmt::format("shape '{}': expected {}", shape, expected));
    }
    at = next;
  }
  return cells;
}

std::uint32_t threads_of(const LaunchRow& row, std::uint32_t fallback) {
  const std::uint64_t threads = row.block ? row.block->count() : fallback;
  if (threads == 0 || threads > 1024 || threads % 32 != 0) {
    throw UnsupportedError(fmt::format("{} threads per CTA; expected a multiple of 32 up to 1024", threads));
  }
  return static_cast<std::uint32_t>(threads);
}

void check_memory(double bytes, const TargetFacts& target) {
  if (target.memory_bytes > 0 && bytes > static_cast<double>(target.memory_bytes)) {
    throw UnsupportedError(fmt::format("the tensors need {:.1f} GiB, more than the GPU has", bytes / 0x1p30));
  }
}

bool calls_kernel(std::string_view canonical, std::string_view name) {
  const std::string_view head = canonical.substr(0, canonical.find('<'));
  if (!head.ends_with(name)) return false;
  const std::size_t before = head.size() - name.size();
  return before == 0 || head[before - 1] == ':';
}

}  // namespace strata

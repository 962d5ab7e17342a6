#include "workloads/library/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>

#include "sim/base/error.hpp"

namespace strata {

namespace {

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

constexpr const char* kGemmForm = "[batch,]M,N,K,layout";
constexpr const char* kAttentionForm = "batch,heads,kv_heads,q,kv,d,causal,backend";
constexpr const char* kRowsForm = "rows,cols";

bool is_layout_word(std::string_view word) {
  return word.size() == 2 && word.find_first_not_of("NTnt") == std::string_view::npos;
}

std::optional<bool> mask_of(std::string_view word) {
  if (word == "1" || word == "true" || word == "True" || word == "causal") return true;
  if (word == "0" || word == "false" || word == "False" || word == "full") return false;
  return std::nullopt;
}

bool is_number(std::string_view cell) {
  return !cell.empty() && cell.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Cells of one shape, with errors that quote the whole of it.
class Cells {
 public:
  Cells(const std::string& shape, const char* expected) : shape_(shape), expected_(expected) {
    std::string_view rest = shape_;
    for (std::size_t comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(',')) {
      cells_.push_back(trim(rest.substr(0, comma)));
      rest.remove_prefix(comma + 1);
    }
    cells_.push_back(trim(rest));
  }

  void require(std::size_t fewest, std::size_t most) const {
    if (cells_.size() < fewest || cells_.size() > most) {
      const bool empty = cells_.size() == 1 && cells_.front().empty();
      fail(empty ? std::string("is empty")
                 : fmt::format("has {} cell{}", cells_.size(), cells_.size() == 1 ? "" : "s"));
    }
  }
  [[nodiscard]] std::size_t size() const { return cells_.size(); }
  [[nodiscard]] std::string_view at(std::size_t i) const { return cells_[i]; }

  /// A number of 1 to `highest`; products of a few stay within 64 bits.
  [[nodiscard]] std::int64_t positive(std::size_t i, std::int64_t highest = 0x7fffffff) const {
    std::int64_t value = 0;
    const std::string_view cell = cells_[i];
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error == std::errc::result_out_of_range) {
      fail(fmt::format("cell {} is {}, beyond {}", i + 1, cell, highest));
    }
    if (error != std::errc{} || end != cell.data() + cell.size() || value < 1) {
      fail(fmt::format("cell {} is '{}', not a positive integer", i + 1, cell));
    }
    if (value > highest) {
      fail(fmt::format("cell {} is {}, above {}", i + 1, cell, highest));
    }
    return value;
  }

  [[noreturn]] void fail(const std::string& found) const {
    throw UnsupportedError(fmt::format("shape '{}' {}; expected {}", shape_, found, expected_));
  }

 private:
  std::string shape_;
  const char* expected_;
  std::vector<std::string_view> cells_;
};

}  // namespace

GemmCells parse_gemm_shape(const std::string& shape) {
  const Cells cells(shape, kGemmForm);
  cells.require(3, 5);
  const std::string_view last = cells.at(cells.size() - 1);
  const bool has_layout = last.empty() || std::isdigit(static_cast<unsigned char>(last.front())) == 0;
  const std::size_t numbers = cells.size() - (has_layout ? 1 : 0);
  if (numbers != 3 && numbers != 4) {
    cells.fail(fmt::format("has {} numbers", numbers));
  }
  const std::size_t first = numbers - 3;
  GemmCells out{cells.positive(first), cells.positive(first + 1), cells.positive(first + 2), "TN"};
  if (first == 1) {
    out.batch = cells.positive(0);
  }
  if (has_layout && !last.empty()) {
    if (!is_layout_word(last)) {
      cells.fail(fmt::format("has layout '{}', none of NN, NT, TN, TT", last));
    }
    out.layout = std::string(last);
    std::transform(out.layout.begin(), out.layout.end(), out.layout.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    out.names_layout = true;
  }
  return out;
}

AttentionCells parse_attention_shape(const std::string& shape) {
  const Cells cells(shape, kAttentionForm);
  cells.require(7, 8);
  AttentionCells out;
  out.batch = cells.positive(0);
  out.heads = cells.positive(1);
  out.kv_heads = cells.positive(2);
  out.q_len = cells.positive(3);
  out.kv_len = cells.positive(4);
  out.head_dim = cells.positive(5);
  const std::string_view causal = cells.at(6);
  const std::optional<bool> mask = mask_of(causal);
  if (!mask) {
    cells.fail(fmt::format("has '{}' for causal", causal));
  }
  out.causal = *mask;
  if (cells.size() == 8) {
    out.backend = std::string(cells.at(7));
  }
  return out;
}

RowsColsCells parse_rows_cols(const std::string& shape) {
  const Cells cells(shape, kRowsForm);
  cells.require(2, 2);
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // a tensor of one row may have more than 2^31 elements
  return {cells.positive(0, kMost), cells.positive(1, kMost)};
}

std::string unreadable_cell(const std::string& op, const std::string& shape) {
  constexpr std::size_t kMask = 6;
  const bool gemm = op == "gemm";
  const bool attention = op == "attention";
  const char* form = gemm ? kGemmForm : (attention ? kAttentionForm : kRowsForm);
  const Cells cells(shape, form);
  const std::size_t n = cells.size();
  if (gemm ? n < 3 || n > 5 : (attention ? n < kMask + 1 || n > kMask + 2 : n != 2)) return {};
  for (std::size_t i = 0; i < n; ++i) {
    const std::string_view cell = cells.at(i);
    const bool layout = gemm && i + 1 == n && !is_number(cell);
    if (attention && i == kMask ? mask_of(cell).has_value()
                                : (layout ? cell.empty() || is_layout_word(cell) : i > kMask || is_number(cell))) {
      continue;
    }
    const char* wanted = layout ? "NN, NT, TN or TT" : (i == kMask ? "0 or 1" : "a whole number");
    return fmt::format("{} with {} as cell {}, found '{}'", form, wanted, i + 1, cell);
  }
  return {};
}

}  // namespace strata

#include "workloads/library/split_producer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <tuple>

#include "sim/base/error.hpp"
#include "workloads/library/shape.hpp"

namespace strata {

namespace {

std::optional<std::uint64_t> number_of(const std::string& seq) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(seq.data(), seq.data() + seq.size(), value);
  return error == std::errc{} && end == seq.data() + seq.size() ? std::optional(value) : std::nullopt;
}

/// Whether no launch of the case that the file numbers stands between the two.
bool follows(const LaunchRow& previous, const LaunchRow& row) {
  const auto before = number_of(previous.seq);
  const auto own = number_of(row.seq);
  return !before || !own || *own == *before + 1;
}

/// "bf16" is "BF16" and "bfloat16".
bool same_type(const std::string& a, const std::string& b) {
  if (a == b || a.empty() || b.empty()) return a == b;
  try {
    return parse_data_type(a) == parse_data_type(b);
  } catch (const InputError&) {
    return false;
  }
}

/// Blanks, the case of a layout, a layout that is the default and a batch of 1 make no other shape.
bool same_shape(const std::string& op, const std::string& a, const std::string& b) {
  if (a == b) return true;
  try {
    if (op == "gemm") {
      const auto cells = [](const std::string& shape) {
        const GemmCells c = parse_gemm_shape(shape);
        return std::tuple(c.batch, c.m, c.n, c.k, c.layout);
      };
      return cells(a) == cells(b);
    }
    if (op == "attention") {
      const auto cells = [](const std::string& shape) {
        const AttentionCells c = parse_attention_shape(shape);
        return std::tuple(c.batch, c.heads, c.kv_heads, c.q_len, c.kv_len, c.head_dim, c.causal, c.backend);
      };
      return cells(a) == cells(b);
    }
  } catch (const UnsupportedError&) {  // a shape that does not parse is the same as one with the same letters only
  }
  return false;
}

/// What tells that `previous` did not leave what `row` adds up; empty where nothing does.
std::string difference(const LaunchRow& previous, const LaunchRow& row) {
  const auto differs = [](const char* cell, const std::string& before, const std::string& own) {
    return fmt::format("{} is '{}' there and '{}' here", cell, before, own);
  };
  if (previous.case_name != row.case_name) return differs("case", previous.case_name, row.case_name);
  if (row.case_name.empty()) return "neither has a case that tells that they belong together";
  if (previous.op != row.op) return differs("op", previous.op, row.op);
  if (!same_type(previous.dtype, row.dtype)) return differs("dtype", previous.dtype, row.dtype);
  if (!same_shape(row.op, previous.shape, row.shape)) return differs("shape", previous.shape, row.shape);
  if (!follows(previous, row)) return differs("seq", previous.seq, row.seq) + ", expected the next number";
  return {};
}

}  // namespace

void link_producer(const LaunchRow& previous, LaunchRow& row) {
  if (!uses_producer(row.kernel) || previous.kernel.empty()) {
    return;
  }
  row.producer_differs = difference(previous, row);
  if (row.producer_differs.empty()) {
    row.producer_kernel = previous.kernel;
    row.producer_grid = previous.grid;
  }
}

void link_sum(LaunchRow& row, const LaunchRow& next) {
  row.parts_are_summed = !next.producer_kernel.empty() && family_of(next.kernel) == "splitk_sum";
}

std::uint32_t parts_of_producer(const LaunchRow& row, const TargetFacts& target,
                                std::initializer_list<std::string_view> families, std::string_view word) {
  constexpr const char* kRecord =
      "how many parts it adds up is in no name; give the launch that left them in the row before, of the same case, "
      "op, "
      "dtype and shape, with its grid_dim";
  if (row.producer_kernel.empty()) {
    const bool near = !row.producer_differs.empty();
    throw UnsupportedError(near ? fmt::format("{}; of the launch before it {}", kRecord, row.producer_differs)
                                : std::string(kRecord));
  }
  const std::string family = family_of(row.producer_kernel);
  if (std::find(families.begin(), families.end(), family) == families.end() ||
      canonical_kernel_name(row.producer_kernel).find(word) == std::string::npos) {
    throw UnsupportedError(fmt::format("the launch before it is none that leaves it parts (expected one of {}); {}",
                                       fmt::join(families, ", "), kRecord));
  }
  LaunchRow producer;
  producer.op = row.op;
  producer.dtype = row.dtype;
  producer.shape = row.shape;
  producer.kernel = row.producer_kernel;
  producer.grid = row.producer_grid;
  std::uint32_t parts = 0;
  try {
    parts = resolve_launch(producer, target).parts;
  } catch (const UnsupportedError& error) {
    throw UnsupportedError(
        fmt::format("the launch before it, whose parts it adds up, cannot be predicted: {}", error.what()));
  }
  if (parts < 2) {
    throw UnsupportedError(fmt::format("the launch before it is not split; {}", kRecord));
  }
  return parts;
}

}  // namespace strata

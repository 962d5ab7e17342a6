#include "workloads/library/split_producer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "sim/base/error.hpp"

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

}  // namespace

void link_producer(const LaunchRow& previous, LaunchRow& row) {
  const bool same = !previous.case_name.empty() && previous.case_name == row.case_name && previous.op == row.op &&
                    previous.dtype == row.dtype && previous.shape == row.shape;
  if (same && follows(previous, row) && uses_producer(row.kernel)) {
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
    throw UnsupportedError(kRecord);
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

/// What the row-wise families read from a row of launches.csv.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "workloads/library/resolve.hpp"

namespace strata {

/// Rows and columns of the matrix that a row-wise kernel works on: rows,cols as given; of attention the scores, batch x
/// heads x queries rows of kv columns; of a GEMM its result. UnsupportedError without a shape or beyond 2^40 elements.
struct RowMatrix {
  std::uint64_t rows = 0;
  std::uint64_t cols = 0;
};
[[nodiscard]] RowMatrix row_matrix_of(const LaunchRow& row);

/// Three positive numbers with commas between them; UnsupportedError says what was `expected` otherwise.
[[nodiscard]] std::array<std::uint64_t, 3> three_cells(const std::string& shape, const char* expected);

/// Threads of a CTA as the row gives them, or `fallback`; UnsupportedError unless a multiple of 32 up to 1024.
[[nodiscard]] std::uint32_t threads_of(const LaunchRow& row, std::uint32_t fallback);

/// Throws UnsupportedError when tensors of this size do not fit the target's memory.
void check_memory(double bytes, const TargetFacts& target);

/// Whether the canonical name calls the kernel `name`, in whatever namespace.
[[nodiscard]] bool calls_kernel(std::string_view canonical, std::string_view name);

}  // namespace strata

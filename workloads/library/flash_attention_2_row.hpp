/// What the attention families read from a row of launches.csv.
#pragma once

#include "workloads/kernels/attention_common.hpp"
#include "workloads/library/resolve.hpp"

namespace strata {

/// The row's shape cell as an AttentionShape; throws UnsupportedError for sizes outside 1..2^26.
[[nodiscard]] AttentionShape attention_shape_of(const LaunchRow& row);

/// Throws UnsupportedError when the row gives another grid than the kernel would have for this shape.
void expect_grid(const LaunchRow& row, const Dim3& expected);

}  // namespace strata

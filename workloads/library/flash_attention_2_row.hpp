/// What the attention families read from a row of launches.csv.
#pragma once

#include "workloads/kernels/attention_common.hpp"
#include "workloads/library/resolve.hpp"

namespace strata {

/// The row's shape cell as an AttentionShape; throws UnsupportedError for sizes outside 1..2^26.
[[nodiscard]] AttentionShape attention_shape_of(const LaunchRow& row);

/// Takes the mask that the kernel's name says: warns where the shape says another, throws UnsupportedError where
/// another was asked for; warns of another type of operands too. One query sees every key, so the library masks nothing
/// then.
void take_named_cells(const LaunchRow& row, bool causal, DataType element, BuiltKernel& built);

/// Throws UnsupportedError when the row gives another grid than the kernel would have for this shape.
void expect_grid(const LaunchRow& row, const Dim3& expected);

}  // namespace strata

/// The kernels of validation/kernels/block and the sum of split-K parts, by name.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser ladder_rows_family();
[[nodiscard]] FamilyParser ladder_elementwise_family();
[[nodiscard]] FamilyParser ladder_splitk_sum_family();

}  // namespace strata

/// PyTorch's reduce_kernel: sums, means, extremes and the like over a dimension.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser tensor_reduce_family();

}  // namespace strata

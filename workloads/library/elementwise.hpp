/// PyTorch's elementwise kernels: vectorized_, unrolled_ and (strided) elementwise_kernel.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser elementwise_family();

}  // namespace strata

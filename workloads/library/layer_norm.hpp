/// PyTorch's vectorized_layer_norm_kernel: layer norm and RMS norm.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser layer_norm_family();

}  // namespace strata

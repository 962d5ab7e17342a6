/// PyTorch's softmax and log-softmax: softmax_warp_forward and cunn_SoftMaxForward, -Reg, -Smem.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser softmax_family();

}  // namespace strata

/// Sums over a split KV cache: FlashAttention-2's combine kernel and cuDNN's lean_reduction_kernel.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser flash_combine_family();
[[nodiscard]] FamilyParser lean_reduction_family();

}  // namespace strata

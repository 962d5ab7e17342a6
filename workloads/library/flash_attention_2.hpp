/// FlashAttention-2 forward kernels: flash_fwd_kernel<Flash_fwd_kernel_traits<d, block_m, block_n, warps, ...>, ...>.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser flash_attention_2_family();

}  // namespace strata

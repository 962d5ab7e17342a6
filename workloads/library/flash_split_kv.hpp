/// FlashAttention-2 forward for few queries: flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<...>, ..., Split,
/// Append>.
///
/// The keys of a query tile are divided over CTAs; each leaves fp32 partials that flash_fwd_splitkv_combine_kernel
/// adds. With one query and grouped heads the library treats the heads of a group as query rows.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser flash_split_kv_family();

}  // namespace strata

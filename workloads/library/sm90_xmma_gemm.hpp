/// cuBLAS's sm90_xmma_gemm_* kernels: TMA + wgmma, persistent.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser sm90_xmma_gemm_family();

}  // namespace strata

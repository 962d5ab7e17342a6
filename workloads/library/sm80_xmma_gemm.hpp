/// cuBLAS's sm80_xmma_gemm_* kernels (and sm70, sm75, sm86, sm89 ones): a plain grid, FFMA or mma.sync.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser sm80_xmma_gemm_family();

}  // namespace strata

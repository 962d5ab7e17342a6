/// The matrix products of validation/kernels/gemm by name: strata_gemm_<simt|mma|wmma|wgmma>_...
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser ladder_simt_family();
[[nodiscard]] FamilyParser ladder_mma_family();
[[nodiscard]] FamilyParser ladder_wmma_family();
[[nodiscard]] FamilyParser ladder_wgmma_family();

}  // namespace strata

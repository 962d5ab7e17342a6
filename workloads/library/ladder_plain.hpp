/// The ladder's kernels without rings or rows: naive and tiled GEMM, GEMV, transpose, rotary embedding.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser ladder_plain_gemm_family();
[[nodiscard]] FamilyParser ladder_gemv_family();
[[nodiscard]] FamilyParser ladder_transpose_family();
[[nodiscard]] FamilyParser ladder_rotary_family();

}  // namespace strata

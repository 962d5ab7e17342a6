/// cuBLASLt's splitKreduce_kernel.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser split_k_sum_family();

}  // namespace strata

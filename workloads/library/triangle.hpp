/// PyTorch's triu_tril_kernel.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser triangle_family();

}  // namespace strata

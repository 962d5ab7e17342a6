/// The catalogue's entry for the cp.async + mma.sync GEMM.
#pragma once

#include "workloads/kernels/catalogue.hpp"

namespace strata {

/// "gemm_mma_sync"
[[nodiscard]] KernelSpec gemm_mma_sync_spec();

}  // namespace strata

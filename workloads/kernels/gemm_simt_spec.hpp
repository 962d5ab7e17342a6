/// The catalogue's entry for the fp32 GEMM on the FMA pipe.
#pragma once

#include "workloads/kernels/catalogue.hpp"

namespace strata {

/// "gemm_simt"
[[nodiscard]] KernelSpec gemm_simt_spec();

}  // namespace strata

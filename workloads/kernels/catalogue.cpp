#include "workloads/kernels/catalogue.hpp"

#include <array>

#include "workloads/kernels/attention_spec.hpp"
#include "workloads/kernels/elementwise_spec.hpp"
#include "workloads/kernels/gemm_mma_sync_spec.hpp"
#include "workloads/kernels/gemm_simt_spec.hpp"
#include "workloads/kernels/gemm_tma_wgmma_spec.hpp"
#include "workloads/kernels/rowwise_spec.hpp"

namespace strata {

std::span<const KernelSpec> kernel_catalogue() {
  static const std::array kCatalogue{
      gemm_spec(),        gemm_tma_wgmma_spec(), gemm_mma_sync_spec(), gemm_simt_spec(), flash_attention_spec(),
      elementwise_spec(), rowwise_spec(),
  };
  return kCatalogue;
}

}  // namespace strata

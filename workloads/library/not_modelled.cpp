#include "workloads/library/not_modelled.hpp"

#include <array>

namespace strata {

namespace {

struct Known {
  std::string_view word;  ///< of the name
  std::string_view reason;
};

constexpr std::string_view kGemv = "cuBLAS's products of a matrix and a vector (gemv) are not modelled";
constexpr std::string_view kCutlass3 = "GEMMs of CUTLASS 3.x (cutlass::device_kernel, cutlass3x) are not modelled";

/// First come, first served: a word that another holds stands behind it.
constexpr std::array kKnown{
    // PyTorch's Shape.cu: a loop over a grid of two CTAs per SM and tensor, with a division for each dimension of each
    // element, whose cost the name does not tell.
    Known{"CatArrayBatchedCopy",
          "concatenation is not modelled: it divides by run-time sizes for each element, which no generator counts"},
    Known{"ncclDevKernel", "communication between GPUs is not modelled"},
    Known{"ncclKernel", "communication between GPUs is not modelled"},
    Known{"triton_", "a kernel that Triton generated: its name does not tell what it does"},
    Known{"multi_tensor_apply", "steps of optimizers over lists of tensors are not modelled"},
    Known{"index_elementwise_kernel", "gathers and scatters by an index tensor are not modelled"},
    Known{"indexSelect", "gathers and scatters by an index tensor are not modelled"},
    Known{"vectorized_gather_kernel", "gathers and scatters by an index tensor are not modelled"},
    Known{"_scatter_gather_elementwise_kernel", "gathers and scatters by an index tensor are not modelled"},
    Known{"RadixSort", "sorting is not modelled"},
    Known{"radixSort", "sorting is not modelled"},
    Known{"DeviceScan", "prefix sums are not modelled"},
    Known{"flash_bwd", "the backward pass of attention is not modelled"},
    Known{"_bprop", "the backward pass of attention is not modelled"},
    Known{"layer_norm_grad", "the backward pass of a norm is not modelled"},
    Known{"softmax_warp_backward", "the backward pass of softmax is not modelled"},
    Known{"SoftMaxBackward", "the backward pass of softmax is not modelled"},
    Known{"gemv2T", kGemv},
    Known{"gemv2N", kGemv},
    Known{"gemvNSP", kGemv},
    Known{"fmha_cutlassB", "the backward pass of attention is not modelled"},
    Known{"fmha_cutlassF", "CUTLASS's memory-efficient attention (fmha_cutlassF) is not modelled"},
    Known{"cutlass3x_", kCutlass3},
};

/// What stands behind the name of a wrapper, or behind a result's type.
constexpr std::array kWrapped{
    Known{"gemvx", kGemv},
    Known{"FlashAttnFwd",
          "FlashAttention-3 is not modelled by its kernels' names; `strata run flash_attention` has its "
          "algorithm"},
    Known{"FlashAttnBwd", "the backward pass of attention is not modelled"},
    Known{"GemmGrouped", "grouped GEMMs, products of a list of sizes, are not modelled"},
    Known{"GemmUniversal", kCutlass3},
    Known{"cutlass3x_", kCutlass3},
};

}  // namespace

std::string_view reason_not_modelled(std::string_view canonical) {
  const std::string_view name = canonical.substr(0, canonical.find('<'));
  for (const Known& known : kKnown) {
    if (name.find(known.word) != std::string_view::npos) {
      return known.reason;
    }
  }
  const bool cutlass = name.ends_with("cutlass::device_kernel") || name.ends_with("cutlass::Kernel") ||
                       name.ends_with("cutlass::Kernel2");
  if (!cutlass && !name.ends_with("enable_if")) return {};
  for (const Known& known : kWrapped) {
    if (canonical.find(known.word) != std::string_view::npos) {
      return known.reason;
    }
  }
  return cutlass
             ? "kernels that are instances of CUTLASS's templates are modelled only where the name has the library's "
               "form, cutlass_80_tensorop_..."
             : std::string_view{};
}

}  // namespace strata

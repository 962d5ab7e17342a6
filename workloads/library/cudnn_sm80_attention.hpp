/// cuDNN's mma.sync attention: ..._sm80_flash_fprop_wmma_f16_knob_K_<q rows>x<kv rows>x<d>_<warps>_cga1x1x1_kernel0_0.
///
/// Warps 1x4x1 divide the keys of a step and share the query rows (decode); 4x1x1 divide the query rows (prefill). x of
/// the grid counts query tiles and, beyond them, splits of the keys; y the heads, z the batch. Split kernels leave fp32
/// partials that a lean_reduction_kernel adds.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser cudnn_sm80_attention_family();

}  // namespace strata

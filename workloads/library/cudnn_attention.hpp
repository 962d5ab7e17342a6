/// cuDNN's Hopper attention: ..._sm90_flash_fprop_wgmma_f16_knob_K_<q rows>x<kv rows>x<d>_4x1x1_cga1x1x1_kernel0_0.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

[[nodiscard]] FamilyParser cudnn_sm90_attention_family();

}  // namespace strata

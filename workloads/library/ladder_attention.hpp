/// The ladder's own attention kernels (validation/kernels/attention), by their names.
#pragma once

#include "workloads/library/families.hpp"

namespace strata {

/// strata_attention_<rung>_<tile>_<variant>_d<head dim>_<full|causal>_<type>. The combining kernel's name does not tell
/// its splits: the shape's last cell does ("split256").
[[nodiscard]] FamilyParser ladder_attention_family();

}  // namespace strata

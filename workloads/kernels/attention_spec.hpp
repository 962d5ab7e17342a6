/// The catalogue's entry "flash_attention".
#pragma once

#include "workloads/kernels/catalogue.hpp"

namespace strata {

[[nodiscard]] KernelSpec flash_attention_spec();

}  // namespace strata

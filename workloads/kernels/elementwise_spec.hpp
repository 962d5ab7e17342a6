/// The catalogue's entry "elementwise".
#pragma once

#include "workloads/kernels/catalogue.hpp"

namespace strata {

[[nodiscard]] KernelSpec elementwise_spec();

}  // namespace strata

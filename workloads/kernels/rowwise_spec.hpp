/// The catalogue's entry "rowwise": softmax, norms and reductions of a matrix.
#pragma once

#include "workloads/kernels/catalogue.hpp"

namespace strata {

[[nodiscard]] KernelSpec rowwise_spec();

}  // namespace strata

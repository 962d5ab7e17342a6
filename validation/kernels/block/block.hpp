// The kernels of a transformer block that are not matrix products.
#pragma once

#include "../harness/kernel.hpp"

namespace ladder {

void add_rowwise(Catalogue& catalogue);      // softmax, LayerNorm, RMSNorm, residual + norm
void add_elementwise(Catalogue& catalogue);  // activations, bias, residual
void add_rotary(Catalogue& catalogue);
void add_transpose(Catalogue& catalogue);

}  // namespace ladder

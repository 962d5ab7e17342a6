// Tensor maps of [heads, rows, d] arrays of 16-bit elements.
#pragma once

#include <cuda.h>

#include "../harness/tensor.hpp"

namespace ladder {

/// Boxes of `box_rows` rows and 64 columns (all of them where d is smaller), swizzled by their row's width; rows beyond
/// a head's end read as zeros and are not stored.
/// Errors: exits where the driver refuses the map.
[[nodiscard]] CUtensorMap head_tensor_map(const Tensor& tensor, int head_dim, long rows, long heads, int box_rows);

}  // namespace ladder

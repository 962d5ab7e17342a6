/// The GPU that most tests simulate, read once.
#pragma once

#include "sim/config/gpu_description.hpp"

namespace strata::test {

inline const GpuConfig& h100() {
  static const GpuConfig config = load_gpu("h100-sxm5-80gb").config;
  return config;
}

}  // namespace strata::test

/// The GPU that a profile was recorded on, as far as the profile tells.
#pragma once

#include <optional>
#include <string>

#include "sim/config/gpu_config.hpp"

namespace strata::app {

struct ProfiledGpu {
  std::string name;                ///< "NVIDIA H100 80GB HBM3"; empty where the profile does not say
  std::string compute_capability;  ///< "9.0"; likewise
  std::optional<int> sms;
};

/// What tells that a profile's GPU is another than `gpu`, in words; empty where nothing does.
[[nodiscard]] std::string gpu_difference(const ProfiledGpu& profiled, const GpuConfig& gpu);

}  // namespace strata::app

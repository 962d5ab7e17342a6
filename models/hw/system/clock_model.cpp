#include "models/hw/system/clock_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/error.hpp"

namespace strata {

ClockChoice choose_clock(const GpuConfig& gpu, const WorkTotals& work, double given_mhz) {
  if (given_mhz != 0.0) {
    if (!std::isfinite(given_mhz) || given_mhz < 1.0) {
      throw InputError(
          Diagnostic{{}, 0, 0, "sm clock", fmt::format("{} MHz: expected 1 to {}", given_mhz, gpu.clocks.sm_max_mhz)});
    }
    const int mhz = std::max(1, static_cast<int>(std::lround(std::min(given_mhz, 1e6))));
    if (mhz > gpu.clocks.sm_max_mhz) {
      return {gpu.clocks.sm_max_mhz, fmt::format("given {:.0f} MHz, clamped to the part's maximum", given_mhz)};
    }
    return {mhz, "given"};
  }
  constexpr double kLanes = 32;
  const double fma = work.tensor_type == DataType::kFp8 || work.tensor_type == DataType::kInt8 ? gpu.tensor.fma_8bit
                     : work.tensor_type == DataType::kTf32                                     ? gpu.tensor.fma_tf32
                                                                                               : gpu.tensor.fma_16bit;
  const double tensor_us =
      work.tensor_flops / 2.0 / std::max(1.0, fma) / gpu.num_sms() / static_cast<double>(gpu.clocks.sm_max_mhz);
  const double hbm_us = (work.compulsory_read_bytes + work.compulsory_write_bytes) / (gpu.hbm_peak_gb_per_s() * 1000.0);
  // Exponentials stand between the two products of attention: the tensor cores wait for them.
  const double mufu_us = work.mufu_ops / (gpu.sm.mufu_per_cycle_smsp * kLanes * gpu.sm.smsps) / gpu.num_sms() /
                         static_cast<double>(gpu.clocks.sm_max_mhz);
  const double longest = std::max({tensor_us, hbm_us, 1.0});
  const double tensor = tensor_us / std::max(longest, tensor_us + mufu_us);
  const double hbm = hbm_us / longest;
  const double drop = tensor * (gpu.clocks.sm_max_mhz - gpu.clocks.sm_loaded_mhz) +
                      hbm * (1.0 - tensor) * (gpu.clocks.sm_max_mhz - gpu.clocks.sm_memory_mhz);
  const int mhz = static_cast<int>(std::lround(gpu.clocks.sm_max_mhz - drop));
  return {std::max(mhz, 1), fmt::format("clock model: tensor cores {:.0f} %, HBM {:.0f} % busy at the roofline",
                                        100 * tensor, 100 * hbm)};
}

}  // namespace strata

/// What a spreadsheet would say: the two baselines that a simulation has to beat.
#pragma once

#include <string>

#include "sim/config/gpu_config.hpp"
#include "sim/result/result.hpp"

namespace strata {

struct RooflineEstimate {
  double sm_cycles = 0;    ///< at the SM clock asked for
  double duration_us = 0;  ///< the same as time
  double compute_us = 0;   ///< tensor and FP32 work, whichever takes longer
  double memory_us = 0;    ///< compulsory HBM bytes
  double launch_us = 0;    ///< 0 for the roofline
  double read_bytes = 0;   ///< compulsory
  double write_bytes = 0;  ///< compulsory
  Bottleneck limit = Bottleneck::kLatency;
};

/// Peak dense FLOP/s (2 per multiply-add) of a type on the tensor cores, in TFLOP/s at an SM clock in MHz.
/// Types: fp16, bf16, tf32, fp8 (e4m3, e5m2), int8, fp64, int4; anything else counts as 16 bit.
[[nodiscard]] double tensor_peak_tflops(const GpuConfig& config, const std::string& type, double sm_mhz);
/// Peak FP32 FLOP/s of the FMA pipes, in TFLOP/s at an SM clock in MHz.
[[nodiscard]] double fp32_peak_tflops(const GpuConfig& config, double sm_mhz);

/// max(compute, compulsory bytes) at the peaks of the data sheet. @param sm_mhz 0 = clocks.sm_max_mhz
[[nodiscard]] RooflineEstimate roofline(const GpuConfig& config, const WorkSummary& work, double sm_mhz = 0);

/// launch + max(compute, compulsory bytes) with fixed efficiencies for every kernel: 90 % of the tensor and FP32
/// peaks, 85 % of the HBM peak. @param sm_mhz 0 = clocks.sm_max_mhz
[[nodiscard]] RooflineEstimate bound(const GpuConfig& config, const WorkSummary& work, double sm_mhz = 0);

}  // namespace strata

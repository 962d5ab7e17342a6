#include "sim/result/roofline.hpp"

#include <algorithm>
#include <string_view>

namespace strata {

namespace {

// Round figures that suit large GEMMs and long streams alike; a production compiler's cost model uses 0.8 for HBM.
constexpr double kBoundComputeEfficiency = 0.90;
constexpr double kBoundMemoryEfficiency = 0.85;

double fma_per_cycle(const TensorConfig& tensor, std::string_view type) {
  if (type == "tf32") {
    return tensor.fma_tf32;
  }
  if (type == "fp64") {
    return tensor.fma_fp64;
  }
  if (type == "int4") {
    return tensor.fma_4bit;
  }
  if (type == "int8" || type == "fp8" || type == "e4m3" || type == "e5m2") {
    return tensor.fma_8bit;
  }
  return tensor.fma_16bit;
}

struct Efficiency {
  double compute;
  double memory;
  double launch_us;
};

/// Time in us of `flops` at a peak in TFLOP/s; work without any unit to run on takes no time here.
double time_us(double flops, double peak_tflops) { return peak_tflops > 0 ? flops / (peak_tflops * 1e6) : 0; }

RooflineEstimate estimate(const GpuConfig& config, const WorkSummary& work, double sm_mhz, const Efficiency& e) {
  RooflineEstimate r;
  const double tensor_us = time_us(work.tensor_flops, e.compute * tensor_peak_tflops(config, work.tensor_type, sm_mhz));
  const double fp32_us = time_us(work.fp32_flops, e.compute * fp32_peak_tflops(config, sm_mhz));
  r.read_bytes = work.compulsory_read_bytes;
  r.write_bytes = work.compulsory_write_bytes;
  r.compute_us = std::max(tensor_us, fp32_us);
  r.memory_us = (r.read_bytes + r.write_bytes) / (e.memory * config.hbm_peak_gb_per_s() * 1e3);
  r.launch_us = e.launch_us;
  r.duration_us = r.launch_us + std::max(r.compute_us, r.memory_us);
  r.sm_cycles = r.duration_us * sm_mhz;
  if (r.launch_us > std::max(r.compute_us, r.memory_us)) {
    r.limit = Bottleneck::kLaunch;
  } else if (r.memory_us >= r.compute_us) {
    r.limit = Bottleneck::kHbm;
  } else {
    r.limit = tensor_us >= fp32_us ? Bottleneck::kTensor : Bottleneck::kFp32;
  }
  return r;
}

}  // namespace

double tensor_peak_tflops(const GpuConfig& config, const std::string& type, double sm_mhz) {
  return 2.0 * fma_per_cycle(config.tensor, type) * config.num_sms() * sm_mhz * 1e-6;
}

double fp32_peak_tflops(const GpuConfig& config, double sm_mhz) {
  return 2.0 * 32.0 * config.sm.fma_per_cycle_smsp * config.sm.smsps * config.num_sms() * sm_mhz * 1e-6;
}

RooflineEstimate roofline(const GpuConfig& config, const WorkSummary& work, double sm_mhz) {
  return estimate(config, work, sm_mhz > 0 ? sm_mhz : config.clocks.sm_max_mhz, {1.0, 1.0, 0.0});
}

RooflineEstimate bound(const GpuConfig& config, const WorkSummary& work, double sm_mhz) {
  const double mhz = sm_mhz > 0 ? sm_mhz : config.clocks.sm_max_mhz;
  // A bound that fits nothing: what a one-CTA kernel costs on an H100 (library kernels), for every GPU.
  constexpr double kOneCtaKernelCycles = 4350;
  const double launch_us = kOneCtaKernelCycles / mhz;
  return estimate(config, work, mhz, {kBoundComputeEfficiency, kBoundMemoryEfficiency, launch_us});
}

}  // namespace strata

/// The first study: its kernels, the bound of unfused attention, and the table that compares them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/config/gpu_config.hpp"
#include "sim/result/result.hpp"
#include "workloads/kernels/catalogue.hpp"

namespace strata::app {

struct StudyCase {
  const char* title;
  const char* gpu;
  const char* kernel;
  KernelOptions options;
};

/// Least cost of attention as three kernels, GEMM, softmax, GEMM, that pass S and P through HBM.
struct UnfusedBound {
  double read_bytes = 0;
  double write_bytes = 0;
  double time_us = 0;  ///< sum over the kernels of max(FLOPs at peak rate, bytes at peak bandwidth)
};

struct StudyColumn {
  std::string title;
  std::string gpu;
  Result result;
  std::optional<UnfusedBound> unfused;
};

[[nodiscard]] const std::vector<StudyCase>& first_light_cases();
/// The catalogue's entry of that name; throws ModelBug when there is none.
[[nodiscard]] const KernelSpec& study_kernel(const std::string& name);
[[nodiscard]] UnfusedBound unfused_attention_bound(const GpuConfig& gpu, int sm_clock_mhz);
/// One aligned column per run, one line per quantity.
[[nodiscard]] std::string study_table(std::span<const StudyColumn> columns);

}  // namespace strata::app

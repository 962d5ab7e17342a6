/// What a run of microbenchmarks says about the GPU that it was measured on: origin.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/config/gpu_config.hpp"

namespace strata {

struct MicrobenchOrigin {
  std::string gpu;
  std::string date;
  std::string compute_capability;  ///< "9.0"; empty where the run does not say
  int sms = 0;
  std::int64_t l2_bytes = 0;
  int sm_clock_mhz = 0;
  int memory_clock_mhz = 0;
  std::int64_t memory_bytes = 0;      ///< 0 where the run does not say
  int memory_bus_bits = 0;            ///< likewise
  std::vector<std::string> left_out;  ///< rows known to be wrong, "PROGRAM SERIES X" each
  std::vector<Diagnostic> unknown;    ///< keys that no origin.json has: misspelt more often than new
};

/// Whether two memory clocks (MHz) may be of one product: cards of one differ by up to 5 %.
[[nodiscard]] bool same_memory_clock(double one, double other);

/// The runs in `folder`: itself, or the folders in it. Throws InputError when there is none, and says where runs lie
/// deeper down.
[[nodiscard]] std::vector<std::string> microbench_runs(const std::string& folder);

/// Throws InputError when origin.json is missing, lacks a fact, or names a GPU of another compute capability than it
/// states.
[[nodiscard]] MicrobenchOrigin read_microbench_origin(const std::string& run);

/// Throws InputError where the runs are of another architecture than `gpu`, or of different GPUs.
void check_same_gpu(const std::vector<std::string>& runs, const GpuConfig& gpu);
/// Throws InputError where the run is of a chip that differs from the description in what identifies it.
void check_origin(const std::string& run, const MicrobenchOrigin& origin, const GpuConfig& gpu);

}  // namespace strata

/// What one simulated launch gives. Text, JSON, CSV and every comparison are views of this.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/time.hpp"
#include "sim/stats/metrics.hpp"

namespace strata {

/// The words that `bottleneck` may hold.
enum class Bottleneck : std::uint8_t {
  kTensor,
  kIssue,
  kFp32,
  kMufu,
  kSharedMemory,
  kL1,
  kCrossbar,
  kL2,
  kFabric,
  kHbm,
  kLatency,
  kLaunch,
  kCount
};
[[nodiscard]] const char* to_string(Bottleneck b);

/// Busy share of a unit over the kernel, 0..1.
struct Utilization {
  double tensor = 0;
  double issue = 0;
  double fp32 = 0;
  double mufu = 0;
  double shared_memory = 0;
  double l1 = 0;
  double crossbar = 0;
  double l2 = 0;
  double fabric = 0;
  double hbm = 0;
};

/// Work of a launch seen by roofline and bound; copied from the workload's Launch.
struct WorkSummary {
  double tensor_flops = 0;
  std::string tensor_type;
  double fp32_flops = 0;
  double compulsory_read_bytes = 0;
  double compulsory_write_bytes = 0;
};

struct Occupancy {
  std::uint32_t ctas_per_sm = 0;
  std::uint32_t warps_per_sm = 0;
  std::string limiter;  ///< "registers", "shared memory", "warps", "CTAs", "clusters", "grid"
};

struct Result {
  std::string gpu;
  std::string kernel;  ///< name shown
  std::string family;
  std::string description;  ///< tile and options in words
  int sm_clock_mhz = 0;
  std::string sm_clock_source;  ///< "given", "clock model: ..."
  int l2_clock_mhz = 0;
  int hbm_clock_mhz = 0;
  double sm_cycles = 0;  ///< sm__cycles_elapsed.max
  double sm_active_cycles_avg = 0;
  double duration_us = 0;  ///< gpu__time_duration
  Counters counters;
  std::array<double, kNumStackReasons> cycle_stack{};  ///< SM cycles averaged over SMs; sums to sm_cycles
  Utilization utilization;
  Bottleneck bottleneck = Bottleneck::kLatency;
  std::string bottleneck_reason;  ///< one sentence
  Occupancy occupancy;
  std::uint64_t grid_ctas = 0;
  WorkSummary work;
  std::vector<std::string> notes;  ///< what the user should know: chosen tile, clamped clock, ...
  // about the simulator itself; never written to --json
  std::uint64_t events = 0;
  double host_seconds = 0;

  [[nodiscard]] double dram_read_bytes() const {
    return 32.0 * static_cast<double>(counters[Counter::kDramReadSectors]);
  }
  [[nodiscard]] double dram_write_bytes() const {
    return 32.0 * static_cast<double>(counters[Counter::kDramWriteSectors]);
  }
};

}  // namespace strata

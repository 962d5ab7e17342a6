/// Reads a measured CSV: launches together with what the hardware counted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/app/launch_table.hpp"
#include "validation/compare/quantities.hpp"

namespace strata::app {

/// All launches of a file are in memory together, about 3 KiB each.
inline constexpr std::size_t kMaxMeasuredRows = 250000;

struct MeasuredLaunch {
  LaunchJob job;
  QuantityValues measured;
  std::string split;  ///< "calibration", "validation" or empty
};

struct MeasuredFile {
  std::vector<MeasuredLaunch> launches;  ///< in the file's order
  std::size_t other_gpu = 0;             ///< rows of a file with a `gpu` column that name another GPU
  std::string misspelt;                  ///< columns that are nearly ones that are read; empty where none is
  std::string folder_gpu;                ///< the GPU whose name its folder has; empty with a `gpu` column
};

/// Columns as `predict` needs them, the measured columns that the file has (ncu_duration_ns, or measured_us;
/// sm_cycles, or sm_cycles_avg), and `split` and `gpu` where present. Throws InputError with file, line and column;
/// a file without any measured column is one, and one of more than
/// kMaxMeasuredRows launches.
[[nodiscard]] MeasuredFile read_measured(const std::string& path, const std::string& gpu_name);

/// One line on stderr where the file lies in the folder of another GPU (validation/data/NAME) than the one it is scored
/// with: its numbers are that GPU's, whatever is simulated.
void warn_of_other_gpu(const MeasuredFile& file, const std::string& path, const std::string& gpu_name);

}  // namespace strata::app

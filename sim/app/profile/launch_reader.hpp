/// Launches from a CSV or a profiler's file, one at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "sim/app/launch_table.hpp"
#include "sim/app/profile/profiled_gpu.hpp"
#include "validation/compare/quantities.hpp"

namespace strata::app {

struct ProfiledLaunch {
  LaunchJob job;
  QuantityValues measured;    ///< what the profiler counted
  std::string shape_missing;  ///< why the shape is not known and what to record; empty where it is
};

/// Work of a profile that is no kernel: copies and fills of the driver.
struct DriverWork {
  std::size_t count = 0;
  std::optional<double> us;  ///< of those whose time is known
};

class LaunchReader {
 public:
  LaunchReader() = default;
  LaunchReader(const LaunchReader&) = delete;
  LaunchReader& operator=(const LaunchReader&) = delete;
  virtual ~LaunchReader() = default;

  /// The next launch; false after the last. Throws InputError with file, line and what was expected.
  virtual bool next(ProfiledLaunch& launch) = 0;
  /// Begins again with the first launch.
  virtual void rewind() = 0;
  /// The GPU as the profiler gives it, known once every launch was read.
  [[nodiscard]] virtual ProfiledGpu gpu() const { return {}; }
  [[nodiscard]] virtual DriverWork driver_work() const { return {}; }
  /// What of the file's form is worth a warning; empty where nothing is.
  [[nodiscard]] virtual std::string warning() const { return {}; }
};

/// launches.csv; nothing is measured.
[[nodiscard]] std::unique_ptr<LaunchReader> open_launch_table(const std::string& path);
/// `ncu --csv --page raw`, as printed: other output of ncu around it, several processes, any print units.
[[nodiscard]] std::unique_ptr<LaunchReader> open_ncu_page(const std::string& path);
/// A trace of PyTorch's profiler (Kineto), as JSON. Read once, with `progress` told the bytes read so far; memory grows
/// by some 100 bytes for each operator and launch, not with the text.
[[nodiscard]] std::unique_ptr<LaunchReader> open_kineto_trace(const std::string& path,
                                                              const std::function<void(std::size_t bytes)>& progress);

}  // namespace strata::app

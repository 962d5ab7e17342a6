/// One GPU description file, read onto a GpuDescription.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/config/gpu_description.hpp"

namespace strata {

/// Where a value was written.
struct Place {
  std::string file;
  int line = 0;    ///< 1-based
  int column = 0;  ///< 1-based
};

struct GpuReadout {
  GpuDescription gpu;
  std::map<std::string, Place> places;  ///< by key, for messages about a value
  std::vector<Diagnostic> problems;     ///< empty when all went well
};

/// Reads the file and those it extends, and reports missing keys. Collects problems instead of throwing.
[[nodiscard]] GpuReadout read_gpu_file(const std::filesystem::path& path);

}  // namespace strata

/// strata validate --microbench: microbenchmarks measured on silicon against the same ones as traces.
#pragma once

#include <string>

#include "sim/config/gpu_config.hpp"

namespace strata::app {

struct ValidateMicrobenchOptions {
  std::string data;  ///< folder of a run or of runs; empty = the folder that comes with the GPU
  std::string only;
  std::string json;
  std::string html;
  bool rows = false;
  int jobs = 1;
};

/// Simulates and prints; returns the exit code.
int validate_microbench(const ValidateMicrobenchOptions& options, const GpuConfig& gpu);

}  // namespace strata::app

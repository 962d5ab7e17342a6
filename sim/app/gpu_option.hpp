/// The options that every simulating command takes: --gpu and --set.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <vector>

#include "sim/config/gpu_description.hpp"
#include "workloads/kernels/catalogue.hpp"

namespace strata::app {

inline constexpr const char* kDefaultGpu = "h100-sxm5-80gb";

struct GpuChoice {
  std::string gpu = kDefaultGpu;       ///< name or YAML file
  std::vector<std::string> overrides;  ///< path=value
};

void add_gpu_options(CLI::App& command, GpuChoice& choice);
/// Throws InputError for an unknown GPU, key or value, with the nearest valid name.
[[nodiscard]] GpuDescription load_gpu(const GpuChoice& choice);
/// The files that `gpu` was read from and `others`, for refuse_overwriting_inputs.
[[nodiscard]] std::vector<std::string> inputs_with(const GpuDescription& gpu,
                                                   std::initializer_list<std::string> others = {});
/// What a kernel's author would look up of this GPU.
[[nodiscard]] TargetFacts target_facts(const GpuConfig& gpu);

}  // namespace strata::app

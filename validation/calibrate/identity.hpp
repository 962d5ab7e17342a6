/// What a run says of the GPU it was made on, put into a description: clocks, memory, L2, GPCs and their sides.
#pragma once

#include <string>

#include "sim/config/gpu_description.hpp"

namespace strata {

/// Names the description `name` and replaces what origin.json, topology.csv and l2_fabric.csv of the runs in `folder`
/// state: product, SM clock, memory clock, L2 size, SMs of each GPC, the side of each GPC. Cards of one product differ
/// in their GPCs: where a run has those of the description they stay, else the first run's replace them. Where a file
/// is missing the description keeps its value. Throws InputError for a folder without runs, a broken file, and GPCs
/// that do not add up to the GPU's SMs.
void apply_identity(const std::string& folder, const std::string& name, GpuDescription& description);

}  // namespace strata

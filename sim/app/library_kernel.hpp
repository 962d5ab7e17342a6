/// `run KERNEL --kernel NAME`: the shape from the command line, the tile from a vendor library's kernel name.
#pragma once

#include <string>

#include "sim/app/kernel_options.hpp"
#include "workloads/library/resolve.hpp"

namespace strata::app {

/// op, dtype and shape of the kernel chosen on the command line, as launches.csv has them.
[[nodiscard]] LaunchRow library_row(const KernelChoice& choice);

/// Throws InputError for an option other than the operator's: with --kernel it would be ignored.
void refuse_tile_options(const KernelChoice& choice);

/// Throws InputError when no family knows the name or the kernel has no library counterpart.
[[nodiscard]] BuiltKernel build_library_kernel(const KernelChoice& choice, const std::string& kernel_name,
                                               const TargetFacts& target);

}  // namespace strata::app

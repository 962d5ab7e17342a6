/// `run KERNEL --kernel NAME`: the shape from the command line, the tile from a vendor library's kernel name.
#pragma once

#include <string>

#include "sim/app/kernel_options.hpp"

namespace strata::app {

/// Throws InputError when no family knows the name or the kernel has no library counterpart.
[[nodiscard]] BuiltKernel build_library_kernel(const KernelChoice& choice, const std::string& kernel_name,
                                               const TargetFacts& target);

}  // namespace strata::app

/// `run KERNEL --kernel NAME`: the shape from the command line, the tile from a vendor library's kernel name.
#pragma once

#include <string>
#include <string_view>

#include "sim/app/kernel_options.hpp"
#include "workloads/library/resolve.hpp"

namespace strata::app {

/// op, dtype and shape of the kernel chosen on the command line, as launches.csv has them. Throws InputError that names
/// the option as typed.
[[nodiscard]] LaunchRow library_row(const KernelChoice& choice);

/// Throws InputError for an option that --kernel would leave without effect: what a tile is made of and, where the
/// kernel is named rather than chosen for an operator, the operator.
void refuse_ignored_options(const KernelChoice& choice, bool kernel_is_named);

/// Throws InputError where the sub-command names a generator, which leaves --kernel auto nothing to choose among.
void expect_open_generator(const KernelChoice& choice);

/// The sub-command of `run` whose operator kernels of a family (family_of()) compute; empty for an unknown one.
[[nodiscard]] std::string command_of_family(std::string_view family);

/// Throws InputError when no family knows the name, the kernel computes another operator than the sub-command or runs
/// on another generator than it names, does not fit the shape, or its name says another dtype or layout than the
/// command line.
[[nodiscard]] BuiltKernel build_library_kernel(const KernelChoice& choice, const std::string& kernel_name,
                                               const TargetFacts& target);

}  // namespace strata::app

/// Kernel sub-commands made from the catalogue, for `run` and `trace record`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/kernels/catalogue.hpp"

namespace strata::app {

/// The kernel chosen on the command line, with its options as given.
struct KernelChoice {
  const KernelSpec* spec = nullptr;
  std::map<std::string, std::string> values;  ///< by option name; empty = not given
};

/// The group of options that do not go with a kernel: a kernel's --help leaves them out.
inline constexpr const char* kInsteadOfKernel = "Instead of a kernel";

/// Adds one sub-command per kernel; options that a kernel does not know fall through to `command`.
void add_kernel_commands(CLI::App& command, KernelChoice& choice);
/// Neither has a default nor is chosen by the kernel.
[[nodiscard]] bool is_required(const OptionSpec& option);
/// The options that were given, for OptionReader; a bare switch is on.
[[nodiscard]] KernelOptions given_options(const KernelChoice& choice);
/// The same errors with the options as typed: "m" becomes "--m".
[[nodiscard]] InputError as_options(const InputError& error);
/// Builds the chosen kernel. Throws InputError that names the option as typed, or UnsupportedError.
[[nodiscard]] BuiltKernel build_kernel(const KernelChoice& choice, const TargetFacts& target);

}  // namespace strata::app

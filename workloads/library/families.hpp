/// The families of vendor kernels that can be simulated. A new family is one file and one line in resolve.cpp.
#pragma once

#include <span>
#include <string_view>

#include "workloads/kernels/catalogue.hpp"
#include "workloads/library/resolve.hpp"

namespace strata {

struct FamilyParser {
  const char* family;                           ///< as family_of() prints it
  bool (*matches)(std::string_view canonical);  ///< of canonical_kernel_name()
  /// Throws UnsupportedError or InputError with the reason; resolve_launch() adds the kernel's name.
  BuiltKernel (*make)(const LaunchRow& row, const TargetFacts& target);
  const char* stem = "";       ///< how its kernel names begin: used to name the nearest family of an unknown one
  bool uses_producer = false;  ///< reads LaunchRow's producer
  bool names_cluster = true;   ///< the kernel's name or code settles the cluster; false: the generator lays it out
  bool needs_wgmma = false;    ///< and TMA
};

[[nodiscard]] std::span<const FamilyParser> kernel_families();

}  // namespace strata

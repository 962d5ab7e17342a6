/// From what a profiler prints of a launch to the generator that mirrors it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "workloads/kernels/catalogue.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

/// One row of launches.csv. Cells that were empty are nullopt.
struct LaunchRow {
  std::string case_name;
  std::string seq;
  std::string op;  ///< gemm, attention, softmax, add, ...
  std::string dtype;
  std::string shape;   ///< gemm M,N,K,layout; attention batch,heads,kv_heads,q,kv,d,causal,backend; others rows,cols
  std::string kernel;  ///< as the profiler prints it
  std::optional<Dim3> grid;
  std::optional<Dim3> block;
  std::optional<Dim3> cluster;  ///< 0x0x0 in the file (no cluster) reads as 1x1x1
  std::optional<std::uint32_t> registers;
  std::optional<std::uint32_t> smem_dynamic;
  std::optional<std::uint32_t> smem_static;
  /// The launch before it in the same case, for families whose kernels add up what that one left (uses_producer()).
  std::string producer_kernel;
  std::optional<Dim3> producer_grid;
  std::string producer_differs;   ///< why the launch before it is not that one; empty where it is or there is none
  bool parts_are_summed = false;  ///< the launch after it in the same case adds up slices of K that this one left
  /// What a person asked for beside the kernel's name. Where the name says otherwise the launch is refused; where these
  /// are empty, as in rows of a file, the name rules.
  struct Asked {
    std::string dtype;
    std::string layout;
    std::optional<bool> causal = std::nullopt;
  } asked;
};

/// One spelling for the names that profilers print differently: "at::native::(anonymous namespace)::" and
/// "at::<unnamed>::" become "at::", "void " and argument lists go, "ul" suffixes and "> >" are evened out.
[[nodiscard]] std::string canonical_kernel_name(std::string_view name);

/// "nvjet", "flash_attention_2", "cudnn_sm90_attention", "elementwise", ...; empty when no family knows the name.
[[nodiscard]] std::string family_of(std::string_view kernel_name);

/// Whether a launch of this kernel depends on the one before it: into how many parts that split its work.
[[nodiscard]] bool uses_producer(std::string_view kernel_name);

/// Throws UnsupportedError where another type of operands was asked for than the kernel's name says. An fp32 product
/// may run in tf32.
void expect_asked_type(const LaunchRow& row, DataType named);

/// The warning where the row's type of operands is not the one that the kernel's name says and that is simulated; empty
/// where it is.
[[nodiscard]] std::string overruled_type(const LaunchRow& row, DataType named);

/// The warning where the row's operator is not `named`, which a kernel of this name computes; empty where it is, or is
/// not given. "gemm_beta" is a gemm.
[[nodiscard]] std::string overruled_operator(const LaunchRow& row, const std::string& named);

/// The same for row-wise kernels, whose operators are spelt in many ways ("native_layer_norm", "log_softmax"): `named`
/// without its underscores has to be part of it. An attention and a GEMM run such kernels among others.
[[nodiscard]] std::string overruled_row_operator(const LaunchRow& row, const std::string& named);

/// Why a kernel of Hopper is refused elsewhere; after the family's name.
inline constexpr const char* kNeedsWgmma = "needs wgmma and TMA, which this GPU has not";

/// Builds the generator of a launch. Throws UnsupportedError with the reason in words: unknown family, a shape that
/// does not parse, a variant that is not modelled.
[[nodiscard]] BuiltKernel resolve_launch(const LaunchRow& row, const TargetFacts& target);

}  // namespace strata

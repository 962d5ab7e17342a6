/// The catalogue's entries for GEMMs and the choice of a tile where the user gives none.
#pragma once

#include "workloads/kernels/catalogue.hpp"
#include "workloads/kernels/gemm_tma_wgmma.hpp"
#include "workloads/kernels/options.hpp"

namespace strata {

/// "gemm": TMA + wgmma where the target and the alignment allow it, cp.async + mma.sync otherwise.
[[nodiscard]] KernelSpec gemm_spec();
/// "gemm_tma_wgmma"
[[nodiscard]] KernelSpec gemm_tma_wgmma_spec();

/// The options that say what is computed (m, n, k, dtype, out-dtype, layout), shared by every GEMM.
[[nodiscard]] std::vector<OptionSpec> gemm_problem_options();
/// @param types  of operands that the kernel takes, for messages
[[nodiscard]] GemmProblem read_gemm_problem(OptionReader& reader, std::initializer_list<const char*> types = {
                                                                      "fp16", "bf16", "tf32", "fp8", "int8"});

/// Estimated SM cycles of a configuration: waves times the slower of tensor time and fill time of a tile, and what of
/// the epilogue is not hidden. For comparing tiles only; the simulator gives the real answer.
[[nodiscard]] double estimate_gemm_tma_cycles(const GemmTmaConfig& config, const TargetFacts& target);

}  // namespace strata

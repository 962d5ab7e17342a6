/// fp32 GEMMs without copies in flight, as validation/kernels/gemm/{naive,tiled}.cu write them.
///
/// Naive: a thread per element of C in CTAs of 16 x 16, operands straight from global memory.
/// Tiled: CTAs of 32 x 32 threads load a tile of each operand into shared memory, meet, multiply, meet.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "workloads/kernels/catalogue.hpp"
#include "workloads/kernels/gemm_common.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

struct GemmPlainConfig {
  GemmProblem problem;
  bool tiled = false;
  bool strided = false;   ///< naive: neighbouring lanes in neighbouring rows, not columns
  std::uint32_t pad = 1;  ///< tiled: words behind a row of a shared tile
  bool reads_c = false;   ///< beta is not zero
  std::uint32_t registers = 32;
  std::string name = "gemm_plain";
};

/// Throws InputError with the problems of check_gemm_problem().
[[nodiscard]] std::unique_ptr<TraceSource> make_gemm_plain(const GemmPlainConfig& config, const TargetFacts& target);

}  // namespace strata

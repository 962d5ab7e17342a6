/// GEMM as Ampere's libraries write it: a plain grid of CTAs, a ring of cp.async stages, ldmatrix and mma.sync.
///
/// gemm_cta.hpp says how tiles come and go. Operands whose rows are not aligned to 4 bytes cannot use cp.async and go
/// through registers (LDG, STS), one tile ahead, as do kernels of the Turing generation (GemmCopy::kRegisters).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workloads/kernels/gemm_cta.hpp"

namespace strata {

struct GemmMmaSyncConfig : GemmCtaConfig {
  bool swizzle = true;      ///< shared-memory rows are permuted so that ldmatrix has no bank conflicts
  std::uint32_t mma_k = 0;  ///< elements of K of one m16n8 instruction; 0 = the widest of the type
};

/// Shape of the mma.sync instruction for a type: K elements of one m16n8 instruction.
[[nodiscard]] std::uint32_t mma_sync_k(DataType type);

[[nodiscard]] std::uint32_t gemm_mma_sync_registers(const GemmMmaSyncConfig& config);

/// Every problem of the configuration on this target, keyed by the option's name; empty when it can run.
[[nodiscard]] std::vector<Diagnostic> check_gemm_mma_sync(const GemmMmaSyncConfig& config, const TargetFacts& target);

/// "tile 128x128x32, warps of 64x64, 4 stages, raster along M by 8".
[[nodiscard]] std::string describe_gemm_mma_sync(const GemmMmaSyncConfig& config);

/// Throws InputError with the problems of check_gemm_mma_sync().
[[nodiscard]] std::unique_ptr<TraceSource> make_gemm_mma_sync(const GemmMmaSyncConfig& config,
                                                              const TargetFacts& target);

}  // namespace strata

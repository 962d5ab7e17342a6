/// fp32 GEMM on the FMA pipe: fragments from shared memory into registers, an outer product of FFMAs a step of K.
///
/// gemm_cta.hpp says how tiles come and go. Each thread owns `thread_m` x `thread_n` elements of C; per element of K it
/// reads its piece of A's column and B's row (LDS.128 where the piece allows) and multiplies. Fragments of the next
/// step are read while this one multiplies. Shared tiles have M and N contiguous, so operands with K contiguous are
/// transposed on their way in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workloads/kernels/gemm_cta.hpp"

namespace strata {

struct GemmSimtConfig : GemmCtaConfig {
  GemmSimtConfig();
  std::uint32_t thread_m = 8;  ///< of a thread
  std::uint32_t thread_n = 8;
  /// Wavefronts of a warp's LDS.128. Recorded launches of CUTLASS show 4.0 and 4.1: one for 8 lanes, whether or not
  /// they read the same words. Where the lanes lie 4 x 8 in the warp's tile and pieces are 4 words apart, launches
  /// show 3.0: pairs of neighbouring lanes that read the same words let half a warp be one. cuBLAS pairs lanes on both
  /// sides.
  std::uint32_t lds_wavefronts = 4;
  /// Issue cycles lost per 100 FFMA: an outer product reads three registers an instruction from two banks. The default
  /// is inferred from two recorded launches of cuBLAS, whose active cycles exceed their instructions by 0.18 and 0.27
  /// of an FFMA, waits included.
  std::uint32_t conflicts_per_hundred = 0;
  /// The next tile's first fragments are read before this tile's last FFMA: no multiply-add waits for its LDS.
  bool fragments_ahead = false;
};

/// Costs of compiled fp32 kernels, from recorded `sm__inst_executed`. Per warp and K tile of 8, a CUTLASS kernel issues
/// about 79 instructions beside 1024 FFMA, 48 LDS and 12 LDGSTS, cuBLAS's xmma kernel 117 beside 16 LDGSTS (two
/// launches with 8 and 128 K tiles): 6.5 to 7 for each LDGSTS (address, predicate) and a few for the loop.
[[nodiscard]] GemmCtaCosts simt_costs();

[[nodiscard]] std::uint32_t gemm_simt_registers(const GemmSimtConfig& config);

/// Every problem of the configuration on this target, keyed by the option's name; empty when it can run.
[[nodiscard]] std::vector<Diagnostic> check_gemm_simt(const GemmSimtConfig& config, const TargetFacts& target);

/// "tile 128x128x8 (MxNxK), warps of 32x64, threads of 8x8, 3 stages, raster along M by 8".
[[nodiscard]] std::string describe_gemm_simt(const GemmSimtConfig& config);

/// Throws InputError with the problems of check_gemm_simt().
[[nodiscard]] std::unique_ptr<TraceSource> make_gemm_simt(const GemmSimtConfig& config, const TargetFacts& target);

}  // namespace strata

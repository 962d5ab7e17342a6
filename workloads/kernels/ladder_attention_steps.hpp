/// Steps that the ladder's attention kernels are made of. All costs are a warp's.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/kernels/attention_program.hpp"
#include "workloads/kernels/ladder_attention.hpp"

namespace strata {

struct LadderWork {
  std::uint32_t insts = 0;  ///< issued
  Pipe pipe = Pipe::kAlu;
  std::uint32_t pipe_work = 0;        ///< of `insts`, those on the pipe
  std::uint32_t chain = 0;            ///< dependent steps that the warp cannot hide
  std::uint32_t read_wavefronts = 0;  ///< of shared memory; a shuffle is one too
  std::uint32_t write_wavefronts = 0;
  std::uint32_t conflicts = 0;  ///< of these
  std::uint32_t moves = 0;      ///< counted as tensor instructions
};

/// A product by mma.sync m16n8k16: ldmatrix.x4 (four wavefronts each) and the instructions that use them, in `groups`
/// as with LadderInner.
struct LadderMma {
  std::uint32_t mmas = 0;
  std::uint32_t ldmatrix = 0;
  std::uint32_t other_wavefronts = 0;
  std::uint32_t groups = 1;
  bool after_barrier = false;
};

/// An unrolled loop of shared reads and the multiply-adds that use them. Warps take turns at the port, so the loop is
/// kept apart in `groups` of reads and multiply-adds.
struct LadderInner {
  std::uint32_t insts = 0;  ///< of the whole loop, reads and multiply-adds included
  std::uint32_t fma = 0;
  std::uint32_t reads = 0;       ///< LDS
  std::uint32_t wavefronts = 0;  ///< of the reads
  std::uint32_t conflicts = 0;   ///< of these
  /// Cycles in which the reads fill registers, 128 B each: four for 16 B a lane, even where lanes share words and the
  /// counted wavefronts are fewer.
  std::uint32_t returns = 0;
  std::uint32_t groups = 4;
  bool after_barrier = false;
};
void ladder_inner(std::uint16_t pc, const LadderInner& work, std::vector<AttentionStep>& steps);

[[nodiscard]] AttentionStep ladder_compute(std::uint16_t pc, const LadderWork& work);
void ladder_mma(std::uint16_t pc, const LadderMma& work, std::vector<AttentionStep>& steps);
/// Loads from or stores to shared memory with the wavefronts of each.
[[nodiscard]] AttentionStep ladder_shared(std::uint16_t pc, std::uint32_t insts, std::uint32_t reads,
                                          std::uint32_t writes, std::uint32_t conflicts = 0);
[[nodiscard]] AttentionStep ladder_barrier(std::uint16_t pc, std::uint32_t insts = 1);

/// `insts` issued, `requests` of them loads, stores or cp.async.
[[nodiscard]] AttentionStep ladder_load(std::uint16_t pc, std::uint32_t insts, std::uint32_t requests,
                                        const AttentionAccess& access);
[[nodiscard]] AttentionStep ladder_store(std::uint16_t pc, std::uint32_t insts, std::uint32_t requests,
                                         const AttentionAccess& access);
[[nodiscard]] AttentionStep ladder_copy(std::uint16_t pc, std::uint32_t insts, std::uint32_t requests,
                                        const AttentionAccess& access);

/// Whole rows of Q or O (kQuery), or of K or V (kKey): `rows` of each stream.
[[nodiscard]] AttentionAccess ladder_rows(AttentionRows rows_of, std::uint64_t base, const AttentionShape& shape,
                                          std::uint32_t rows, std::uint32_t ahead = 0);

/// Name, registers, block and work of a launch; the tensors lie as lay_out() places them.
[[nodiscard]] AttentionProgram ladder_program(const LadderAttentionConfig& config, std::uint32_t threads,
                                              std::uint32_t registers, std::uint32_t smem_dynamic_bytes,
                                              std::uint32_t smem_static_bytes = 0);

/// `total` less the parts that other steps carry; at least 1.
[[nodiscard]] constexpr std::uint32_t ladder_rest(std::uint32_t total, std::uint32_t parts) {
  return total > parts ? total - parts : 1;
}

// What the profiler shows beside loads, stores and shuffles, from calibration rows: barriers and reads of special
// registers. Per block with two barriers and cp.async, per block with two barriers and ldmatrix, and once.
inline constexpr std::uint32_t kLadderSimtWavefronts = 3;
inline constexpr std::uint32_t kLadderMmaWavefronts = 6;
inline constexpr std::uint32_t kLadderOnceWavefronts = 5;

// One file each.
[[nodiscard]] AttentionProgram ladder_unfused_program(const LadderAttentionConfig& config);
[[nodiscard]] AttentionProgram ladder_naive_program(const LadderAttentionConfig& config);
[[nodiscard]] AttentionProgram ladder_tiled_program(const LadderAttentionConfig& config);
[[nodiscard]] AttentionProgram ladder_flash_program(const LadderAttentionConfig& config);
[[nodiscard]] AttentionProgram ladder_mma_program(const LadderAttentionConfig& config);
[[nodiscard]] AttentionProgram ladder_decode_program(const LadderAttentionConfig& config);

}  // namespace strata

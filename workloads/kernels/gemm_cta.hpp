/// What the plain-grid GEMMs share: one CTA computes one tile of C (of one slice of K, of one product of a batch) and
/// leaves. gemm_mma_sync and gemm_simt differ in how they multiply; how tiles come in and results go out is here.
///
/// A stream is four warps, one on each SMSP, that run in step between barriers. Per K tile: wait for the stage,
/// barrier, issue the loads of a tile ahead, multiply this one. Loads are cp.async into a ring of stages, or LDG and
/// STS through registers one tile ahead. With one stage a tile is loaded once the last one has been multiplied. The
/// epilogue passes C through shared memory, so that global stores are wide, or stores it straight from registers.
///
/// A grouped product has rows of A and C that belong to one matrix B each: a fixed number of CTAs walk over the tiles
/// of group after group.
///
/// Not modelled: bias and activation epilogues, stream-K, the wait of a split-K slice for its turn on C.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/kernels/arithmetic.hpp"
#include "workloads/kernels/catalogue.hpp"
#include "workloads/kernels/gemm_common.hpp"
#include "workloads/spec/trace_source.hpp"

namespace strata {

enum class GemmCopy : std::uint8_t {
  kAuto,       ///< cp.async where rows are aligned to 4 bytes, else through registers
  kAsync,      ///< cp.async, `stages` - 1 tiles ahead
  kRegisters,  ///< LDG, then STS one tile later: what Volta and Turing kernels do
};

/// What the slices of split-K do with their results.
enum class SplitKReduction : std::uint8_t {
  kPartials,  ///< each writes its own copy of C; a launch of its own adds them up
  kInPlace,   ///< one after the other they read C, add and write it (semaphores)
};

/// Warp instructions beside loads, shared-memory reads and multiply-adds. The defaults are CUTLASS's multistage
/// kernels: recorded `sm__inst_executed` of two launches of a kernel that differ in K only give the count per K tile
/// and the rest exactly.
struct GemmCtaCosts {
  std::uint32_t prologue = 200;              ///< parameters, tile coordinates, first addresses, predicates
  std::uint32_t per_k_tile = 11;             ///< wait, barrier, ring and loop arithmetic
  std::uint32_t per_k_step = 4;              ///< fragment addresses of one instruction's K
  std::uint32_t per_load_tenths = 40;        ///< address step and predicate beside each LDGSTS or LDG, in tenths
  std::uint32_t epilogue = 0;                ///< between the main loop and the first row of C
  std::uint32_t per_element_tenths = 35;     ///< of the epilogue, per accumulator of a thread, in tenths
  std::uint32_t epilogue_conflict_ways = 1;  ///< bank conflicts of the staging of C
  std::uint32_t uncounted_tensor = 0;        ///< tensor-pipe instructions of a warp that are no multiply-add
  /// Shared-memory wavefronts, in tenths, of a cp.async that turns its tile: its sectors fill rows of their own.
  std::uint32_t turned_copy_tenths = 0;
  /// LDS without effect (predicated off) of a K tile, a wavefront each, where cp.async fills cost none beside them.
  std::uint32_t void_reads = 0;
};

struct GemmCtaConfig {
  std::string name;  ///< as shown to people; empty = the family
  GemmProblem problem;
  std::uint32_t tile_m = 128;  ///< of a CTA
  std::uint32_t tile_n = 128;
  std::uint32_t tile_k = 32;
  std::uint32_t warp_m = 64;  ///< of a warp
  std::uint32_t warp_n = 64;
  std::uint32_t warp_slices = 1;  ///< groups of warps that share each K tile and add up their results at the end
  std::uint32_t stages = 4;
  GemmCopy copy = GemmCopy::kAuto;
  bool prefetch = true;                   ///< through registers: LDG of the next tile before this one is multiplied
  bool loads_amid = false;                ///< through registers: LDG once part of this tile has been multiplied
  std::uint32_t amid_percent = 50;        ///< that part
  std::uint32_t store_bytes = 16;         ///< through registers: of a lane's STS where the tile is not turned
  std::uint32_t store_conflict_ways = 1;  ///< through registers: bank conflicts of STS where the tile is turned
  std::uint32_t code_bytes = 0;           ///< executed; 0 = as in other kernels
  std::uint32_t access_limit_bytes = 16;  ///< widest access of a lane to A and B that the kernel was compiled for
  RasterDirection raster = RasterDirection::kAlongM;
  std::uint32_t raster_group = 8;  ///< tiles across the sweep
  bool raster_padded = false;      ///< the last group is launched whole: CTAs beyond C leave at once (CUTLASS)
  std::uint32_t split_k = 1;       ///< slices of K, each a CTA of its own
  SplitKReduction split_reduction = SplitKReduction::kPartials;
  std::uint32_t partial_bytes = 4;  ///< of an element of those copies
  std::uint32_t slice_k_tiles = 0;  ///< K tiles of every slice but the last; 0 = they differ by at most one
  std::uint32_t slice_k = 0;  ///< elements of K of every slice but the last, where they are no whole tiles; 0 = tiles
  /// The copies of a tile and their addresses come before its first multiply-add, as compilers leave them, and not
  /// among the multiply-adds.
  bool copies_first = false;
  bool reads_c = false;        ///< beta != 0: C is read before it is written
  bool stores_pieces = false;  ///< a warp stores 32 accesses side by side, which may be less than a row of the tile
  /// A warp stores its results in patches of so many bytes of a row, so far apart in time that a sector between two
  /// goes out twice; 0 = it does not.
  std::uint32_t store_patch_bytes = 0;
  std::uint32_t staged_bytes = 4;  ///< of an element of C in shared memory; 0 = stored from registers
  std::uint32_t store_pass_tenths =
      10;  ///< store instructions of a thread that each touch all of its sectors, in tenths
  /// 16-byte copies whose rows begin 16 B off a sector in shared memory every second row, as rows padded by 16 B do:
  /// both halves of a sector go to different ones, and such rows are delivered twice (recorded launches: 1.50 of all).
  bool odd_rows_twice = false;
  /// 16-byte copies whose pieces are exchanged in shared memory by XOR with the row. Where a row begins 16 B off a
  /// sector in global memory, the halves of its inner sectors part, and each is delivered for itself (recorded
  /// launches: 6.0 sectors for 4.5 touched by rows of 128 B, 12 for 8.5 of 256 B).
  bool exchanged_pieces = false;
  /// cp.async beyond the matrix writes zeros: a wavefront for 128 B as counted (recorded launches of 16 rows: 118 more
  /// for the 112 absent rows of a tile).
  bool counts_zero_fills = false;
  std::uint32_t registers_per_thread = 0;  ///< 0 = estimated from the warp tile
  std::uint32_t smem_dynamic_bytes = 0;    ///< 0 = stages or epilogue staging, whichever is larger
  /// Grouped: where each group's rows of A and C begin, and behind the last where they end. problem.m is all rows,
  /// problem.batch the groups. Empty = one product.
  std::vector<std::uint32_t> group_rows;
  std::uint32_t walking_ctas = 0;  ///< grouped: CTAs of the launch
  GemmCtaCosts costs;

  [[nodiscard]] std::uint32_t warps() const { return tile_m / warp_m * (tile_n / warp_n) * warp_slices; }
  [[nodiscard]] std::uint32_t accumulators() const { return warp_m * warp_n / 32; }  ///< per thread
  [[nodiscard]] std::uint32_t partials() const { return split_reduction == SplitKReduction::kPartials ? split_k : 1; }
};

/// What a launch works out once, so that fetch() only copies and patches. Filled by plan_gemm_cta() but for `multiply`.
/// ALU latencies that a warp alone takes for instructions before and after the main loop. Stall samples of six kernels
/// of cuBLAS and CUTLASS (Nsight Compute, H200) are 2.5 to 3.4 clk each, fetches, barriers and memory left out.
[[nodiscard]] inline std::uint32_t once_chain(std::uint32_t instructions) {
  constexpr double kClocksPerInstruction = 2.8;
  return static_cast<std::uint32_t>(issue_chain(instructions, kClocksPerInstruction));
}

struct GemmCtaPlan {
  GemmCtaConfig config;
  GemmAddresses addresses;
  TileOrder order;
  std::uint64_t tiles = 0;  ///< CTAs of one slice of one product
  /// Grouped: tiles before each group, and behind the last all tiles.
  std::vector<std::uint64_t> group_tiles;
  std::uint32_t k_tiles = 0;
  std::uint32_t ahead = 0;  ///< K tiles in flight before the first one is used
  bool through_registers = false;
  /// K tiles whose cp.async are one operation: as many as share a line where rows of a tile are narrower. Their data
  /// comes a few tiles early; issuing each tile alone would make four times the events.
  std::uint32_t tiles_per_load = 1;
  std::uint32_t streams = 1;            ///< they share the loads, the multiply-adds and the epilogue evenly
  std::uint32_t stream_warps = 0;       ///< of one stream
  std::uint32_t rows_per_part = 0;      ///< of the epilogue, all streams
  std::uint32_t turned_wavefronts = 0;  ///< of a stream and K tile: copies that turn their tile

  std::uint32_t loads_per_tile = 2;  ///< operations of a stream
  Operation load_a;                  ///< templates, of one stream
  Operation load_b;
  Operation multiply;
  Operation multiply_first;  ///< its part before the loads; kNop = none
  Operation lead;            ///< instructions between the barrier and the first multiply-add; kNop = none
  Operation fragments;       ///< fragment loads that come before the multiply-adds; kNop = none
  Operation sync;            ///< barrier between the streams once a tile is in shared memory
  Operation stage_tile;      ///< STS of a tile that came through registers
  Operation add_slices;      ///< accumulators of warp slices meet in shared memory
  Operation write_c;         ///< accumulators to shared memory
  Operation read_c;          ///< and back, in rows
  Operation load_c;          ///< C before it is overwritten
  Operation store_c;
  std::uint32_t store_piece_bytes = 0;  ///< of a row that a store instruction covers; 0 = any, rows begin on sectors
  Launch launch;

  /// What a multiply-add waits for; fetch() sets the count.
  [[nodiscard]] Wait tile_arrived() const;
  /// Whether CTAs come for another tile: the product is grouped.
  [[nodiscard]] bool walks() const { return !config.group_rows.empty(); }
  /// Instructions of a warp and K tile that are neither multiply-adds nor shared-memory reads.
  [[nodiscard]] std::uint32_t overhead_per_k_tile(std::uint32_t k_steps) const;
  /// Whether half of the operand's rows are delivered twice.
  [[nodiscard]] bool delivers_twice(const OperandView& view) const;
  [[nodiscard]] bool parts_sectors(const OperandView& view) const;  ///< of every second row, or of all
  /// Wavefronts of a stream and K tile that the profiler counts of fills.
  [[nodiscard]] std::uint32_t fill_wavefronts() const;
};

/// Bytes per lane that the rows of an operand allow: 16, 8, 4, 2 or 1. Below 4 there is no cp.async.
[[nodiscard]] std::uint32_t access_bytes(std::int64_t pitch_bytes);

/// Shared memory of a CTA in bytes: `smem_dynamic_bytes` where given, else the ring or the epilogue's staging.
[[nodiscard]] std::uint64_t gemm_cta_smem_bytes(const GemmCtaConfig& config);

/// Problems of tile, warps, shape, split and memory, keyed by the option's name. `registers` per thread.
/// @param warp_rows  that a warp's tile must be a multiple of
[[nodiscard]] std::vector<Diagnostic> check_gemm_cta(const GemmCtaConfig& config, std::uint32_t registers,
                                                     const TargetFacts& target, std::uint32_t warp_rows = 8);

/// Adds a problem when a thread's accumulators take more than `limit` registers.
void check_accumulators(const GemmCtaConfig& config, std::uint32_t limit, std::vector<Diagnostic>& problems);

/// Moves `instructions` of a warp and K tile out of plan.multiply into plan.lead, where `copies_first` says so.
void lead_with(std::uint32_t instructions, GemmCtaPlan& plan);

/// Divides plan.multiply into two parts, the loads between them, where `loads_amid` says so.
void load_amid(GemmCtaPlan& plan);

/// @param transposes_k  operands with K contiguous are transposed on their way into shared memory, one element a lane
[[nodiscard]] GemmCtaPlan plan_gemm_cta(const GemmCtaConfig& config, std::uint32_t registers, bool transposes_k);

[[nodiscard]] std::unique_ptr<TraceSource> make_gemm_cta_source(GemmCtaPlan plan);

/// "tile 128x128x32 (MxNxK), warps of 64x64, 4 stages, raster along M by 8[, split-K 4 in place]".
[[nodiscard]] std::string describe_gemm_cta(const GemmCtaConfig& config);

}  // namespace strata

/// The operation: the one record that every kernel, trace file and importer is made of.
///
/// Coarse operations are what modern kernels issue (a TMA box, a wgmma group, a block of ldmatrix + mma.sync, a
/// barrier, a run of arithmetic); fine operations are single warp instructions. Both are this record.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

namespace strata {

enum class OpKind : std::uint8_t {
  kCompute,     ///< instructions that touch no memory: issue slots and one arithmetic pipe
  kMmaSync,     ///< mma.sync instructions of the stream's warps, with the other instructions interleaved with them
  kWgmma,       ///< one or more asynchronous warpgroup MMAs (commit group): completes its token when done
  kShared,      ///< LDS, STS, ldmatrix, stmatrix: shared-memory wavefronts
  kMemory,      ///< LSU access to global, local, dsmem or const space; loads, stores, atomics, prefetch
  kCpAsync,     ///< LDGSTS: global to shared through the LSU, completes a token
  kTma,         ///< bulk copy by the TMA unit: tensor box or 1-D, load, store, reduce or prefetch
  kBarrier,     ///< arrives on the barrier tokens in `completes`; a later wait blocks
  kSetMaxNReg,  ///< moves registers between warpgroups
  kFetchTile,   ///< asks for the next tile (dynamic schedulers: one global atomic round trip)
  kNop,         ///< waits only
};

/// What a stream may wait for or complete. Every token is a monotonic phase count.
enum class TokenClass : std::uint8_t {
  kNone,
  kScoreboard,  ///< per stream, slot 0..7: one count per completed operation that names it (loads, shared reads)
  kAsyncGroup,  ///< per stream, slot 0: cp.async groups, 1: wgmma groups, 2: bulk-store groups, 3..7 free
  kMbarrier,    ///< per CTA, slot 0..63: a phase completes when `expected` arrivals have come (TMA data counts as one)
  kNamedBarrier,    ///< per CTA, slot 0..15 (0 = __syncthreads): a phase completes when `expected` warps have arrived
  kClusterBarrier,  ///< per cluster, slot 0
  kGlobalCounter,   ///< per grid, slot 0..: split-K and stream-K hand-over
};

struct Wait {
  TokenClass cls = TokenClass::kNone;
  std::uint8_t slot = 0;
  std::uint32_t count = 0;  ///< satisfied once the token's completed phase count is >= count
};

enum class SignalAt : std::uint8_t {
  kIssue,         ///< when the operation has issued
  kOperandsRead,  ///< when its sources may be overwritten (bulk-store read, RS wgmma)
  kDataVisible,   ///< when the result may be used
};

struct Signal {
  TokenClass cls = TokenClass::kNone;
  std::uint8_t slot = 0;
  SignalAt at = SignalAt::kDataVisible;
  std::uint8_t arrivals = 1;   ///< arrivals added to the token's current phase (1 for stream tokens)
  std::uint16_t cta_mask = 0;  ///< cluster ranks whose token is signalled, each by its own copy of a multicast load;
                               ///< 0 = this CTA only, or every receiver of a multicast load
};

enum class Pipe : std::uint8_t { kNone, kFma, kAlu, kFp64, kFp16, kMufu, kUniform, kLsu, kTensor };
enum class MemSpace : std::uint8_t { kGlobal, kLocal, kShared, kDsmem, kConst };
enum class MemDir : std::uint8_t { kLoad, kStore, kAtomic, kReduce, kPrefetch };
enum class CachePolicy : std::uint8_t {
  kDefault,
  kBypassL1,
  kEvictFirst,
  kEvictLast,
  kNoAllocate,
  kBypassL1InPieces,  ///< cp.async to rows of shared memory that do not start on 128 B: each line is asked for in
                      ///< pieces
};

/// Which addresses a memory operation touches.
enum class Pattern : std::uint8_t {
  kBox,    ///< `rows` rows of `row_bytes` bytes, `row_pitch` apart: TMA boxes and fully coalesced warp accesses
  kLanes,  ///< `rows` instructions per warp; lane l of warp w of instruction i at address + i*row_pitch + w*warp_pitch
           ///< + l*lane_pitch
  kTable,  ///< one instruction of 32 explicit addresses: TraceSource::lane_addresses(table_index)
};

struct MemoryRef {
  std::uint64_t address = 0;      ///< byte address of the first row or of lane 0
  std::int64_t row_pitch = 0;     ///< bytes between rows (kBox) or between successive instructions (kLanes)
  std::int64_t warp_pitch = 0;    ///< bytes between the warps of a multi-warp stream (kLanes)
  std::uint32_t rows = 0;         ///< rows of the box, or instructions per warp; up to 65536
  std::uint32_t row_bytes = 0;    ///< bytes of a row that exist in the tensor
  std::uint32_t oob_bytes = 0;    ///< TMA loads: bytes of each row beyond the tensor, requested and delivered as well
  std::uint32_t oob_rows = 0;     ///< kBox loads: rows beyond the tensor. They are requested and delivered, but read no
                                  ///< new line: they fold onto the last row
  std::int32_t lane_pitch = 0;    ///< bytes between lanes; kBox: within a row, 128 B of it a request, 0 = coalesced
  std::uint32_t table_index = 0;  ///< kTable
  std::uint16_t multicast = 0;    ///< TMA loads: cluster ranks that receive the data; 0 = this CTA only
  std::uint8_t lane_bytes = 0;    ///< bytes per lane: 1, 2, 4, 8 or 16
  std::uint8_t lanes = 32;        ///< active lanes per warp, lane 0 first (kLanes)
  MemSpace space = MemSpace::kGlobal;
  MemDir dir = MemDir::kLoad;
  CachePolicy policy = CachePolicy::kDefault;
  Pattern pattern = Pattern::kBox;
};

/// One operation of one stream. Plain data; counts are per warp of the stream unless they say otherwise.
struct Operation {
  OpKind kind = OpKind::kNop;
  Pipe pipe = Pipe::kNone;
  std::uint16_t pc = 0;         ///< tag of the place in the kernel, for timelines and stacks
  std::array<Wait, 4> waits{};  ///< all must hold before the operation may issue
  std::array<Signal, 2> completes{};
  std::uint32_t issue_slots = 1;  ///< warp instructions issued by each warp of the stream (its SMSP's issue cycles)
  std::uint32_t pipe_work = 0;    ///< warp instructions each warp sends to `pipe` (its rate is the hardware's)
  std::uint32_t dependent_latency =
      0;  ///< ALU-latency steps on the critical path that issue cannot hide: chain length in dependent instructions
  std::uint32_t warp_insts = 0;    ///< counted warp instructions, summed over the stream's warps
  std::uint32_t tensor_insts = 0;  ///< counted tensor-pipe instructions, summed over the warps (wgmma: 4 each)
  // tensor work (kMmaSync, kWgmma): shape of one instruction and how many
  std::uint16_t mma_m = 0;  ///< 16 for mma.sync, 64 for wgmma
  std::uint16_t mma_n = 0;
  std::uint16_t mma_k = 0;          ///< elements
  std::uint8_t mma_bits = 16;       ///< operand bits: 4, 8, 16, 19 (tf32), 32, 64
  bool mma_a_in_registers = false;  ///< wgmma RS form
  bool mma_float8_promote = false;  ///< accumulators are promoted to CUDA cores by the instruction stream
  bool ends_piece = false;          ///< last of a stream's operations for a piece of Repetition
  std::uint32_t mma_count = 0;      ///< instructions per warp (mma.sync) or per warpgroup (wgmma)
  // shared memory, summed over the stream's warps
  std::uint32_t smem_read_wavefronts = 0;   ///< LDS, ldmatrix; wgmma operand reads are derived from the shape
  std::uint32_t smem_write_wavefronts = 0;  ///< STS, stmatrix, cp.async writes
  std::uint32_t smem_conflicts = 0;         ///< of these, wavefronts beyond the minimum (bank conflicts)
  MemoryRef mem{};
};
static_assert(std::is_trivially_copyable_v<Operation>);

}  // namespace strata

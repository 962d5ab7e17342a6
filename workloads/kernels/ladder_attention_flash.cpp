#include <algorithm>

#include "workloads/kernels/ladder_attention_counts.hpp"
#include "workloads/kernels/ladder_attention_steps.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kTile = 64;  ///< query rows, and keys
constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kStreamRows = kTile / (kThreads / 32);
constexpr std::uint32_t kShuffles = 16;  ///< of a block: four rows, four rounds
constexpr std::uint32_t kMufu = 20;      ///< sixteen weights and four rescales a thread

// In steps of one ALU instruction (4 clk): shared load 23 clk; four rounds of shuffle (24) and maximum (4), then MUFU
// (17) and the conversion to the new maximum.
constexpr std::uint32_t kSoftmaxSteps = (4 * 7 + 6) * 4 / 17;  ///< counted in MUFU latencies
constexpr std::uint32_t kEpilogueSteps = 60;                   ///< four times: shuffles, reciprocal, store

std::uint32_t smem_bytes(const LadderAttentionConfig& c) {
  const std::uint32_t d = c.shape.head_dim;
  const std::uint32_t stages = c.double_buffered ? 2 : 1;
  return 4 * (kTile * (d + 4) + stages * kTile * (2 * d + 4) + kTile * (kTile + 4));
}

}  // namespace

AttentionProgram ladder_flash_program(const LadderAttentionConfig& c) {
  const LadderLoopCounts& n = ladder_loop_counts(c);
  const std::uint32_t d = c.shape.head_dim;
  const AttentionLayout at = lay_out(c.shape);
  const std::uint32_t copies = kTile * d * 4 / 16 / kThreads;  // cp.async of a thread and tile
  AttentionProgram p = ladder_program(c, kThreads, n.registers, smem_bytes(c));
  p.stream_warps = 1;
  const std::uint8_t ahead = c.double_buffered ? 1 : 0;
  const AttentionAccess q = ladder_rows(AttentionRows::kQuery, at.q, c.shape, kStreamRows);
  const auto keys = [&](std::uint64_t base, std::uint32_t tiles_ahead) {
    return ladder_rows(AttentionRows::kKey, base, c.shape, kStreamRows, tiles_ahead);
  };
  // Rows of Q and K lie d + 4 floats apart in shared memory. In every second row 32 B of the source land in two sectors
  // there, and cp.async past the L1 fetches them once for each: half as many sectors again (exactly so in the
  // counters).
  // A row of theirs lies across lines of shared memory, so that its lines are asked for in pieces.
  const auto padded = [](AttentionStep copy) {
    copy.op.mem.policy = CachePolicy::kBypassL1InPieces;
    return copy;
  };
  const auto again = [](AttentionStep copy) {
    copy.op.issue_slots = copy.op.warp_insts = copy.op.pipe_work = copy.op.smem_write_wavefronts = 0;
    copy.access.odd_rows = true;
    return copy;
  };
  constexpr std::uint32_t kCopiesOfBlock = 3;

  AttentionPhase before;
  before.key_tile = kTile;
  before.steps = {ladder_compute(0, {.insts = ladder_rest(n.prologue, copies), .chain = 40, .moves = n.moves_once}),
                  padded(ladder_copy(1, copies, copies, q))};
  before.steps.push_back(again(before.steps.back()));
  if (c.double_buffered) {
    before.steps.push_back(padded(ladder_copy(2, n.first / 2, copies, keys(at.k, 0))));
    before.steps.push_back(again(before.steps.back()));
    before.steps.push_back(ladder_copy(2, n.first - n.first / 2, copies, keys(at.v, 0)));
  }

  AttentionPhase loop;
  loop.over_keys = true;
  loop.key_tile = kTile;
  loop.copies_of_block = kCopiesOfBlock;
  const std::uint32_t copy_insts = c.double_buffered ? n.next / 2 : copies;
  const std::uint32_t counted = n.scores + n.values + 2 + (c.double_buffered ? 0 : 2 * copies);
  // Reads of 16 B: those that a half-warp shares (Q, weights) take two wavefronts, those of sixteen rows (K) or of 256
  // neighbouring bytes (V) four; V at d = 32 is read 8 B at a time, two wavefronts.
  const std::uint32_t score_reads = d * (2 + 4);
  const std::uint32_t value_reads = kTile * 2 + (d < 64 ? kTile * 2 : kTile * (d / 64) * 4);
  loop.steps = {
      padded(ladder_copy(2, copy_insts, copies, keys(at.k, ahead))),
      again(padded(ladder_copy(2, copy_insts, copies, keys(at.k, ahead)))),
      ladder_copy(2, copy_insts, copies, keys(at.v, ahead)),
      ladder_barrier(3),
  };
  loop.steps[0].after_barrier = true;
  loop.steps[1].after_barrier = true;
  loop.steps[2].after_barrier = true;
  loop.steps[3].copies_ahead = static_cast<std::int8_t>(ahead);
  const LadderInner scores{.insts = n.scores,
                           .fma = 16 * d,
                           .reads = 2 * d,
                           .wavefronts = score_reads,
                           .returns = 8 * d,
                           .after_barrier = true};
  ladder_inner(4, scores, loop.steps);
  loop.steps.push_back(ladder_compute(5, {.insts = ladder_rest(n.block, counted),
                                          .pipe = Pipe::kMufu,
                                          .pipe_work = kMufu,
                                          .chain = kSoftmaxSteps,
                                          .read_wavefronts = kShuffles + kLadderSimtWavefronts,
                                          .write_wavefronts = 16,
                                          .moves = n.moves_block}));
  const std::uint32_t v_reads = kTile * std::max(1U, d / 64);
  ladder_inner(6,
               {.insts = n.values,
                .fma = 16 * d,
                .reads = kTile + v_reads,
                .wavefronts = value_reads,
                .returns = 4 * kTile + (d < 64 ? 2 : 4) * v_reads},
               loop.steps);
  loop.steps.push_back(ladder_barrier(7));

  AttentionPhase after;
  const std::uint32_t stores = d < 64 ? 4 : 4 * (d / 64);
  AttentionAccess o = q;
  o.base = at.o;
  after.steps = {ladder_compute(8, {.insts = ladder_rest(n.epilogue, stores),
                                    .chain = kEpilogueSteps,
                                    .read_wavefronts = kShuffles + kLadderOnceWavefronts}),
                 ladder_store(9, stores, stores, o)};
  p.phases = {before, loop, after};
  return p;
}

}  // namespace strata

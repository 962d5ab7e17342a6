#include "sim/base/error.hpp"
#include "workloads/kernels/ladder_attention_counts.hpp"
#include "workloads/kernels/ladder_attention_steps.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kWarps = 4;
constexpr std::uint32_t kThreads = 32 * kWarps;

// In MUFU latencies (17 clk): two rounds of shuffle and maximum, exponential.
constexpr std::uint32_t kSoftmaxSteps = 5;
constexpr std::uint32_t kEpilogueSteps = 40;
constexpr std::uint32_t kGroups = 4;  ///< of ldmatrix and the mma.sync that use them, of each product

}  // namespace

AttentionProgram ladder_mma_program(const LadderAttentionConfig& c) {
  const LadderLoopCounts& n = ladder_loop_counts(c);
  const std::uint32_t d = c.shape.head_dim;
  const std::uint32_t keys = c.key_rows;
  if (c.query_rows % (16 * kWarps) != 0 || keys != (c.query_rows == 128 && d == 128 ? 32U : 64U)) {
    throw UnsupportedError("the ladder's mma kernels are 64x64, 128x64 and, at head dim 128, 128x32");
  }
  const AttentionLayout at = lay_out(c.shape);
  const std::uint32_t row_bytes = 2 * d;
  const std::uint32_t tiles = c.query_rows / (16 * kWarps);  // m16 tiles of a warp
  const std::uint32_t mmas = tiles * (keys / 8) * (d / 16);  // of each product
  const std::uint32_t kv_ldmatrix = keys * row_bytes / 512;
  const std::uint32_t q_ldmatrix = tiles * 16 * row_bytes / 512;
  const std::uint32_t q_copies = c.query_rows * row_bytes / 16 / kThreads;
  const std::uint32_t copies = keys * row_bytes / 16 / kThreads;
  const std::uint32_t scores = tiles * 16 * keys / 32;  // of a thread
  const std::uint32_t shuffles = 4 * tiles;             // two rows for each m16 tile, two rounds
  AttentionProgram p = ladder_program(c, kThreads, n.registers, (c.query_rows + 2 * keys) * row_bytes);
  p.stream_warps = 1;
  const AttentionAccess q = ladder_rows(AttentionRows::kQuery, at.q, c.shape, c.query_rows / kWarps);
  const auto rows = [&](std::uint64_t base, std::uint32_t ahead) {
    return ladder_rows(AttentionRows::kKey, base, c.shape, keys / kWarps, ahead);
  };

  AttentionPhase before;
  before.key_tile = keys;
  before.steps = {ladder_compute(0, {.insts = ladder_rest(n.prologue, q_copies + copies), .chain = 40}),
                  ladder_copy(1, q_copies, q_copies, q), ladder_copy(2, copies, copies, rows(at.k, 0))};

  AttentionPhase loop;
  loop.over_keys = true;
  loop.key_tile = keys;
  const std::uint32_t counted = 2 * mmas + 2 * kv_ldmatrix + q_ldmatrix + copies + 2;
  loop.steps = {ladder_barrier(3), ladder_copy(4, copies, copies, rows(at.v, 0))};
  loop.steps[0].copies_ahead = 0;
  loop.steps[1].after_barrier = true;
  ladder_mma(
      5,
      {.mmas = mmas, .ldmatrix = kv_ldmatrix + q_ldmatrix, .other_wavefronts = kLadderMmaWavefronts, .groups = kGroups},
      loop.steps);
  loop.steps.push_back(ladder_barrier(6));
  loop.steps.back().copies_ahead = 0;
  loop.steps.push_back(ladder_copy(7, n.next, copies, rows(at.k, 1)));
  loop.steps.back().after_barrier = true;
  loop.steps.push_back(ladder_compute(8, {.insts = n.mask}));
  loop.steps.back().masked_only = true;
  loop.steps.back().after_barrier = true;
  loop.steps.push_back(ladder_compute(9, {.insts = ladder_rest(n.block, counted),
                                          .pipe = Pipe::kMufu,
                                          .pipe_work = scores + 2 * tiles,
                                          .chain = kSoftmaxSteps,
                                          .read_wavefronts = shuffles}));
  loop.steps.back().after_barrier = true;
  ladder_mma(10, {.mmas = mmas, .ldmatrix = kv_ldmatrix, .groups = kGroups}, loop.steps);

  // Output through the warp's own rows of the Q tile: 4 B stores, 16 B loads. The compiler stores the 16 B to memory as
  // four words (`st.global.u32`), so that four requests touch the same sectors.
  constexpr std::uint32_t kWords = 4;
  AttentionPhase after;
  const std::uint32_t staged = tiles * 2 * (d / 8);
  const std::uint32_t pieces = tiles * 16 * row_bytes / 512;
  after.steps = {ladder_compute(11, {.insts = ladder_rest(n.epilogue, (1 + kWords) * pieces),
                                     .chain = kEpilogueSteps,
                                     .read_wavefronts = shuffles + kLadderOnceWavefronts,
                                     .write_wavefronts = staged})};
  AttentionPhase store;
  store.count = pieces;
  store.steps = {ladder_shared(12, 1, 4, 0)};
  for (std::uint32_t word = 0; word < kWords; ++word) {
    AttentionAccess o = q;
    o.base = at.o + std::uint64_t{4} * word;
    o.block_rows = std::max(1U, 512 / row_bytes);
    o.row_bytes = row_bytes - 4 * (kWords - 1);
    store.steps.push_back(ladder_store(12, 1, 1, o));
    store.steps.back().op.mem.lane_bytes = 4;
    store.steps.back().op.mem.lane_pitch = 4 * kWords;
    store.steps.back().after_loads = word == 0;
  }
  p.phases = {before, loop, after, store};
  return p;
}

}  // namespace strata

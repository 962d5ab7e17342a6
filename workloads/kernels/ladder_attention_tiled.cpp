#include "workloads/kernels/ladder_attention_counts.hpp"
#include "workloads/kernels/ladder_attention_steps.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kTile = 32;
constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kWarps = kThreads / 32;
constexpr std::uint32_t kRows = kTile / kWarps;  ///< query rows of a warp
constexpr std::uint32_t kBanks = 32;

// Dependent latencies in steps of one ALU instruction (4 clk): a shared load is 23 clk, MUFU 17.
constexpr std::uint32_t kSharedSteps = 6;
constexpr std::uint32_t kMufuSteps = 5;

std::uint32_t smem_bytes(const LadderAttentionConfig& c) {
  const std::uint32_t d = c.shape.head_dim;
  const std::uint32_t pad = c.padded ? 1 : 0;
  return 4 * (3 * kTile * (d + pad) + kTile * (kTile + pad) + kTile * d + kTile);
}

/// Shared wavefronts of the compiled loops. Of a warp's four query rows two are read one float at a time, one two and
/// one four at a time (the compiler knows that the row number is a multiple of four); the four-wide read takes two
/// wavefronts although every lane reads the same.
struct Wavefronts {
  std::uint32_t scores, values, output, softmax, conflicts_scores, conflicts_softmax, softmax_stores;
};

Wavefronts wavefronts(const LadderAttentionConfig& c) {
  const std::uint32_t d = c.shape.head_dim;
  const std::uint32_t ways = c.padded ? 1 : kBanks;  // rows of d floats, a multiple of the banks: all lanes in one
  Wavefronts w{};
  w.scores = d * ways + 2 * d + d / 2 + d / 4 * 2;
  w.conflicts_scores = d * (ways - 1);
  // V: one read for each 32 columns and key. Weights: rows of scores are read as query rows are, but at d = 64, where
  // the compiler keeps every read one float wide.
  w.values = kTile * (d / 32) + (d == 64 ? kTile * kRows : 2 * kTile + (d == 32 ? kTile / 2 : kTile) + kTile / 2);
  w.output = kRows * (d / 32) + kRows;
  w.softmax = 2 * kTile * ways;
  w.softmax_stores = kTile * ways + 1;
  w.conflicts_softmax = 3 * kTile * (ways - 1);
  return w;
}

/// One warp, a row a lane: once over the scores for the maximum, once for the weights, then their stores.
void add_softmax(const LadderLoopCounts& n, const Wavefronts& w, std::vector<AttentionStep>& steps) {
  const std::uint32_t conflicts = w.conflicts_softmax / 3;
  const std::size_t first = steps.size();
  const std::uint32_t arithmetic = ladder_rest(n.first, 3 * kTile);
  steps.push_back(ladder_shared(8, kTile, w.softmax / 2, 0, conflicts));
  steps.push_back(ladder_compute(8, {.insts = arithmetic / 2, .chain = kTile, .moves = 1}));
  steps.push_back(ladder_shared(8, kTile, w.softmax / 2, 0, conflicts));
  steps.push_back(ladder_compute(8, {.insts = arithmetic - arithmetic / 2, .chain = kTile + kMufuSteps}));
  steps.push_back(ladder_shared(8, kTile, 0, w.softmax_stores, conflicts));
  steps[first].after_barrier = true;
  steps[first + 1].after_loads = steps[first + 3].after_loads = true;
  for (std::size_t i = first; i < steps.size(); ++i) steps[i].first_stream_only = true;
}

}  // namespace

AttentionProgram ladder_tiled_program(const LadderAttentionConfig& c) {
  const LadderLoopCounts& n = ladder_loop_counts(c);
  const std::uint32_t d = c.shape.head_dim;
  const AttentionLayout at = lay_out(c.shape);
  const Wavefronts w = wavefronts(c);
  const std::uint32_t loads = kRows * d / 32;  // of a warp and tile, one float a lane
  AttentionProgram p = ladder_program(c, kThreads, n.registers, smem_bytes(c));
  p.stream_warps = 1;  // the first warp alone does the softmax
  const AttentionAccess k = ladder_rows(AttentionRows::kKey, at.k, c.shape, kRows);
  const AttentionAccess v = ladder_rows(AttentionRows::kKey, at.v, c.shape, kRows);

  AttentionPhase before;
  before.steps = {ladder_compute(0, {.insts = ladder_rest(n.prologue, 2 * loads), .chain = 40, .moves = n.moves_once}),
                  ladder_load(1, loads, loads, ladder_rows(AttentionRows::kQuery, at.q, c.shape, kRows)),
                  ladder_compute(1, {.insts = loads, .write_wavefronts = 2 * loads})};
  before.steps[2].after_loads = true;

  AttentionPhase loop;
  loop.over_keys = true;
  loop.key_tile = kTile;
  const std::uint32_t stores = 2 * loads;  // of K and V to shared memory
  const std::uint32_t softmax = 2 + 3;     // masking and storing of scores around the loops
  const std::uint32_t output = 3 * kRows * (d / 32) + kRows;
  const std::uint32_t around = ladder_rest(n.block, n.scores + n.values + 2 * loads + stores + 4 + output + softmax);
  loop.steps = {
      ladder_load(2, loads + around / 2, loads, k),
      ladder_load(2, loads, loads, v),
      ladder_compute(3, {.insts = stores, .write_wavefronts = stores}),
      ladder_barrier(4),
  };
  loop.steps[0].after_barrier = true;
  loop.steps[2].after_loads = true;
  ladder_inner(5,
               {.insts = n.scores,
                .fma = kRows * d,
                .reads = d + 2 * d + d / 2 + d / 4,
                .wavefronts = w.scores,
                .conflicts = w.conflicts_scores,
                .returns = d + 2 * d + d / 2 * 2 + d / 4 * 4,
                .after_barrier = true},
               loop.steps);
  loop.steps.push_back(
      ladder_compute(6, {.insts = softmax + around - around / 2, .chain = kSharedSteps, .write_wavefronts = kRows}));
  loop.steps.push_back(ladder_barrier(7));
  add_softmax(n, w, loop.steps);
  loop.steps.push_back(ladder_barrier(9));
  ladder_inner(10,
               {.insts = n.values,
                .fma = kRows * d,
                .reads = w.values,
                .wavefronts = w.values,
                .returns = w.values,
                .after_barrier = true},
               loop.steps);
  loop.steps.push_back(ladder_compute(11, {.insts = output,
                                           .chain = kSharedSteps,
                                           .read_wavefronts = w.output,
                                           .write_wavefronts = kRows * (d / 32),
                                           .moves = n.moves_block}));
  loop.steps.push_back(ladder_barrier(12));

  AttentionPhase after;
  after.steps = {
      ladder_compute(13, {.insts = ladder_rest(n.epilogue, loads), .chain = 30, .read_wavefronts = 2 * loads}),
      ladder_store(14, loads, loads, ladder_rows(AttentionRows::kQuery, at.o, c.shape, kRows))};
  after.steps[0].after_barrier = true;
  p.phases = {before, loop, after};
  return p;
}

}  // namespace strata

#include "workloads/kernels/ladder_attention_counts.hpp"
#include "workloads/kernels/ladder_attention_steps.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kTile = 64;
constexpr std::uint32_t kDepth = 16;
constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kWarps = kThreads / 32;
constexpr std::uint32_t kStreams = kWarps;
constexpr std::uint32_t kStreamRows = kTile / kStreams;
constexpr std::uint32_t kFloat = 4;

constexpr std::uint32_t kEpilogueSteps = 12;

// The softmax kernel, from the SASS: before the loops, the loop over four floats a thread of each pass (unrolled by
// four from four trips on), between the passes (two trees of five shuffles, a reciprocal), after them.
constexpr std::uint32_t kSoftmaxRegisters = 32;
constexpr std::uint32_t kSoftmaxSetup = 18;
constexpr std::uint32_t kFirstSetup = 37;
constexpr std::uint32_t kFirstTrip = 37;
constexpr std::uint32_t kBetween = 66;
constexpr std::uint32_t kSecondSetup = 37;
constexpr std::uint32_t kSecondTrip = 31;
constexpr std::uint32_t kUnrolledTrip = 4;
constexpr std::uint32_t kFirstUnrolled = 119;
constexpr std::uint32_t kSecondUnrolled = 100;
constexpr std::uint32_t kUnrolledSetup = 25;
constexpr std::uint32_t kTreeShuffles = 10;
constexpr std::uint32_t kTreeSteps = 2 * (5 * 7 + 12);
constexpr std::uint32_t kSumReads = 2 * 4;       ///< each warp reads the values of eight warps, 16 B at a time, twice
constexpr std::uint32_t kSoftmaxWavefronts = 3;  ///< barriers and special registers, from a calibration row
constexpr std::uint32_t kSoftmaxStatic = 4 * kWarps;
constexpr std::uint32_t kGemmStatic = 2 * kDepth * (kTile + 4) * kFloat;

/// Bytes from one row of scores to the next, a multiple of 16.
std::uint64_t score_pitch(const AttentionShape& s) { return (s.kv_len + 3) / 4 * 16; }

std::uint64_t scores_base(const AttentionShape& s) { return lay_out(s).scratch; }

/// The scores are an input or output of every part of the chain, beside what describe_attention() lists.
void add_scores(const LadderAttentionConfig& c, bool reads, bool writes, double flops, AttentionProgram& p) {
  const std::uint64_t bytes = std::uint64_t{c.shape.batch} * c.shape.heads * c.shape.q_len * score_pitch(c.shape);
  p.launch.buffers.push_back(Buffer{"scores", scores_base(c.shape), bytes});
  const AttentionShape& s = c.shape;
  const double q = static_cast<double>(s.batch) * s.heads * s.q_len * s.head_dim * kFloat;
  const double kv = static_cast<double>(s.batch) * s.kv_heads * s.kv_len * s.head_dim * kFloat;
  const bool gemm = c.kernel != LadderAttentionKernel::kUnfusedSoftmax;
  const double scores = static_cast<double>(bytes);
  p.launch.work.compulsory_read_bytes = (gemm ? kv : 0) + (reads ? scores : q);
  p.launch.work.compulsory_write_bytes = writes ? scores : q;
  p.launch.work.fp32_flops = flops;
  if (gemm) p.launch.work.mufu_ops = 0;
}

AttentionAccess score_rows(const AttentionShape& s, std::uint32_t rows) {
  AttentionAccess a;
  a.rows_of = AttentionRows::kQuery;
  a.base = scores_base(s);
  a.pitch = score_pitch(s);
  a.rows = rows;
  a.row_end = static_cast<std::uint32_t>(score_pitch(s));
  return a;
}

/// One 16-deep slice: loads into registers, stores to shared memory, products of 4 x `width` results a thread.
std::vector<AttentionStep> slice_steps(const LadderLoopCounts& n, const AttentionAccess& left,
                                       const AttentionAccess& right, std::uint32_t width, bool right_turned) {
  // Turned stores of four floats hit each bank twice; straight ones are 16 (8) B a lane. Reads of 16 B that a half-warp
  // shares take two wavefronts, others four (8 B: two).
  const std::uint32_t stores = 4 * 2 + (right_turned ? 4 * 2 : width);
  const std::uint32_t store_insts = 4 + (right_turned ? 4 : 1);
  const std::uint32_t work = 4 * width * kDepth;
  const std::uint32_t products = work + 2 * kDepth;
  const std::uint32_t around = ladder_rest(n.block, products + store_insts + 2 + 2);
  std::vector<AttentionStep> steps = {
      ladder_load(1, 1 + around / 2, 1, left),
      ladder_load(1, 1 + around - around / 2, 1, right),
      ladder_compute(2, {.insts = store_insts, .write_wavefronts = stores, .moves = n.moves_block}),
      ladder_barrier(3),
  };
  steps[0].after_barrier = true;
  steps[2].after_loads = true;
  ladder_inner(4,
               {.insts = products,
                .fma = work,
                .reads = 2 * kDepth,
                .wavefronts = kDepth * (2 + width),
                .returns = kDepth * (4 + width),
                .groups = 8,
                .after_barrier = true},
               steps);
  steps.push_back(ladder_barrier(5));
  return steps;
}

/// A product's loop between what its CTAs do once: start, and store four rows of `out`.
std::vector<AttentionPhase> product_phases(const LadderLoopCounts& n, const AttentionPhase& loop,
                                           const AttentionAccess& out) {
  AttentionPhase before;
  before.steps = {ladder_compute(0, {.insts = n.prologue, .chain = 60, .moves = n.moves_once})};
  AttentionPhase after;
  after.steps = {
      ladder_compute(
          6, {.insts = ladder_rest(n.epilogue, 4), .chain = kEpilogueSteps, .read_wavefronts = kLadderOnceWavefronts}),
      ladder_store(7, 4, 4, out)};
  return {before, loop, after};
}

AttentionProgram scores_program(const LadderAttentionConfig& c) {
  const LadderLoopCounts& n = ladder_loop_counts(c);
  const AttentionShape& s = c.shape;
  const AttentionLayout at = lay_out(s);
  AttentionProgram p = ladder_program(c, kThreads, n.registers, 0, kGemmStatic);
  p.stream_warps = 1;
  p.grid = AttentionGrid::kScoreTiles;
  p.x_tiles = (s.kv_len + kTile - 1) / kTile;
  add_scores(c, false, true, p.launch.work.fp32_flops / 2, p);
  AttentionAccess q = ladder_rows(AttentionRows::kQuery, at.q, s, kStreamRows);
  q.row_bytes = kDepth * kFloat;
  q.block_bytes = kDepth * kFloat;
  AttentionAccess k = q;
  k.rows_of = AttentionRows::kKey;
  k.base = at.k;
  AttentionPhase loop;
  loop.count = s.head_dim / kDepth;
  loop.steps = slice_steps(n, q, k, 4, true);
  AttentionAccess out = score_rows(s, kStreamRows);
  out.row_bytes = kTile * kFloat;
  out.tile_bytes = kTile * kFloat;
  p.phases = product_phases(n, loop, out);
  return p;
}

AttentionProgram values_program(const LadderAttentionConfig& c) {
  const LadderLoopCounts& n = ladder_loop_counts(c);
  const AttentionShape& s = c.shape;
  const AttentionLayout at = lay_out(s);
  const std::uint32_t columns = s.head_dim < kTile ? s.head_dim : kTile;
  const std::uint32_t width = columns / 16;
  AttentionProgram p = ladder_program(c, kThreads, n.registers, 0, kGemmStatic);
  p.stream_warps = 1;
  p.grid = AttentionGrid::kValueTiles;
  p.x_tiles = s.head_dim / columns;
  add_scores(c, true, false, p.launch.work.fp32_flops / 2, p);
  AttentionAccess weights = score_rows(s, kStreamRows);
  weights.row_bytes = kDepth * kFloat;
  weights.block_bytes = kDepth * kFloat;
  AttentionAccess v = ladder_rows(AttentionRows::kKey, at.v, s, kDepth / kStreams);
  v.row_bytes = columns * kFloat;
  v.tile_bytes = columns * kFloat;
  AttentionAccess out = ladder_rows(AttentionRows::kQuery, at.o, s, kStreamRows);
  out.row_bytes = columns * kFloat;
  out.tile_bytes = columns * kFloat;
  AttentionPhase loop;
  loop.over_keys = true;
  loop.key_tile = kDepth;
  loop.steps = slice_steps(n, weights, v, width, false);
  p.phases = product_phases(n, loop, out);
  return p;
}

AttentionProgram softmax_program(const LadderAttentionConfig& c) {
  const AttentionShape& s = c.shape;
  AttentionProgram p = ladder_program(c, kThreads, kSoftmaxRegisters, 0, kSoftmaxStatic);
  p.grid = AttentionGrid::kRows;
  p.query_rows = 1;
  p.stream_warps = 1;
  const double scores = static_cast<double>(s.batch) * s.heads * s.q_len * s.kv_len;
  add_scores(c, true, true, 3 * scores, p);
  p.launch.work.mufu_ops = 2.5 * scores;  // five exponentials for four scores, then four
  // A stream is a warp: it takes every eighth 512 B of the row. Rows beyond a multiple of 4 KiB end in warps that make
  // a trip less.
  const auto quads = static_cast<std::uint32_t>(score_pitch(s) / 16);
  const std::uint32_t trips = (quads + kThreads - 1) / kThreads;
  const auto passes = [trips](std::uint32_t setup, std::uint32_t trip, std::uint32_t unrolled) {
    const std::uint32_t rest = trips % kUnrolledTrip;
    const std::uint32_t full = trips / kUnrolledTrip;
    return (rest > 0 ? setup + rest * trip : 0) + (full > 0 ? kUnrolledSetup + full * unrolled : 0);
  };
  AttentionAccess row = score_rows(s, 1);
  row.row_bytes = 32 * 16;
  row.stream_bytes = 32 * 16;
  row.block_bytes = kThreads * 16;
  const std::uint32_t first = passes(kFirstSetup, kFirstTrip, kFirstUnrolled) / trips;
  const std::uint32_t second = passes(kSecondSetup, kSecondTrip, kSecondUnrolled) / trips;
  AttentionPhase before;
  before.steps = {ladder_compute(0, {.insts = kSoftmaxSetup, .chain = 20})};
  AttentionPhase maximum;
  maximum.count = trips;
  maximum.skip_absent = true;
  maximum.steps = {
      ladder_load(1, 1, 1, row),
      ladder_compute(2, {.insts = first - 1, .pipe = Pipe::kMufu, .pipe_work = 5, .chain = 4, .moves = 1})};
  maximum.steps[1].after_loads = true;
  AttentionPhase reduce;
  reduce.steps = {ladder_compute(3, {.insts = kBetween / 2,
                                     .chain = kTreeSteps / 2,
                                     .read_wavefronts = kTreeShuffles / 2,
                                     .write_wavefronts = 1}),
                  ladder_barrier(4),
                  ladder_compute(5, {.insts = kBetween / 2,
                                     .chain = kTreeSteps / 2,
                                     .read_wavefronts = kTreeShuffles / 2 + kSumReads + kSoftmaxWavefronts,
                                     .write_wavefronts = 1}),
                  ladder_barrier(6)};
  reduce.steps[2].after_barrier = true;
  AttentionPhase write;
  write.count = trips;
  write.skip_absent = true;
  write.steps = {ladder_load(7, 1, 1, row),
                 ladder_compute(8, {.insts = second - 2, .pipe = Pipe::kMufu, .pipe_work = 4, .chain = 2}),
                 ladder_store(9, 1, 1, row)};
  write.steps[0].after_barrier = true;
  write.steps[1].after_loads = true;
  p.phases = {before, maximum, reduce, write};
  return p;
}

}  // namespace

AttentionProgram ladder_unfused_program(const LadderAttentionConfig& c) {
  switch (c.kernel) {
    case LadderAttentionKernel::kUnfusedScores:
      return scores_program(c);
    case LadderAttentionKernel::kUnfusedValues:
      return values_program(c);
    default:
      return softmax_program(c);
  }
}

}  // namespace strata

#include <algorithm>
#include <array>

#include "sim/base/error.hpp"
#include "workloads/kernels/ladder_attention_steps.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kThreads = 128;
constexpr std::uint32_t kWarps = kThreads / 32;
constexpr std::uint32_t kUnroll = 4;        ///< split: keys of each group of lanes in one turn
constexpr std::uint32_t kGroupedRows = 16;  ///< grouped: rows of the mma.sync tile
constexpr std::uint32_t kGroupedKeys = 16;  ///< grouped: keys of a warp's step
constexpr std::uint32_t kGroupedStages = 3;

// In steps of one ALU instruction (4 clk): shuffle and addition, shared read, reciprocal and store.
constexpr std::uint32_t kShuffleSteps = 7;
constexpr std::uint32_t kEndSteps = 40;

/// Instructions of a warp, from the SASS, by head dim.
struct SplitCounts {
  std::uint32_t head_dim, prologue, turn, turn_fp16, end, combine, registers, static_bytes;
};
constexpr std::array kSplit{SplitCounts{32, 128, 268, 240, 24, 231, 80, 4352},
                            SplitCounts{64, 131, 279, 247, 24, 131, 63, 4224},
                            SplitCounts{128, 131, 287, 255, 24, 71, 63, 4224}};

struct GroupedCounts {
  std::uint32_t head_dim, prologue, query, first, step, next, end, registers;
};
constexpr std::array kGrouped{GroupedCounts{32, 118, 44, 48, 129, 39, 51, 64},
                              GroupedCounts{64, 131, 64, 78, 163, 72, 68, 93},
                              GroupedCounts{128, 142, 109, 149, 222, 153, 81, 160}};
constexpr std::uint32_t kGroupedPair = 111;  ///< two outputs a thread put together from four warps
constexpr std::uint32_t kGroupedOne = 60;
constexpr std::uint32_t kGroupedWavefronts = 5;  ///< of a step beside ldmatrix and shuffles: barriers of the warp

// Combination: before, the maxima (a loop of sixteen, then eight, four and one at a time), between, four splits a turn,
// after. Sums over what is left of four cost about a turn.
constexpr std::uint32_t kCombineSetup = 25;
constexpr std::uint32_t kCombineSplits = 37;
constexpr std::uint32_t kCombineBetween = 31;
constexpr std::uint32_t kCombineEnd = 19;
constexpr std::uint32_t kMaximaUnroll = 16;
constexpr std::uint32_t kSplitsUnroll = 4;
constexpr std::uint32_t kCombineRegisters = 32;
constexpr std::uint32_t kCombineCodeBytes = 384 * 16;

/// Instructions of the search for the maximum over `splits`.
std::uint32_t maxima_insts(std::uint32_t splits) {
  const std::uint32_t rest = splits % 16;
  return 18 + splits / 16 * 38 + (rest >= 8 ? 22 : 0) + rest % 8 / 4 * 16 + (rest % 4 != 0 ? 8 + rest % 4 * 9 : 0);
}

template <class Table>
const auto& counts_for(const Table& table, std::uint32_t head_dim) {
  for (const auto& row : table) {
    if (row.head_dim == head_dim) return row;
  }
  throw UnsupportedError("the ladder's decode kernels have head dims 32, 64 and 128");
}

/// Partial outputs (d floats a row and split) and states (maximum and sum) behind the tensors.
struct Partials {
  AttentionAccess outputs, states;
};

Partials add_partials(const LadderAttentionConfig& c, AttentionProgram& p) {
  const AttentionShape& s = c.shape;
  const std::uint64_t rows = std::uint64_t{s.batch} * s.heads * ((s.kv_len + c.split_keys - 1) / c.split_keys);
  constexpr std::uint64_t kPage = std::uint64_t{2} << 20;
  Partials partials;
  partials.outputs.rows_of = AttentionRows::kPartial;
  partials.outputs.base = lay_out(s).scratch;
  partials.outputs.pitch = std::uint64_t{s.head_dim} * 4;
  partials.outputs.row_bytes = s.head_dim * 4;
  partials.states = partials.outputs;
  partials.states.base += (rows * partials.outputs.pitch + kPage - 1) / kPage * kPage;
  partials.states.pitch = 8;
  partials.states.row_bytes = 8;
  p.launch.buffers.push_back(Buffer{"partial outputs", partials.outputs.base, rows * partials.outputs.pitch});
  p.launch.buffers.push_back(Buffer{"states", partials.states.base, rows * 8});
  const double bytes = static_cast<double>(rows) * (static_cast<double>(partials.outputs.pitch) + 8);
  if (c.kernel == LadderAttentionKernel::kDecodeCombine) {
    p.launch.work.compulsory_read_bytes = bytes;
    p.launch.work.tensor_flops = p.launch.work.fp32_flops = 0;
  } else {
    p.launch.work.compulsory_write_bytes = bytes;
  }
  p.split_keys = c.split_keys;
  return partials;
}

AttentionProgram split_program(const LadderAttentionConfig& c) {
  const AttentionShape& s = c.shape;
  const std::uint32_t d = s.head_dim;
  const SplitCounts& n = counts_for(kSplit, d);
  const AttentionLayout at = lay_out(s);
  AttentionProgram p = ladder_program(c, kThreads, n.registers, 0, n.static_bytes);
  p.grid = AttentionGrid::kSplits;
  p.query_rows = 1;
  p.stream_warps = 1;
  const Partials partials = add_partials(c, p);
  const std::uint32_t lanes = d / 8;  // of a key
  const std::uint32_t rounds = d == 128 ? 4 : (d == 64 ? 3 : 2);
  const std::uint32_t turn = s.dtype == DataType::kFp16 ? n.turn_fp16 : n.turn;

  AttentionPhase before;
  before.steps = {ladder_compute(0, {.insts = n.prologue - 1, .chain = 60, .moves = 2}),
                  ladder_load(0, 1, 1, ladder_rows(AttentionRows::kQuery, at.q, s, 1)),
                  ladder_compute(0, {.insts = 1})};
  before.steps[1].access.stream_bytes = 0;
  before.steps[2].after_loads = true;
  AttentionPhase loop;
  loop.over_keys = true;
  loop.own_tiles = true;
  loop.key_tile = kUnroll * 32 / lanes;
  const AttentionAccess k = ladder_rows(AttentionRows::kKey, at.k, s, loop.key_tile);
  AttentionAccess v = k;
  v.base = at.v;
  // A reduction of four scores: independent chains, one after the other's start.
  loop.steps = {ladder_load(1, turn / 4, kUnroll, k), ladder_load(1, kUnroll, kUnroll, v),
                ladder_compute(2, {.insts = turn - turn / 4 - kUnroll,
                                   .pipe = Pipe::kFma,
                                   .pipe_work = 65,
                                   .chain = 8 + rounds * kShuffleSteps + 20,
                                   .read_wavefronts = kUnroll * rounds,
                                   .moves = 1})};
  loop.steps[2].after_loads = true;

  // The threads of the first d lanes put the parts together.
  AttentionPhase after;
  after.steps = {ladder_compute(3, {.insts = n.end - 1, .chain = 6, .read_wavefronts = 1, .write_wavefronts = 19}),
                 ladder_barrier(4)};
  AttentionPhase end;
  end.skip_absent = true;
  AttentionAccess out = partials.outputs;
  out.stream_bytes = 32 * 4;
  out.row_bytes = 32 * 4;
  out.row_end = d * 4;
  end.steps = {ladder_store(6, n.combine, 1, out)};
  end.steps[0].op.dependent_latency = kEndSteps;
  end.steps[0].op.smem_read_wavefronts = 16 * 128 / d;
  end.steps[0].after_barrier = true;
  AttentionPhase state;
  state.steps = {ladder_store(7, 11, 1, partials.states)};
  state.steps[0].first_stream_only = true;
  p.phases = {before, loop, after, end, state};
  return p;
}

AttentionProgram grouped_program(const LadderAttentionConfig& c) {
  const AttentionShape& s = c.shape;
  const std::uint32_t d = s.head_dim;
  const std::uint32_t group = s.heads / s.kv_heads;
  const GroupedCounts& n = counts_for(kGrouped, d);
  if (group > kGroupedRows) throw UnsupportedError("a group may have at most 16 query heads");
  const AttentionLayout at = lay_out(s);
  const std::uint32_t smem = (kGroupedRows + kWarps * kGroupedStages * 2 * kGroupedKeys) * d * 2;
  AttentionProgram p = ladder_program(c, kThreads, n.registers, smem, 8 * kWarps * kGroupedRows);
  p.grid = AttentionGrid::kGroupSplits;
  p.query_rows = 1;
  p.stream_warps = 1;
  const Partials partials = add_partials(c, p);
  const std::uint32_t copies = kGroupedKeys * d * 2 / 512;
  const std::uint32_t mmas = d / 8;  // of each product: 16 x 16 keys, 16 x d
  const std::uint32_t ldmatrix = d / 16;
  const auto keys = [&](std::uint64_t base, std::uint32_t ahead) {
    return ladder_rows(AttentionRows::kKey, base, s, kGroupedKeys, ahead);
  };

  AttentionPhase before;
  before.own_tiles = true;
  before.key_tile = kGroupedKeys;
  before.steps = {ladder_compute(0, {.insts = n.prologue - 1 - ldmatrix, .chain = 40}),
                  ladder_copy(1, n.query, copies, ladder_rows(AttentionRows::kQuery, at.q, s, kGroupedRows)),
                  ladder_copy(2, n.first / 2, copies, keys(at.k, 0)),
                  ladder_copy(2, n.first - n.first / 2, copies, keys(at.v, 0)),
                  ladder_copy(2, n.first / 2, copies, keys(at.k, 1)),
                  ladder_copy(2, n.first - n.first / 2, copies, keys(at.v, 1)),
                  ladder_barrier(3),
                  ladder_compute(4, {.insts = ldmatrix, .read_wavefronts = 4 * ldmatrix})};
  before.steps[1].first_stream_only = true;
  before.steps[6].copies_ahead = 2;
  before.steps[7].after_barrier = true;

  AttentionPhase loop;
  loop.over_keys = true;
  loop.own_tiles = true;
  loop.key_tile = kGroupedKeys;
  const std::uint32_t softmax = n.step - 2 * mmas - 2 * ldmatrix;
  loop.steps = {ladder_copy(5, n.next / 2, copies, keys(at.k, 2)),
                ladder_copy(5, n.next - n.next / 2, copies, keys(at.v, 2))};
  ladder_mma(6, {.mmas = mmas, .ldmatrix = ldmatrix, .other_wavefronts = kGroupedWavefronts}, loop.steps);
  loop.steps[2].copies_ahead = 2;
  // Products of one step follow each other: d / 16 in a chain for the scores, one for each output.
  loop.steps.back().op.dependent_latency = ldmatrix;
  loop.steps.push_back(
      ladder_compute(7, {.insts = softmax, .pipe = Pipe::kMufu, .pipe_work = 10, .chain = 5, .read_wavefronts = 4}));
  ladder_mma(8, {.mmas = mmas, .ldmatrix = ldmatrix}, loop.steps);
  loop.steps.back().op.dependent_latency = 1;

  AttentionPhase after;
  const std::uint32_t trips = (group * d + kThreads - 1) / kThreads;
  const std::uint32_t put_together = trips % 2 * kGroupedOne + trips / 2 * kGroupedPair;
  const std::uint32_t staged = 2 * (d / 8) * 8;  // rows of d floats: eight lanes of a store share a bank
  AttentionAccess out = partials.outputs;
  after.steps = {ladder_barrier(9),
                 ladder_compute(10, {.insts = n.end - 2,
                                     .chain = 10,
                                     .read_wavefronts = 4,
                                     .write_wavefronts = staged + 4,
                                     .conflicts = staged - 2 * (d / 8)}),
                 ladder_barrier(11),
                 ladder_compute(12, {.insts = put_together, .chain = kEndSteps, .read_wavefronts = 8 * trips})};
  after.steps[0].copies_ahead = 0;
  after.steps[1].after_barrier = true;
  after.steps[3].after_barrier = true;
  AttentionPhase store;
  store.steps = {ladder_store(13, trips, trips, out), ladder_store(14, trips, trips, partials.states)};
  for (AttentionStep& step : store.steps) step.first_stream_only = true;
  p.phases = {before, loop, after, store};
  return p;
}

AttentionProgram combine_program(const LadderAttentionConfig& c) {
  const AttentionShape& s = c.shape;
  AttentionProgram p = ladder_program(c, s.head_dim, kCombineRegisters, 0);
  p.grid = AttentionGrid::kHeads;
  p.launch.code_bytes = kCombineCodeBytes;
  p.query_rows = 1;
  p.stream_warps = 1;
  Partials partials = add_partials(c, p);
  const std::uint32_t splits = (s.kv_len + c.split_keys - 1) / c.split_keys;
  partials.outputs.stream_bytes = 32 * 4;
  partials.outputs.row_bytes = 32 * 4;
  partials.outputs.rows = kSplitsUnroll;
  AttentionPhase before;
  before.steps = {ladder_compute(0, {.insts = kCombineSetup, .chain = 30})};
  AttentionPhase maxima;
  maxima.count = (splits + kMaximaUnroll - 1) / kMaximaUnroll;
  AttentionAccess states = partials.states;
  states.rows = kMaximaUnroll;
  const std::uint32_t loads = std::min(splits, kMaximaUnroll);
  const std::uint32_t turn = maxima_insts(splits) / maxima.count;
  maxima.steps = {ladder_load(1, loads, loads, states),
                  ladder_compute(2, {.insts = ladder_rest(turn, loads), .chain = loads})};
  maxima.steps[1].after_loads = true;
  AttentionPhase between;
  between.steps = {ladder_compute(3, {.insts = kCombineBetween, .chain = 10})};
  AttentionPhase sums;
  sums.count = (splits + kSplitsUnroll - 1) / kSplitsUnroll;
  states.rows = kSplitsUnroll;
  sums.steps = {
      ladder_load(4, 2 * kSplitsUnroll, 2 * kSplitsUnroll, states),
      ladder_load(4, kSplitsUnroll, kSplitsUnroll, partials.outputs),
      ladder_compute(
          5,
          {.insts = kCombineSplits - 3 * kSplitsUnroll, .pipe = Pipe::kMufu, .pipe_work = kSplitsUnroll, .chain = 4})};
  sums.steps[2].after_loads = true;
  AttentionAccess o = ladder_rows(AttentionRows::kQuery, lay_out(s).o, s, 1);
  o.stream_bytes = 32 * 2;
  o.row_bytes = 32 * 2;
  AttentionPhase after;
  after.steps = {ladder_compute(6, {.insts = kCombineEnd - 1, .chain = 16, .read_wavefronts = s.head_dim / 64}),
                 ladder_store(7, 1, 1, o)};
  p.phases = {before, maxima, between, sums, after};
  return p;
}

}  // namespace

AttentionProgram ladder_decode_program(const LadderAttentionConfig& c) {
  switch (c.kernel) {
    case LadderAttentionKernel::kDecodeSplit:
      return split_program(c);
    case LadderAttentionKernel::kDecodeGrouped:
      return grouped_program(c);
    default:
      return combine_program(c);
  }
}

}  // namespace strata

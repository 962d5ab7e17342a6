#include "sim/base/error.hpp"
#include "workloads/kernels/ladder_attention_steps.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kThreads = 128;
constexpr std::uint32_t kWarps = kThreads / 32;
constexpr std::uint32_t kChunk = 16;       ///< strided: elements of a key that a lane has under way
constexpr std::uint32_t kOwnKeys = 4;      ///< coalesced: keys of a warp in one turn of its loop
constexpr std::uint32_t kValueUnroll = 4;  ///< rows of V under way
constexpr std::uint32_t kShuffles = 5;

// Instructions of a warp, from the SASS.
constexpr std::uint32_t kSetup = 104;
constexpr std::uint32_t kStridedChunk = 45;  ///< 16 loads, 16 FFMA, four reads of the query, addresses
constexpr std::uint32_t kStridedKey = 17;    ///< of a key: before and after its chunks
constexpr std::uint32_t kReduce = 29;        ///< over the CTA, each of two
constexpr std::uint32_t kWeightSetup = 30;
constexpr std::uint32_t kWeight = 5;  ///< of a key: read, subtract, MUFU, store, add (unrolled by 16)
constexpr std::uint32_t kValueSetup = 25;
constexpr std::uint32_t kEnd = 8;
constexpr std::uint32_t kStore = 21;

// In steps of one ALU instruction (4 clk): shuffle and addition 28 clk, shared read 23 clk, barrier 23.
constexpr std::uint32_t kShuffleSteps = 7;
constexpr std::uint32_t kReduceSteps = kShuffles * kShuffleSteps + 12;

struct Registers {
  std::uint32_t strided, coalesced;
};

struct PerDim {
  std::uint32_t own_keys_insts;  ///< coalesced: four keys of a warp
  std::uint32_t value_insts;     ///< four rows of V
  Registers registers;
};

PerDim per_dim(std::uint32_t d) {
  switch (d) {
    case 32:
      return {69, 19, {32, 32}};
    case 64:
      return {81, 19, {32, 32}};
    case 128:
      return {116, 20, {32, 29}};
    default:
      throw UnsupportedError("the ladder's naive kernels have head dims 32, 64 and 128");
  }
}

/// Scores of a key for each lane: all lanes read the same element of 32 keys. Rows are multiples of 128 B apart, so
/// every lane reads one and the same bank of the L1's data memory: a wavefront for each (29 conflicts a load are
/// counted).
AttentionPhase strided_scores(const LadderAttentionConfig& c) {
  AttentionPhase loop;
  loop.over_keys = true;
  loop.key_tile = 32;
  loop.own_tiles = true;
  loop.skip_absent = true;
  for (std::uint32_t i = 0; i < c.shape.head_dim; i += kChunk) {
    AttentionAccess k = ladder_rows(AttentionRows::kKey, lay_out(c.shape).k + i * 4, c.shape, 32);
    k.row_bytes = kChunk * 4;
    loop.steps.push_back(ladder_load(1, kChunk + 4, kChunk * 32, k));
    loop.steps.push_back(ladder_compute(2, {.insts = kStridedChunk - kChunk - 4,
                                            .pipe = Pipe::kFma,
                                            .pipe_work = kChunk,
                                            .chain = kChunk,
                                            .read_wavefronts = kChunk / 2}));
    loop.steps.back().after_loads = true;
  }
  loop.steps.push_back(ladder_compute(3, {.insts = kStridedKey, .write_wavefronts = 1, .moves = 1}));
  return loop;
}

/// Scores of a key for each warp: its lanes read neighbouring elements and add up with five shuffles.
AttentionPhase coalesced_scores(const LadderAttentionConfig& c, const PerDim& n) {
  const std::uint32_t loads = kOwnKeys * c.shape.head_dim / 32;
  AttentionPhase loop;
  loop.over_keys = true;
  loop.key_tile = kOwnKeys;
  loop.own_tiles = true;
  loop.steps = {
      ladder_load(1, loads + 4, loads, ladder_rows(AttentionRows::kKey, lay_out(c.shape).k, c.shape, kOwnKeys)),
      ladder_compute(2, {.insts = n.own_keys_insts - loads - 4,
                         .chain = kOwnKeys * kShuffles * kShuffleSteps,
                         .read_wavefronts = loads + kOwnKeys * kShuffles,
                         .write_wavefronts = kOwnKeys})};
  loop.steps[1].after_loads = true;
  return loop;
}

}  // namespace

AttentionProgram ladder_naive_program(const LadderAttentionConfig& c) {
  const AttentionShape& s = c.shape;
  const PerDim n = per_dim(s.head_dim);
  const bool strided = c.kernel == LadderAttentionKernel::kNaiveStrided;
  const AttentionLayout at = lay_out(s);
  AttentionProgram p = ladder_program(c, kThreads, strided ? n.registers.strided : n.registers.coalesced,
                                      4 * (kThreads + s.head_dim + s.kv_len), 4 * kWarps);
  p.query_rows = 1;
  p.stream_warps = 1;

  AttentionAccess q = ladder_rows(AttentionRows::kQuery, at.q, s, 1);
  q.stream_bytes = 32 * 4;
  q.row_bytes = 32 * 4;
  q.row_end = s.head_dim * 4;
  AttentionPhase before;
  before.steps = {ladder_compute(0, {.insts = kSetup - 3, .chain = 60, .moves = 1}), ladder_load(0, 1, 1, q),
                  ladder_compute(0, {.insts = 1, .write_wavefronts = 1}), ladder_barrier(0)};
  before.steps[2].after_loads = true;

  AttentionPhase scores = strided ? strided_scores(c) : coalesced_scores(c, n);
  scores.steps.front().after_barrier = true;

  const std::uint32_t keys = (s.kv_len + kThreads - 1) / kThreads;  // of a lane
  AttentionPhase weights;
  weights.steps = {
      ladder_compute(
          4, {.insts = kReduce - 2, .chain = kReduceSteps, .read_wavefronts = kShuffles + 2, .write_wavefronts = 1}),
      ladder_barrier(5, 2),
      ladder_compute(6, {.insts = kWeightSetup + kWeight * keys,
                         .pipe = Pipe::kMufu,
                         .pipe_work = keys,
                         .chain = 4,
                         .read_wavefronts = keys,
                         .write_wavefronts = keys}),
      ladder_compute(
          7, {.insts = kReduce - 2, .chain = kReduceSteps, .read_wavefronts = kShuffles + 2, .write_wavefronts = 1}),
      ladder_barrier(8, 2)};
  weights.steps[2].after_barrier = true;

  AttentionPhase values;
  const std::uint32_t parts = kThreads / s.head_dim;
  values.over_keys = true;
  values.key_tile = kValueUnroll * parts;
  values.steps = {ladder_load(9, kValueUnroll + 4, kValueUnroll, ladder_rows(AttentionRows::kKey, at.v, s, parts)),
                  ladder_compute(10, {.insts = n.value_insts - kValueUnroll - 4,
                                      .pipe = Pipe::kFma,
                                      .pipe_work = kValueUnroll,
                                      .chain = kValueUnroll,
                                      .read_wavefronts = kValueUnroll})};
  values.steps[0].after_barrier = true;
  values.steps[1].after_loads = true;

  AttentionAccess o = q;
  o.base = at.o;
  AttentionPhase after;
  after.steps = {ladder_compute(11, {.insts = kValueSetup + kEnd - 1, .chain = 8, .write_wavefronts = 1}),
                 ladder_barrier(12)};
  AttentionPhase store;
  store.skip_absent = true;
  store.steps = {ladder_store(13, kStore, 1, o)};
  store.steps[0].after_barrier = true;
  p.phases = {before, scores, weights, values, after, store};
  return p;
}

}  // namespace strata

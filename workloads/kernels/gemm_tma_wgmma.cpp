#include "workloads/kernels/gemm_tma_wgmma.hpp"

#include <algorithm>
#include <bit>

#include "workloads/kernels/gemm_tma_wgmma_plan.hpp"

namespace strata {

namespace {

constexpr std::uint32_t kSectorBytes = 32;
constexpr std::uint32_t kReadsOfBox = 4;  ///< sectors of a row of it
constexpr std::uint32_t kInstsOfWord =
    1;  ///< beside its load: bounds and products are executed where C is not read, too

enum Life : std::uint32_t { kStart, kJoin, kTileBegin, kMainLoop, kTurn, kEpilogue, kDrain, kEnded };

/// Cursor of either role: exactly the 64 bytes of StreamCursor, all zero at the start.
struct State {
  std::uint64_t unit;
  std::uint32_t life;
  std::uint32_t k;
  std::uint32_t k_end;
  std::uint32_t slot;    ///< stage of the next K tile
  std::uint32_t phase;   ///< times the ring has been walked
  std::uint32_t groups;  ///< wgmma groups committed by this consumer
  std::uint32_t box;     ///< consumers: next box of the epilogue; producer: product of the batch
  std::uint32_t stores;  ///< boxes stored so far
  std::uint32_t row0;    ///< of this CTA's tile
  std::uint32_t col0;
  std::uint32_t slice;  ///< of split-K, counted through the batch
  std::uint32_t tiles;  ///< tiles this stream has begun
  std::uint32_t staged;
  std::uint32_t drained;
};
static_assert(sizeof(State) == sizeof(StreamCursor));

class GemmTmaSource final : public TraceSource {
 public:
  GemmTmaSource(const GemmTmaConfig& config, const TargetFacts& target) : plan_(config, target) {}
  GemmTmaSource(const GemmTmaPlan& plan, std::uint64_t gap, std::uint64_t gap_size)
      : plan_(plan), gap_(gap), gap_size_(gap_size) {}

  /// Cluster tiles in the order of the raster.
  [[nodiscard]] Repetition repetition() const override {
    const std::uint32_t consumers = plan_.cooperative ? 2 : 1;
    return {plan_.units, plan_.order.period(), plan_.clusters, plan_.clusters, consumers * plan_.config.cluster_size()};
  }
  [[nodiscard]] std::unique_ptr<TraceSource> without(std::uint64_t first, std::uint64_t count) const override {
    return std::make_unique<GemmTmaSource>(plan_, first, count);
  }

  [[nodiscard]] const Launch& launch() const override { return plan_.launch; }

  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    auto state = std::bit_cast<State>(cursor.state);
    // At most four operations come of one step; the bound keeps the SM's buffer of a stream short.
    const std::size_t room = std::min<std::size_t>(out.size(), kMinFetch);
    std::uint32_t n = 0;
    while (n + 4 <= room && state.life != kEnded) {
      n += id.stream == 0 ? producer(id, state, out.data() + n) : consumer(id, state, out.data() + n);
    }
    cursor.state = std::bit_cast<std::array<std::uint64_t, 8>>(state);
    return n;
  }

 private:
  [[nodiscard]] std::uint64_t cluster_of(const StreamId& id) const { return id.cta / plan_.config.cluster_size(); }

  /// Prologue of every stream; the barriers must be set up before a peer may signal them.
  std::uint32_t start(const StreamId& id, State& state, Operation* out) const {
    Operation& op = out[0] = Operation{};
    op.kind = OpKind::kCompute;
    op.pc = 100;
    op.issue_slots = plan_.config.costs.prologue;
    op.warp_insts = plan_.config.costs.prologue * 4;  // the producer warpgroup's idle warps run it too
    op.dependent_latency = 32;
    std::uint32_t n = 1;
    if (plan_.config.cluster_size() > 1) {
      Operation& arrive = out[n++] = Operation{};
      arrive.kind = OpKind::kBarrier;
      arrive.pc = 101;
      arrive.completes[0] = {TokenClass::kClusterBarrier, 0, SignalAt::kIssue, 1, 0};
      Operation& wait = out[n++] = Operation{};
      wait.kind = OpKind::kNop;
      wait.pc = 101;
      wait.waits[0] = {TokenClass::kClusterBarrier, 0, 1};
    }
    Operation& registers = out[n++] = Operation{};
    registers.kind = OpKind::kSetMaxNReg;
    registers.pc = 102;
    state.unit = plan_.first_units[cluster_of(id)];
    state.life = kTileBegin;
    return n;
  }

  void begin_tile(const StreamId& id, State& state) const {
    const GemmTmaPlan::Unit unit = plan_.unit(state.unit);
    const GemmTmaPlan::Rank& rank = plan_.ranks[id.cluster_rank];
    state.row0 = unit.row0 + rank.row_offset;
    state.col0 = unit.col0 + rank.col_offset;
    state.slice = unit.batch * plan_.config.split_k + unit.slice;
    state.k = unit.k.begin;
    state.k_end = unit.k.end;
    state.life = kMainLoop;
    ++state.tiles;
  }

  void next_unit(State& state) const {
    state.unit += plan_.clusters;
    if (state.unit >= gap_ && state.unit < gap_ + gap_size_) {
      state.unit += gap_size_;
    }
  }

  void next_stage(State& state) const {
    if (++state.slot == plan_.config.stages) {
      state.slot = 0;
      ++state.phase;
    }
  }

  /// Moves past the stages that the other consumer of a ping-pong pair uses for its tile.
  void skip_unit(State& state) const {
    if (state.unit < plan_.units) {
      const KRange k = plan_.unit(state.unit).k;
      const std::uint32_t slot = state.slot + (k.end - k.begin);
      state.phase += slot / plan_.config.stages;
      state.slot = slot % plan_.config.stages;
    }
    next_unit(state);
  }

  std::uint32_t producer(const StreamId& id, State& state, Operation* out) const {
    switch (state.life) {
      case kStart:
        return start(id, state, out);
      case kTileBegin:
        if (state.unit >= plan_.units) {
          state.life = kDrain;
          return 0;
        }
        begin_tile(id, state);
        state.box = state.slice / plan_.config.split_k;
        return 0;
      case kMainLoop:
        return load(id, state, out);
      default:
        return drain_stages(state, out);
    }
  }

  std::uint32_t load(const StreamId& id, State& state, Operation* out) const {
    const GemmTmaPlan::Rank& rank = plan_.ranks[id.cluster_rank];
    const std::uint32_t tile_k = plan_.config.tile_k;
    const std::int64_t k0 = std::int64_t{state.k} * tile_k;
    Operation& a = out[0] = plan_.load_a;
    a.waits[0].slot = plan_.empty(state.slot);
    a.waits[0].count = state.phase;
    a.completes[0].slot = plan_.full(state.slot);
    a.completes[0].cta_mask = rank.a_mask;
    plan_.addresses.a.box(std::int64_t{state.row0} + rank.a.first, rank.a.rows, k0 + rank.a.first_k, rank.a.depth,
                          a.mem);
    a.mem.address += static_cast<std::uint64_t>(state.box * plan_.addresses.a.batch_bytes);
    a.mem.multicast = rank.a_mask;
    Operation& b = out[1] = plan_.load_b;
    b.completes[0].slot = plan_.full(state.slot);
    b.completes[0].cta_mask = rank.b_mask;
    plan_.addresses.b.box(std::int64_t{state.col0} + rank.b.first, rank.b.rows, k0 + rank.b.first_k, rank.b.depth,
                          b.mem);
    b.mem.address += static_cast<std::uint64_t>(state.box * plan_.addresses.b.batch_bytes);
    b.mem.multicast = rank.b_mask;
    next_stage(state);
    if (++state.k == state.k_end) {
      next_unit(state);
      state.life = kTileBegin;
    }
    return 2;
  }

  /// The producer leaves when its stages have been read: until then peers may still signal this CTA.
  std::uint32_t drain_stages(State& state, Operation* out) const {
    Operation& op = out[0] = Operation{};
    op.kind = OpKind::kNop;
    op.pc = 103;
    for (Wait& wait : op.waits) {
      if (state.drained < plan_.config.stages) {
        const std::uint32_t uses = state.phase + (state.drained < state.slot ? 1 : 0);
        wait = {TokenClass::kMbarrier, plan_.empty(state.drained), uses};
        ++state.drained;
      }
    }
    if (state.drained == plan_.config.stages) {
      state.life = kEnded;
    }
    return 1;
  }

  std::uint32_t consumer(const StreamId& id, State& state, Operation* out) const {
    switch (state.life) {
      case kStart: {
        const std::uint32_t n = start(id, state, out);
        out[n - 1].warp_insts = 4;
        if (!plan_.cooperative && id.stream == 2) {
          skip_unit(state);
        }
        return n;
      }
      case kTileBegin:
        return consumer_tile(id, state, out);
      case kMainLoop:
        return multiply(id, state, out);
      case kTurn:
        return pass_turn(id, state, out);
      case kEpilogue:
        return epilogue(id, state, out);
      default: {
        Operation& op = out[0] = Operation{};
        op.kind = OpKind::kNop;
        op.pc = 104;
        op.warp_insts = 4;
        op.waits[0] = {TokenClass::kAsyncGroup, 2, state.stores};
        state.life = kEnded;
        return 1;
      }
    }
  }

  std::uint32_t consumer_tile(const StreamId& id, State& state, Operation* out) const {
    if (state.unit >= plan_.units) {
      state.life = kDrain;
      return 0;
    }
    begin_tile(id, state);
    Operation& op = out[0] = Operation{};
    op.kind = OpKind::kCompute;
    op.pc = 105;
    op.issue_slots = plan_.config.costs.tile_begin;
    op.warp_insts = 4 * plan_.config.costs.tile_begin;
    if (!plan_.cooperative) {
      // Main loops take turns: consumer 0 starts, each hands over when its last group is committed.
      const std::uint32_t turns = id.stream == 1 ? state.tiles - 1 : state.tiles;
      op.waits[0] = {TokenClass::kMbarrier, plan_.turn(id.stream - 1), turns};
    }
    return 1;
  }

  std::uint32_t multiply(const StreamId& id, State& state, Operation* out) const {
    Operation& op = out[0] = plan_.mma;
    op.waits[0].slot = plan_.full(state.slot);
    op.waits[0].count = state.phase + 1;
    op.waits[1].count = state.groups == 0 ? 0 : state.groups - 1;  // one group stays in flight
    op.completes[1].slot = plan_.empty(state.slot);
    op.completes[1].cta_mask = plan_.ranks[id.cluster_rank].empty_mask;
    ++state.groups;
    std::uint32_t n = 1;
    if (plan_.mma.mma_float8_promote) {
      Operation& add = out[n++] = plan_.promote;
      add.waits[0].count = state.groups;
    }
    next_stage(state);
    if (++state.k == state.k_end) {
      state.life = plan_.cooperative ? kEpilogue : kTurn;
      state.box = 0;
    }
    return n;
  }

  std::uint32_t pass_turn(const StreamId& id, State& state, Operation* out) const {
    Operation& op = out[0] = Operation{};
    op.kind = OpKind::kBarrier;
    op.pc = 106;
    op.warp_insts = 4;
    op.completes[0] = {TokenClass::kMbarrier, plan_.turn(2 - id.stream), SignalAt::kIssue, 1, 0};
    state.life = kEpilogue;
    return 1;
  }

  /// A sector of each of a box's rows of C, waited for: four words of a thread, which the compiler moves across as many
  /// stores to shared memory and no more.
  std::uint32_t read_c(const GemmTmaPlan::StoreBox& box, State& state, std::uint32_t step, Operation* out) const {
    const GemmProblem& p = plan_.config.problem;
    const std::uint32_t bytes = plan_.addresses.c_element_bytes;
    const std::uint32_t width = kSectorBytes / bytes;
    const std::int64_t row = std::int64_t{state.row0} + box.row;
    const std::int64_t col = std::int64_t{state.col0} + box.col + step * width;
    Operation& load = out[0] = plan_.read_c;
    if (row < p.m && col < p.n && step * width < box.cols) {
      load.mem.address = plan_.addresses.c_base +
                         static_cast<std::uint64_t>(state.slice * plan_.addresses.c_slice_bytes +
                                                    row * plan_.addresses.c_pitch_bytes + col * std::int64_t{bytes});
      load.mem.rows = static_cast<std::uint32_t>(std::min<std::int64_t>(box.rows, p.m - row));
      load.mem.row_bytes = static_cast<std::uint32_t>(std::min<std::int64_t>(width, p.n - col)) * bytes;
    }
    Operation& wait = out[1] = Operation{};
    wait.kind = OpKind::kNop;
    wait.pc = 7;
    wait.issue_slots = kInstsOfWord * plan_.read_c.issue_slots;
    wait.warp_insts = 4 * wait.issue_slots;
    wait.waits[0] = {TokenClass::kScoreboard, 1, state.staged * kReadsOfBox + step + 1};
    return 2;
  }

  std::uint32_t epilogue(const StreamId& id, State& state, Operation* out) const {
    const std::vector<GemmTmaPlan::StoreBox>& boxes = plan_.store_boxes[id.stream - 1];
    if (plan_.config.reads_c) {
      const std::uint32_t step = state.box % (kReadsOfBox + 1);
      if (step < kReadsOfBox) return read_c(boxes[state.box++ / (kReadsOfBox + 1)], state, step, out);
      state.box /= kReadsOfBox + 1;
    }
    const GemmTmaPlan::StoreBox& box = boxes[state.box];
    const GemmProblem& p = plan_.config.problem;
    Operation& stage = out[0] = plan_.stage_c;
    stage.waits[0].count = state.groups;
    stage.waits[1].count = state.stores;
    stage.issue_slots = box.issue_slots + (state.box == 0 ? plan_.config.costs.tile_end : 0);
    stage.warp_insts = 4 * stage.issue_slots;
    stage.pipe_work = box.issue_slots;
    stage.smem_write_wavefronts = box.write_wavefronts;
    ++state.staged;
    std::uint32_t n = 1;
    const std::int64_t row = std::int64_t{state.row0} + box.row;
    const std::int64_t col = std::int64_t{state.col0} + box.col;
    if (row < p.m && col < p.n) {
      Operation& store = out[n++] = plan_.store_c;
      const std::uint32_t bytes = plan_.addresses.c_element_bytes;
      store.waits[0].count = state.staged;
      store.mem.address =
          plan_.addresses.c_base + static_cast<std::uint64_t>(state.slice * plan_.addresses.c_slice_bytes +
                                                              row * plan_.addresses.c_pitch_bytes + col * bytes);
      store.mem.rows = static_cast<std::uint32_t>(std::min<std::int64_t>(box.rows, p.m - row));
      store.mem.row_bytes = static_cast<std::uint32_t>(std::min<std::int64_t>(box.cols, p.n - col)) * bytes;
      ++state.stores;
    }
    if (++state.box == boxes.size()) {
      stage.ends_piece = true;
      end_tile(state);
    } else if (plan_.config.reads_c) {
      state.box *= kReadsOfBox + 1;
    }
    return n;
  }

  void end_tile(State& state) const {
    next_unit(state);
    if (!plan_.cooperative) {
      skip_unit(state);
    }
    state.life = kTileBegin;
  }

  GemmTmaPlan plan_;
  std::uint64_t gap_ = 0;  ///< first cluster tile left out
  std::uint64_t gap_size_ = 0;
};

}  // namespace

std::unique_ptr<TraceSource> make_gemm_tma(const GemmTmaConfig& config, const TargetFacts& target) {
  if (!target.has_tma || !target.has_wgmma) {
    throw UnsupportedError("this kernel needs TMA and wgmma, which " + target.architecture +
                           " does not have; `strata run gemm_mma_sync` needs neither");
  }
  const std::vector<Diagnostic> problems = check_gemm_tma(config, target);
  if (!problems.empty()) {
    throw InputError(problems);
  }
  return std::make_unique<GemmTmaSource>(config, target);
}

}  // namespace strata

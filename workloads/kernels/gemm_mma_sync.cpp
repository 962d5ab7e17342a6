#include "workloads/kernels/gemm_mma_sync.hpp"

#include <algorithm>
#include <bit>

#include "workloads/kernels/gemm_mma_sync_plan.hpp"

namespace strata {

namespace {

enum Life : std::uint32_t { kStart, kFill, kMainLoop, kEpilogue, kEnded };

/// The 64 bytes of StreamCursor, all zero at the start.
struct State {
  std::uint32_t life;
  std::uint32_t row0;
  std::uint32_t col0;
  std::uint32_t k_begin;
  std::uint32_t k_end;
  std::uint32_t load;  ///< next K tile to load
  std::uint32_t k;     ///< next K tile to multiply
  std::uint32_t part;  ///< of the epilogue
  std::uint32_t slice;
  std::array<std::uint32_t, 7> unused;
};
static_assert(sizeof(State) == sizeof(StreamCursor));

class GemmMmaSyncSource final : public TraceSource {
 public:
  GemmMmaSyncSource(const GemmMmaSyncConfig& config, const TargetFacts& target) : plan_(config, target) {}

  [[nodiscard]] const Launch& launch() const override { return plan_.launch; }

  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    auto state = std::bit_cast<State>(cursor.state);
    const std::size_t room = std::min<std::size_t>(out.size(), kMinFetch);
    std::uint32_t n = 0;
    while (n + kMostPerStep <= room && state.life != kEnded) {
      n += step(id, state, out.data() + n);
    }
    cursor.state = std::bit_cast<std::array<std::uint64_t, 8>>(state);
    return n;
  }

 private:
  static constexpr std::uint32_t kMostPerStep = 4;

  std::uint32_t step(const StreamId& id, State& state, Operation* out) const {
    switch (state.life) {
      case kStart:
        return start(id, state, out);
      case kFill: {
        const std::uint32_t n = load(state, out);
        if (plan_.through_registers) {
          out[n] = staged(state);
          state.life = kMainLoop;
          return n + 1;
        }
        if (state.load - state.k_begin == plan_.ahead) {
          state.life = kMainLoop;
        }
        return n;
      }
      case kMainLoop:
        return multiply(state, out);
      default:
        return epilogue(state, out);
    }
  }

  std::uint32_t start(const StreamId& id, State& state, Operation* out) const {
    const std::uint64_t slice = id.cta / plan_.tiles;
    const TileOrder::Tile tile = plan_.order.at(id.cta - slice * plan_.tiles);
    const KRange k = split_k_range(plan_.k_tiles, plan_.config.split_k, static_cast<std::uint32_t>(slice));
    state.row0 = tile.m * plan_.config.tile_m;
    state.col0 = tile.n * plan_.config.tile_n;
    state.slice = static_cast<std::uint32_t>(slice);
    state.k_begin = state.k = state.load = k.begin;
    state.k_end = k.end;
    state.life = kFill;
    Operation& op = out[0] = Operation{};
    op.kind = OpKind::kCompute;
    op.pc = 100;
    op.issue_slots = GemmMmaSyncCosts::kPrologueInsts;
    op.warp_insts = GemmMmaSyncCosts::kPrologueInsts * plan_.config.warps();
    op.dependent_latency = 32;
    return 1;
  }

  /// Loads of one K tile. Beyond the last one nothing is issued, but an empty group is still committed.
  std::uint32_t load(State& state, Operation* out) const {
    if (state.load >= state.k_end) {
      ++state.load;
      return 0;
    }
    const std::uint32_t tile_k = plan_.config.tile_k;
    const std::int64_t k0 = std::int64_t{state.load} * tile_k;
    out[0] = plan_.load_a;
    plan_.addresses.a.box(state.row0, plan_.config.tile_m, k0, tile_k, out[0].mem);
    out[1] = plan_.load_b;
    plan_.addresses.b.box(state.col0, plan_.config.tile_n, k0, tile_k, out[1].mem);
    out[0].mem.oob_rows = out[1].mem.oob_rows = 0;  // predicated off, not requested
    ++state.load;
    return 2;
  }

  [[nodiscard]] Operation staged(const State& state) const {
    Operation op = plan_.stage_tile;
    op.waits[0].count = 2 * (state.load - state.k_begin);
    return op;
  }

  std::uint32_t multiply(State& state, Operation* out) const {
    const std::uint32_t done = state.k - state.k_begin;
    std::uint32_t n = load(state, out);
    Operation& op = out[n++] = plan_.mma;
    op.waits[0].count = plan_.through_registers ? done + 1 : 2 * (done + 1);
    if (plan_.through_registers && state.load <= state.k_end) {
      out[n++] = staged(state);
    }
    if (++state.k == state.k_end) {
      state.life = kEpilogue;
    }
    return n;
  }

  std::uint32_t epilogue(State& state, Operation* out) const {
    const GemmProblem& p = plan_.config.problem;
    const std::uint32_t part = state.part++;
    const std::uint32_t first = part * plan_.rows_per_part;
    if (first + plan_.rows_per_part >= plan_.config.tile_m) {
      state.life = kEnded;
    }
    out[0] = plan_.write_c;
    out[1] = plan_.read_c;
    out[1].waits[0].count = part + 1;
    const std::int64_t row = std::int64_t{state.row0} + first;
    if (row >= p.m) {
      return 2;
    }
    const std::uint32_t bytes = plan_.addresses.c_element_bytes;
    out[2] = plan_.store_c;
    out[2].waits[0].count = part + 1;
    out[2].mem.address =
        plan_.addresses.c_base +
        static_cast<std::uint64_t>(state.slice * plan_.addresses.c_slice_bytes + row * plan_.addresses.c_pitch_bytes +
                                   std::int64_t{state.col0} * bytes);
    const std::uint32_t rows = std::min(plan_.rows_per_part, plan_.config.tile_m - first);
    out[2].mem.rows = static_cast<std::uint32_t>(std::min<std::int64_t>(rows, p.m - row));
    out[2].mem.row_bytes =
        static_cast<std::uint32_t>(std::min<std::int64_t>(plan_.config.tile_n, p.n - state.col0)) * bytes;
    return 3;
  }

  GemmMmaSyncPlan plan_;
};

}  // namespace

std::unique_ptr<TraceSource> make_gemm_mma_sync(const GemmMmaSyncConfig& config, const TargetFacts& target) {
  const std::vector<Diagnostic> problems = check_gemm_mma_sync(config, target);
  if (!problems.empty()) {
    throw InputError(problems);
  }
  return std::make_unique<GemmMmaSyncSource>(config, target);
}

}  // namespace strata

#include <algorithm>
#include <bit>
#include <utility>

#include "workloads/kernels/gemm_cta.hpp"

namespace strata {

namespace {

enum Life : std::uint32_t { kStart, kFill, kMainLoop, kAddSlices, kEpilogue, kEnded };

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
  std::uint32_t batch;
  std::uint32_t reads;    ///< parts of C read so far
  std::uint32_t row_end;  ///< of A and C: beyond the tile's product
  // of a CTA that walks
  std::uint32_t visit;    ///< tiles before this one
  std::uint32_t arrived;  ///< operations that loaded them
  std::uint32_t synced;   ///< their barriers
  std::uint32_t parts;    ///< of their epilogues
};
static_assert(sizeof(State) == sizeof(StreamCursor));

class GemmCtaSource final : public TraceSource {
 public:
  explicit GemmCtaSource(GemmCtaPlan plan) : plan_(std::move(plan)) {}

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
  static constexpr std::uint32_t kMostPerStep = 16;
  static constexpr std::uint32_t kPartPcs = 128;  ///< more than the other operations' pcs
  static constexpr std::uint32_t kWavefrontBytes = 128;
  static constexpr std::uint32_t kLeaveInsts = 24;  ///< of a CTA that finds its tile beyond C

  std::uint32_t step(const StreamId& id, State& state, Operation* out) const {
    switch (state.life) {
      case kStart:
        return start(id, state, out);
      case kFill: {
        const std::uint32_t n = load(id, state, out);
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
        return multiply(id, state, out);
      case kAddSlices:
        out[0] = plan_.add_slices;
        state.life = kEpilogue;
        return 1;
      default:
        return epilogue(id, state, out);
    }
  }

  [[nodiscard]] KRange k_range(std::uint32_t slice) const {
    if (const std::uint32_t length = plan_.config.slice_k; length != 0) {
      const auto k = static_cast<std::uint32_t>(plan_.config.problem.k);
      const std::uint32_t left = k - std::min(k, slice * length);
      return {0, static_cast<std::uint32_t>(ceil_div(std::min(left, length), plan_.config.tile_k))};
    }
    const std::uint32_t length = plan_.config.slice_k_tiles;
    if (length == 0) {
      return split_k_range(plan_.k_tiles, plan_.config.split_k, slice);
    }
    return {std::min(slice * length, plan_.k_tiles), std::min((slice + 1) * length, plan_.k_tiles)};
  }

  void place_tile(std::uint64_t cta, State& state) const {
    const std::uint64_t z = cta / plan_.tiles;
    const TileOrder::Tile tile = plan_.order.at(cta - z * plan_.tiles);
    state.row0 = tile.m * plan_.config.tile_m;
    state.col0 = tile.n * plan_.config.tile_n;
    state.row_end = static_cast<std::uint32_t>(plan_.config.problem.m);
    state.slice = static_cast<std::uint32_t>(z % plan_.config.split_k);
    state.batch = static_cast<std::uint32_t>(z / plan_.config.split_k);
  }

  /// Grouped: rows of tiles of a group one after the other. False when all tiles are taken.
  bool place_next_tile(std::uint64_t cta, State& state) const {
    const std::uint64_t tile = cta + std::uint64_t{state.visit} * plan_.launch.grid.x;
    if (tile >= plan_.group_tiles.back()) {
      return false;
    }
    const auto after = std::upper_bound(plan_.group_tiles.begin(), plan_.group_tiles.end(), tile);
    state.batch = static_cast<std::uint32_t>(after - plan_.group_tiles.begin() - 1);
    const std::uint64_t columns = ceil_div(static_cast<std::uint64_t>(plan_.config.problem.n), plan_.config.tile_n);
    const std::uint64_t within = tile - plan_.group_tiles[state.batch];
    state.row0 =
        plan_.config.group_rows[state.batch] + static_cast<std::uint32_t>(within / columns) * plan_.config.tile_m;
    state.col0 = static_cast<std::uint32_t>(within % columns) * plan_.config.tile_n;
    state.row_end = plan_.config.group_rows[state.batch + 1];
    return true;
  }

  /// A walking CTA counts on where its tokens are.
  void leave_tile(State& state) const {
    state.life = plan_.walks() ? kStart : kEnded;
    ++state.visit;
    const std::uint32_t k_tiles = state.k_end - state.k_begin;
    state.arrived += plan_.loads_per_tile * static_cast<std::uint32_t>(ceil_div(k_tiles, plan_.tiles_per_load));
    state.synced += k_tiles;
    state.parts += state.part;
    state.part = 0;
  }

  std::uint32_t start(const StreamId& id, State& state, Operation* out) const {
    if (!plan_.walks()) {
      place_tile(id.cta, state);
    } else if (!place_next_tile(id.cta, state)) {
      state.life = kEnded;
      return 0;
    }
    const KRange k = k_range(state.slice);
    state.k_begin = state.k = state.load = k.begin;
    state.k_end = k.end;
    const bool empty = state.row0 >= plan_.config.problem.m || state.col0 >= plan_.config.problem.n || k.begin == k.end;
    state.life = empty ? kEnded : kFill;
    const std::uint32_t insts = empty ? kLeaveInsts : plan_.config.costs.prologue;
    Operation& op = out[0] = Operation{};
    op.kind = OpKind::kCompute;
    op.pipe = Pipe::kAlu;
    op.pipe_work = insts;
    op.pc = 100;
    op.issue_slots = insts;
    op.warp_insts = insts * plan_.stream_warps;
    op.tensor_insts = empty ? 0 : plan_.config.costs.uncounted_tensor * plan_.stream_warps;
    op.dependent_latency = once_chain(insts);
    return 1;
  }

  /// A stream's share of `tiles` K tiles: of their rows where K is contiguous, else of their K.
  /// Rows from `row_end` on are not requested.
  void load_share(const StreamId& id, const State& state, const OperandView& view, std::uint32_t row_end,
                  std::uint32_t row0, std::uint32_t rows, std::uint32_t tiles, Operation& op) const {
    const std::int64_t slice0 = std::int64_t{state.slice} * plan_.config.slice_k;
    const std::int64_t k_end = plan_.config.slice_k == 0 ? view.k : std::min(view.k, slice0 + plan_.config.slice_k);
    const std::uint32_t tile_k = tiles * plan_.config.tile_k;
    const std::uint32_t share = (view.k_contiguous ? rows : tile_k) / plan_.streams;
    const std::int64_t first_row = row0 + (view.k_contiguous ? std::int64_t{id.stream} * share : 0);
    const std::int64_t first_k = slice0 + std::int64_t{state.load} * plan_.config.tile_k +
                                 (view.k_contiguous ? 0 : std::int64_t{id.stream} * share);
    op.pipe_work *= tiles;
    op.issue_slots *= tiles;
    op.warp_insts *= tiles;
    op.smem_write_wavefronts *= tiles;
    if (first_row >= row_end || first_k >= k_end) {
      return;  // predicated off, not requested
    }
    const std::int64_t depth = std::min<std::int64_t>(view.k_contiguous ? tile_k : share, k_end - first_k);
    view.box(first_row, view.k_contiguous ? share : rows, first_k, static_cast<std::uint32_t>(depth), op.mem);
    if (plan_.walks() && view.k_contiguous) {
      op.mem.rows = std::min<std::uint32_t>(op.mem.rows, row_end - static_cast<std::uint32_t>(first_row));
    }
    op.mem.address += static_cast<std::uint64_t>(state.batch * view.batch_bytes);
    op.mem.oob_rows = 0;
    op.mem.oob_bytes = 0;
  }

  /// Of a box of rows, the sectors inside those that begin 16 B off one.
  static void inner_sectors(MemoryRef& mem) {
    constexpr std::uint32_t kSectorBytes = 32, kPieceBytes = 16;
    const std::uint32_t first = mem.address % kSectorBytes == 0 ? 1 : 0;
    const bool some = mem.rows > first && mem.row_bytes > kSectorBytes;
    mem.address += first * static_cast<std::uint64_t>(mem.row_pitch) + kPieceBytes;
    mem.row_bytes = some ? mem.row_bytes - kSectorBytes : 0;
    mem.rows = some ? (mem.rows - first + 1) / 2 : 0;
    mem.row_pitch *= 2;
  }

  /// One operand's loads of `tiles` K tiles; returns how many operations they take.
  std::uint32_t load_operand(const StreamId& id, const State& state, bool of_a, std::uint32_t tiles,
                             Operation* out) const {
    const OperandView& view = of_a ? plan_.addresses.a : plan_.addresses.b;
    out[0] = of_a ? plan_.load_a : plan_.load_b;
    const auto end = of_a ? state.row_end : static_cast<std::uint32_t>(view.extent);
    load_share(id, state, view, end, of_a ? state.row0 : state.col0, of_a ? plan_.config.tile_m : plan_.config.tile_n,
               tiles, out[0]);
    if (plan_.config.counts_zero_fills) {
      const std::uint64_t copied = std::uint64_t{out[0].mem.rows} * out[0].mem.row_bytes;
      const auto wavefronts = static_cast<std::uint32_t>(ceil_div(copied, std::uint64_t{kWavefrontBytes}));
      out[0].smem_read_wavefronts += out[0].smem_write_wavefronts - std::min(wavefronts, out[0].smem_write_wavefronts);
    }
    if (!plan_.delivers_twice(view) && !plan_.parts_sectors(view)) {
      return 1;
    }
    Operation& again = out[1] = out[0];
    again.issue_slots = again.pipe_work = again.warp_insts = again.smem_write_wavefronts = 0;
    again.smem_read_wavefronts = 0;
    if (plan_.parts_sectors(view)) {
      inner_sectors(again.mem);
      return 2;
    }
    again.mem.address += static_cast<std::uint64_t>(again.mem.row_pitch);
    again.mem.row_pitch *= 2;
    again.mem.rows /= 2;
    return 2;
  }

  /// Loads of the next K tile; those of a line's worth of K tiles are issued with the first of them.
  std::uint32_t load(const StreamId& id, State& state, Operation* out) const {
    const std::uint32_t next = state.load;
    std::uint32_t n = 0;
    if (next < state.k_end && (next - state.k_begin) % plan_.tiles_per_load == 0) {
      const std::uint32_t tiles = std::min(plan_.tiles_per_load, state.k_end - next);
      n += load_operand(id, state, true, tiles, out);
      n += load_operand(id, state, false, tiles, out + n);
    }
    ++state.load;
    return n;
  }

  [[nodiscard]] Operation staged(const State& state) const {
    Operation op = plan_.stage_tile;
    op.waits[0].count = plan_.loads_per_tile * (std::min(state.load, state.k_end) - state.k_begin);
    return op;
  }

  std::uint32_t lead(Operation* out) const {
    if (plan_.lead.kind == OpKind::kNop) {
      return 0;
    }
    out[0] = plan_.lead;
    return 1;
  }

  /// With one stage: wait for the tile, multiply it, meet, and only then load the next one.
  std::uint32_t multiply_alone(const StreamId& id, State& state, Operation* out) const {
    const std::uint32_t done = state.k - state.k_begin;
    out[0] = plan_.sync;
    out[0].waits[0].count = plan_.loads_per_tile * (done + 1);
    out[1] = plan_.multiply;
    out[1].waits[0] = {TokenClass::kNamedBarrier, 0, 2 * done + 1};
    out[2] = plan_.sync;
    out[2].waits[0] = Wait{};
    std::uint32_t n = 3;
    n += lead(out + n);
    n += load(id, state, out + n);
    for (std::uint32_t i = 3; i < n; ++i) {
      out[i].waits[0] = {TokenClass::kNamedBarrier, 0, 2 * done + 2};
    }
    return n;
  }

  std::uint32_t multiply(const StreamId& id, State& state, Operation* out) const {
    const bool alone = plan_.config.stages == 1 && !plan_.through_registers;
    const std::uint32_t n = alone ? multiply_alone(id, state, out) : multiply_ahead(id, state, out);
    if (++state.k == state.k_end) {
      state.life = plan_.config.warp_slices > 1 ? kAddSlices : kEpilogue;
    }
    return n;
  }

  std::uint32_t multiply_ahead(const StreamId& id, State& state, Operation* out) const {
    const std::uint32_t done = state.k - state.k_begin;
    const std::uint32_t arrived =
        plan_.through_registers ? done + 1 : state.arrived + plan_.loads_per_tile * (done / plan_.tiles_per_load + 1);
    const bool meets = plan_.streams > 1;
    const bool one_buffer = plan_.config.stages == 1 && meets;  // the next tile is stored once all have read
    const Wait synced{TokenClass::kNamedBarrier, 0, state.synced + (one_buffer ? 2 * done + 1 : done + 1)};
    std::uint32_t n = 0;
    if (meets) {
      out[n] = plan_.sync;
      out[n++].waits[0].count = arrived;
    }
    const std::uint32_t first = n;
    if (plan_.multiply_first.kind != OpKind::kNop) {
      out[n] = plan_.multiply_first;
      out[n++].waits[0].count = arrived;
    }
    n += plan_.config.prefetch ? load(id, state, out + n) : 0;
    n += lead(out + n);
    if (plan_.fragments.kind != OpKind::kNop) {
      out[n] = plan_.fragments;
      out[n++].waits[0].count = arrived;
    }
    out[n] = plan_.multiply;
    out[n++].waits[0].count = arrived;
    for (std::uint32_t i = first; i < n && meets; ++i) {
      out[i].waits[0] = synced;
    }
    n += plan_.config.prefetch ? 0 : load(id, state, out + n);
    if (one_buffer) {
      out[n] = plan_.sync;
      out[n++].waits[0] = Wait{};
    }
    if (plan_.through_registers) {  // once more after the last tile: its loads alone are predicated off
      out[n] = staged(state);
      if (one_buffer) {
        out[n].waits[1] = {TokenClass::kNamedBarrier, 0, 2 * done + 2};
      }
      ++n;
    }
    return n;
  }

  std::uint32_t epilogue(const StreamId& id, State& state, Operation* out) const {
    const std::uint32_t part = state.part++;
    const std::uint32_t share = plan_.rows_per_part / plan_.streams;
    const std::uint32_t first = part * plan_.rows_per_part + id.stream * share;
    const std::uint32_t parts = state.parts + state.part;
    const State at = state;
    if ((part + 1) * plan_.rows_per_part >= plan_.config.tile_m) {
      leave_tile(state);
    }
    out[0] = plan_.write_c;
    if (const std::uint32_t once = plan_.config.costs.epilogue; part == 0 && once > 0) {
      out[0].issue_slots += once;
      out[0].pipe_work += once;
      out[0].warp_insts += once * plan_.stream_warps;
      out[0].dependent_latency += once_chain(once);
    }
    out[1] = plan_.read_c;
    out[1].waits[0].count = parts;
    const std::int64_t row = std::int64_t{at.row0} + first;
    if (row >= at.row_end || first >= plan_.config.tile_m) {
      return 2;
    }
    std::uint32_t n = 2;
    const bool reads = plan_.config.reads_c || (plan_.config.partials() == 1 && state.slice > 0);
    Operation& store = out[reads ? 3 : 2] = plan_.store_c;
    store.waits[0].count = parts;
    place_c(at, row, std::min(share, plan_.config.tile_m - first), store.mem);
    if (reads) {
      Operation& load = out[n++] = plan_.load_c;
      load.mem.address = store.mem.address;
      load.mem.rows = store.mem.rows;
      load.mem.row_bytes = store.mem.row_bytes;
      store.waits[1].count = ++state.reads;
    } else {
      store.waits[1] = Wait{};
    }
    ++n;
    if (plan_.store_piece_bytes != 0) n = store_pieces(out, n);
    const Operation& whole = out[n - 1];
    for (std::uint32_t tenths = plan_.config.store_pass_tenths - 10; tenths > 0; tenths -= std::min(tenths, 10U)) {
      Operation& again = out[n++] = whole;
      again.mem.rows = (std::min(tenths, 10U) * again.mem.rows + 9) / 10;
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      out[i].pc = static_cast<std::uint16_t>(out[i].pc + kPartPcs * (part + 1));  // the parts are unrolled
    }
    return n;
  }

  /// The store out[n - 1] becomes one for each piece of its rows; returns how many operations there are then. A sector
  /// that two instructions touch goes out twice, unless both come close in time: 5 to 70 % of such sectors of eight
  /// kernels went out once (H200). Here those of every second row do.
  std::uint32_t store_pieces(Operation* out, std::uint32_t n) const {
    const std::uint32_t piece = plan_.store_piece_bytes;
    const std::uint32_t columns = plan_.config.tile_n * plan_.addresses.c_element_bytes;
    const auto pieces = static_cast<std::uint32_t>(ceil_div(columns, piece));
    Operation& merged = out[n - 1];
    Operation whole = merged;
    merged.mem.rows = plan_.config.store_patch_bytes > 0 ? 0 : merged.mem.rows / 2;
    merged.issue_slots = merged.pipe_work = plan_.config.store_patch_bytes > 0 ? 0 : whole.pipe_work / 2;
    merged.warp_insts = plan_.config.store_patch_bytes > 0 ? 0 : whole.warp_insts / 2;
    whole.mem.rows -= merged.mem.rows;
    whole.mem.address += merged.mem.rows * static_cast<std::uint64_t>(whole.mem.row_pitch);
    whole.pipe_work -= merged.pipe_work;
    whole.warp_insts -= merged.warp_insts;
    for (std::uint32_t i = 0; i < pieces; ++i) {
      Operation& part = out[n++] = whole;
      part.issue_slots = part.pipe_work = whole.pipe_work * (i + 1) / pieces - whole.pipe_work * i / pieces;
      part.warp_insts = whole.warp_insts * (i + 1) / pieces - whole.warp_insts * i / pieces;
      part.mem.address += std::uint64_t{i} * piece;
      part.mem.row_bytes = std::min(piece, whole.mem.row_bytes - std::min(whole.mem.row_bytes, i * piece));
      if (part.mem.row_bytes == 0) part.mem.rows = 0;
    }
    return n;
  }

  void place_c(const State& state, std::int64_t row, std::uint32_t rows, MemoryRef& mem) const {
    const GemmProblem& p = plan_.config.problem;
    const GemmAddresses& a = plan_.addresses;
    const std::uint32_t copy = plan_.config.partials() == 1 ? 0 : state.slice;
    mem.address =
        a.c_base + static_cast<std::uint64_t>(state.batch * a.c_batch_bytes + copy * a.c_slice_bytes +
                                              row * a.c_pitch_bytes + std::int64_t{state.col0} * a.c_element_bytes);
    mem.rows = static_cast<std::uint32_t>(std::min<std::int64_t>(rows, state.row_end - row));
    mem.row_bytes =
        static_cast<std::uint32_t>(std::min<std::int64_t>(plan_.config.tile_n, p.n - state.col0)) * a.c_element_bytes;
  }

  GemmCtaPlan plan_;
};

}  // namespace

std::unique_ptr<TraceSource> make_gemm_cta_source(GemmCtaPlan plan) {
  return std::make_unique<GemmCtaSource>(std::move(plan));
}

}  // namespace strata

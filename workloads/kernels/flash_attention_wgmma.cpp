#include "workloads/kernels/flash_attention_wgmma.hpp"

#include <algorithm>

#include "workloads/kernels/flash_attention_wgmma_costs.hpp"
#include "workloads/kernels/flash_attention_wgmma_tiles.hpp"

namespace strata {
namespace {

using namespace flash_wgmma_costs;

constexpr std::uint32_t kBlockM = kWgmmaAttentionBlockM;
constexpr std::uint32_t kGroupRows = 64;  ///< query rows of a consumer warpgroup
constexpr std::uint32_t kGroupWarps = 4;
constexpr std::uint32_t kConsumers = 2;
constexpr std::uint32_t kGroupThreads = 128;
constexpr std::uint8_t kWgmmaGroup = 1;
constexpr std::uint8_t kStoreGroup = 2;

// mbarrier slots
constexpr std::uint32_t kQSlots = 2;
constexpr std::uint32_t kQFull = 0;
constexpr std::uint32_t kQEmpty = kQSlots;
constexpr std::uint32_t kRing = 2 * kQSlots;  ///< K full, K empty, V full, V empty: `stages` slots each

class FlashAttentionWgmma final : public TraceSource {
 public:
  explicit FlashAttentionWgmma(const FlashWgmmaConfig& config, std::uint64_t gap = 0, std::uint64_t gap_size = 0,
                               KeyGap key_gap = {})
      : c_(config), layout_(lay_out(config.shape)), tiles_(config, gap, gap_size), key_gap_(key_gap) {
    row_bytes_ = static_cast<std::uint32_t>(c_.shape.head_dim * layout_.element_bytes);
    scores_ = kGroupRows * c_.block_n / kGroupThreads;
    outputs_ = kGroupRows * c_.shape.head_dim / kGroupThreads;
    costs_ = c_.costs.value_or(cudnn_costs(c_, scores_, outputs_));
    build_launch();
    build_templates();
  }

  [[nodiscard]] const Launch& launch() const override { return launch_; }
  /// Query tiles in the order of the heads; a causal mask makes those of a head differ.
  [[nodiscard]] Repetition repetition() const override {
    if (by_keys_) return key_steps(tiles_.count(), tiles_.tile(0, 0).blocks, kConsumers);
    return tiles_.dynamic() ? Repetition{tiles_.count(), tiles_.q_tiles(), launch_.grid.x, tiles_.q_tiles(), kConsumers}
                            : TraceSource::repetition();
  }
  [[nodiscard]] std::unique_ptr<TraceSource> without(std::uint64_t first, std::uint64_t count) const override {
    if (by_keys_) {
      return std::make_unique<FlashAttentionWgmma>(c_, 0, 0, KeyGap(tiles_.count(), first, count));
    }
    return tiles_.dynamic() ? std::make_unique<FlashAttentionWgmma>(c_, first, count)
                            : TraceSource::without(first, count);
  }

  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    return id.stream == 0 ? produce(id.cta, cursor, out) : consume(id.cta, id.stream - 1, cursor, out);
  }

 private:
  /// Meaning of the cursor: tile of this CTA, step within it, K/V blocks of the tiles before, Q tiles loaded before
  /// (a causal mask may hide a tile's keys, and then it loads nothing).
  enum State : std::uint8_t { kTile, kStep, kBlocksBefore, kQLoads };

  using Tile = WgmmaAttentionTile;

  void build_launch() {
    launch_.name = c_.name;
    launch_.family = "flash_attention_wgmma";
    launch_.grid = tiles_.dynamic() ? Dim3{std::max(1U, c_.persistent_ctas), 1, 1}
                                    : Dim3{tiles_.q_tiles(), c_.shape.heads, c_.shape.batch};
    launch_.block = Dim3{kGroupThreads * (kConsumers + 1), 1, 1};
    launch_.registers_per_thread = c_.registers;
    launch_.smem_dynamic_bytes =
        c_.smem_dynamic_bytes != 0 ? c_.smem_dynamic_bytes : static_cast<std::uint32_t>(flash_wgmma_smem_bytes(c_));
    launch_.streams = {StreamInfo{0, 1, "producer"}, StreamInfo{4, kGroupWarps, "consumer 0"},
                       StreamInfo{8, kGroupWarps, "consumer 1"}};
    for (std::uint32_t s = 0; s < kQSlots; ++s) {
      launch_.mbarrier_arrivals[kQFull + s] = 1;
      launch_.mbarrier_arrivals[kQEmpty + s] = kConsumers;
    }
    for (std::uint32_t s = 0; s < c_.stages; ++s) {
      launch_.mbarrier_arrivals[k_full(s)] = 1;
      launch_.mbarrier_arrivals[k_empty(s)] = kConsumers;
      launch_.mbarrier_arrivals[v_full(s)] = 1;
      launch_.mbarrier_arrivals[v_empty(s)] = kConsumers;
    }
    if (costs_.takes_turns) {
      launch_.mbarrier_arrivals[turn(0)] = launch_.mbarrier_arrivals[turn(1)] = 1;
      launch_.mbarrier_arrivals[next_tile()] = kConsumers + 1;
    }
    launch_.num_descriptors = 4;
    launch_.repeats_every = tiles_.dynamic() ? 0 : tiles_.q_tiles();
    launch_.code_bytes = 32 * 1024;
    launch_.constant_lines = 3;  // executed: 3 and 4 in three kernels of cuDNN
    by_keys_ = repeats_by_keys(c_.shape, tiles_.q_tiles(), tiles_.tile(0, 0).blocks);
    describe_attention(c_.shape, layout_, c_.writes_lse, tiles_.dynamic() ? 128 : 0, launch_);
  }

  [[nodiscard]] std::uint8_t ring(std::uint32_t bank, std::uint32_t s) const {
    return static_cast<std::uint8_t>(kRing + bank * c_.stages + s);
  }
  [[nodiscard]] std::uint8_t k_full(std::uint32_t s) const { return ring(0, s); }
  [[nodiscard]] std::uint8_t k_empty(std::uint32_t s) const { return ring(1, s); }
  [[nodiscard]] std::uint8_t v_full(std::uint32_t s) const { return ring(2, s); }
  [[nodiscard]] std::uint8_t v_empty(std::uint32_t s) const { return ring(3, s); }

  /// Arrivals let a warpgroup do its softmax.
  [[nodiscard]] std::uint8_t turn(std::uint32_t group) const { return ring(4, group); }
  /// The producer has the next tile and both warpgroups are done with the last.
  [[nodiscard]] std::uint8_t next_tile() const { return ring(4, kConsumers); }

  static Wait phase(std::uint32_t slot, std::uint64_t count) {
    return Wait{TokenClass::kMbarrier, static_cast<std::uint8_t>(slot), static_cast<std::uint32_t>(count)};
  }
  static Wait wgmmas(std::uint64_t count) {
    return Wait{TokenClass::kAsyncGroup, kWgmmaGroup, static_cast<std::uint32_t>(count)};
  }
  static Signal arrive(std::uint32_t slot, SignalAt at) {
    return Signal{TokenClass::kMbarrier, static_cast<std::uint8_t>(slot), at, 1, 0};
  }
  static void set_insts(Operation& op, std::uint32_t per_warp, std::uint32_t warps) {
    op.issue_slots = per_warp;
    op.warp_insts = per_warp * warps;
  }
  [[nodiscard]] Operation load(std::uint16_t pc, std::uint32_t rows, std::uint32_t oob) const {
    Operation op;
    op.kind = OpKind::kTma;
    op.pc = pc;
    set_insts(op, costs_.producer_per_load, 1);
    op.mem.rows = rows;
    op.mem.oob_rows = oob;
    op.mem.row_bytes = row_bytes_;
    op.mem.row_pitch = row_bytes_;
    return op;
  }
  [[nodiscard]] Operation wgmma(std::uint16_t pc, std::uint32_t n, std::uint32_t count, bool a_in_registers) const {
    Operation op;
    op.kind = OpKind::kWgmma;
    op.pipe = Pipe::kTensor;
    op.pc = pc;
    op.pipe_work = count;
    op.mma_m = 64;
    op.mma_n = static_cast<std::uint16_t>(n);
    op.mma_k = 16;
    op.mma_count = count;
    op.mma_a_in_registers = a_in_registers;
    op.tensor_insts = count * kGroupWarps;
    set_insts(op, count, kGroupWarps);
    op.smem_read_wavefronts = costs_.block_wavefronts / 2;
    op.completes[0] = Signal{TokenClass::kAsyncGroup, kWgmmaGroup, SignalAt::kDataVisible, 1, 0};
    return op;
  }
  static Operation compute(std::uint16_t pc, Pipe pipe, std::uint32_t work, std::uint32_t slots, std::uint32_t chain) {
    Operation op;
    op.kind = OpKind::kCompute;
    op.pipe = pipe;
    op.pc = pc;
    op.pipe_work = work;
    op.dependent_latency = chain;
    set_insts(op, slots, kGroupWarps);
    return op;
  }

  void build_templates() {
    const std::uint32_t d = c_.shape.head_dim;
    qk_ = wgmma(3, c_.block_n, d / 16, false);
    pv_ = wgmma(7, d, c_.block_n / 16, true);
    set_insts(qk_, qk_.mma_count + costs_.around, kGroupWarps);
    set_insts(pv_, pv_.mma_count + costs_.around, kGroupWarps);
    maximum_ = compute(4, Pipe::kAlu, scores_, scores_ + 8, scores_ / 2 + kShuffleChain);
    const std::uint32_t woven = costs_.weaves ? scores_ + scores_ / 2 : 0;
    exponential_ = compute(5, Pipe::kMufu, scores_ + 2, 2 * scores_ + 2 + woven, costs_.exponential_chain);
    const std::uint32_t others = qk_.issue_slots + pv_.issue_slots + maximum_.issue_slots + exponential_.issue_slots;
    const std::uint32_t rest = costs_.block > others ? costs_.block - others : 1;
    rest_ = costs_.weaves ? compute(6, Pipe::kFma, outputs_, rest, 0)
                          : compute(6, Pipe::kFma, scores_ + outputs_, rest, scores_ / 2);
  }

  [[nodiscard]] Tile tile_of(std::uint64_t cta, std::uint64_t index) const {
    Tile t = tiles_.tile(cta, index);
    t.blocks -= key_gap_.size;
    return t;
  }

  [[nodiscard]] Operation fetch_tile() const {
    Operation op;
    op.kind = OpKind::kFetchTile;
    op.pc = 1;
    set_insts(op, 4, 1);
    op.mem.address = layout_.scratch;
    op.mem.dir = MemDir::kAtomic;
    op.mem.rows = 1;
    op.mem.row_bytes = 4;
    op.mem.row_pitch = 4;
    op.completes[0] = Signal{TokenClass::kScoreboard, 0, SignalAt::kDataVisible, 1, 0};
    return op;
  }

  std::uint32_t produce(std::uint64_t cta, StreamCursor& cursor, std::span<Operation> out) const {
    auto& st = cursor.state;
    std::uint32_t n = 0;
    if (st[kTile] > tiles_.count_of(cta)) return 0;
    if (st[kStep] == 0) {
      if (tiles_.dynamic()) out[n++] = fetch_tile();
      if (costs_.takes_turns) {
        out[n] = Operation{};
        out[n].waits[0] =
            Wait{TokenClass::kScoreboard, 0, static_cast<std::uint32_t>(tiles_.dynamic() ? st[kTile] + 1 : 0)};
        out[n++].completes[0] = arrive(next_tile(), SignalAt::kIssue);
      }
      if (st[kTile] == tiles_.count_of(cta)) {
        ++st[kTile];
        return n;
      }
      const Tile t = tile_of(cta, st[kTile]);
      if (t.blocks == 0) {
        ++st[kTile];
        out[n++] = Operation{};
        return n;
      }
      const std::uint64_t use = st[kQLoads]++;
      const auto slot = static_cast<std::uint32_t>(use % kQSlots);
      const std::uint32_t rows = std::min(kBlockM, c_.shape.q_len - t.first_row);
      Operation q = load(2, rows, kBlockM - rows);
      set_insts(q, costs_.producer_per_tile - 4, 1);
      q.mem.address = layout_.q + t.q_row * row_bytes_;
      q.waits[0] = phase(kQEmpty + slot, use / kQSlots);
      if (tiles_.dynamic()) q.waits[1] = Wait{TokenClass::kScoreboard, 0, static_cast<std::uint32_t>(st[kTile] + 1)};
      q.completes[0] = arrive(kQFull + slot, SignalAt::kDataVisible);
      out[n++] = q;
      st[kStep] = 1;
      return n;
    }
    const Tile t = tile_of(cta, st[kTile]);
    const std::uint64_t g = st[kBlocksBefore]++;
    const auto s = static_cast<std::uint32_t>(g % c_.stages);
    const std::uint32_t kv_block = key_block(t, st[kStep]);
    const std::uint32_t rows = std::min(c_.block_n, c_.shape.kv_len - kv_block * c_.block_n);
    const std::uint64_t offset = (t.kv_row + std::uint64_t{kv_block} * c_.block_n) * row_bytes_;
    Operation k = load(2, rows, c_.block_n - rows);
    Operation v = k;
    k.mem.address = layout_.k + offset;
    k.waits[0] = phase(k_empty(s), g / c_.stages);
    k.completes[0] = arrive(k_full(s), SignalAt::kDataVisible);
    v.mem.address = layout_.v + offset;
    v.waits[0] = phase(v_empty(s), g / c_.stages);
    v.completes[0] = arrive(v_full(s), SignalAt::kDataVisible);
    out[n++] = k;
    out[n++] = v;
    if (++st[kStep] > t.blocks) {
      st[kStep] = 0;
      ++st[kTile];
    }
    return n;
  }

  std::uint32_t consume(std::uint64_t cta, std::uint32_t group, StreamCursor& cursor, std::span<Operation> out) const {
    auto& st = cursor.state;
    if (st[kTile] >= tiles_.count_of(cta)) return 0;
    const Tile t = tile_of(cta, st[kTile]);
    std::uint32_t n = costs_.takes_turns && st[kStep] == 0 ? begin_tile(st[kTile], out) : 0;
    if (st[kStep] == t.blocks) {
      n += finish_tile(t, group, st[kTile], st[kBlocksBefore], out.subspan(n));
      ++st[kTile];
      st[kStep] = 0;
      st[kBlocksBefore] += t.blocks;
      st[kQLoads] += t.blocks > 0 ? 1 : 0;
      return n;
    }
    const auto i = static_cast<std::uint32_t>(++st[kStep]);
    return n + block(t, i, group, st[kQLoads], st[kBlocksBefore], out.subspan(n));
  }

  /// A warpgroup learns its next tile when the producer has it and the other warpgroup is there too.
  std::uint32_t begin_tile(std::uint64_t index, std::span<Operation> out) const {
    out[0] = out[1] = Operation{};
    out[0].completes[0] = arrive(next_tile(), SignalAt::kIssue);
    out[1].waits[0] = phase(next_tile(), index + 1);
    return 2;
  }

  /// The keys that step i = 1..blocks visits.
  [[nodiscard]] std::uint32_t key_block(const Tile& t, std::uint64_t i) const {
    const std::uint32_t step = key_gap_.original(static_cast<std::uint32_t>(i));
    return costs_.rises ? step - 1 : t.blocks + key_gap_.size - step;
  }

  /// Whether the softmax of a consumer group has keys to hide in step i.
  [[nodiscard]] bool masks(const Tile& t, std::uint32_t i, std::uint32_t group) const {
    if (!costs_.masks_last_keys) {
      const bool ragged = c_.shape.kv_len % c_.block_n != 0;
      return ragged || (c_.shape.causal && i <= (kBlockM + c_.block_n - 1) / c_.block_n);
    }
    std::uint32_t seen = c_.shape.kv_len;  // by the group's first row
    if (c_.shape.causal) {
      seen = std::min(seen, t.first_row + group * kGroupRows + 1 + c_.shape.kv_len - c_.shape.q_len);
    }
    return (key_block(t, i) + 1) * c_.block_n > seen;
  }

  /// Block i = 1..blocks of a tile. wgmma groups, two per block: plain order Q1 P1 Q2 P2, pipelined Q1 Q2 P1 Q3 P2.
  std::uint32_t block(const Tile& t, std::uint32_t i, std::uint32_t group, std::uint64_t use, std::uint64_t before,
                      std::span<Operation> out) const {
    const std::uint64_t g = before + i - 1;
    const auto s = static_cast<std::uint32_t>(g % c_.stages);
    const auto q_slot = static_cast<std::uint32_t>(use % kQSlots);
    const std::uint64_t base = 2 * before;
    const std::uint64_t qk_count = base + (c_.pipelined ? (i == 1 ? 1 : 2 * (i - 1)) : 2 * i - 1);
    std::uint32_t n = 0;
    out[n] = qk_;
    out[n].waits[0] = phase(k_full(s), g / c_.stages + 1);
    if (i == 1) out[n].waits[1] = phase(kQFull + q_slot, use / kQSlots + 1);
    out[n++].completes[1] = arrive(k_empty(s), SignalAt::kDataVisible);
    if (c_.pipelined && i > 1) out[n++] = pv(g - 1);
    out[n] = maximum_;
    if (masks(t, i, group)) set_insts(out[n], maximum_.issue_slots + costs_.mask, kGroupWarps);
    out[n++].waits[0] = wgmmas(qk_count);
    out[n] = exponential_;
    // The second warpgroup has the first turn.
    if (costs_.takes_turns) out[n].waits[0] = phase(turn(group), g + (group == 0 ? 1 : 0));
    out[++n] = rest_;
    if (costs_.takes_turns) out[n].completes[1] = arrive(turn(1 - group), SignalAt::kIssue);
    if (c_.pipelined && i > 1) out[n].waits[0] = wgmmas(qk_count + 1);
    if (i == t.blocks) out[n].completes[0] = arrive(kQEmpty + q_slot, SignalAt::kIssue);
    ++n;
    if (!c_.pipelined || i == t.blocks) out[n++] = pv(g);
    return n;
  }

  [[nodiscard]] Operation pv(std::uint64_t g) const {
    const auto s = static_cast<std::uint32_t>(g % c_.stages);
    Operation op = pv_;
    op.ends_piece = by_keys_;
    op.waits[0] = phase(v_full(s), g / c_.stages + 1);
    op.completes[1] = arrive(v_empty(s), SignalAt::kDataVisible);
    return op;
  }

  std::uint32_t finish_tile(const Tile& t, std::uint32_t group, std::uint64_t use, std::uint64_t before,
                            std::span<Operation> out) const {
    const std::uint32_t staging = kGroupRows * row_bytes_ / 512 / kGroupWarps;  // stmatrix.x4 per warp
    const std::uint32_t first_row = t.first_row + group * kGroupRows;
    const std::uint32_t rows = first_row < c_.shape.q_len ? std::min(kGroupRows, c_.shape.q_len - first_row) : 0;
    out[0] = compute(8, Pipe::kFma, outputs_, costs_.once - staging - 1, kEpilogueChain);
    out[0].ends_piece = !by_keys_;
    if (t.blocks > 0) out[0].waits[0] = wgmmas(2 * (before + t.blocks));
    std::uint32_t n = 1;
    Operation shared;
    shared.kind = OpKind::kShared;
    shared.pipe = Pipe::kLsu;
    shared.pc = 9;
    shared.pipe_work = staging;
    set_insts(shared, staging, kGroupWarps);
    shared.smem_write_wavefronts = kGroupRows * row_bytes_ / 128 + costs_.once_wavefronts;
    shared.smem_conflicts = costs_.once_wavefronts;
    shared.completes[0] = Signal{TokenClass::kScoreboard, 0, SignalAt::kDataVisible, 1, 0};
    // The O tile in shared memory is free once the previous store has read it. A ragged tile may have had no store.
    if (c_.shape.q_len % kBlockM == 0 && use > 0) {
      shared.waits[0] = Wait{TokenClass::kAsyncGroup, kStoreGroup, static_cast<std::uint32_t>(use)};
    }
    out[n++] = shared;
    if (rows == 0) return n;
    Operation store = load(10, rows, 0);
    set_insts(store, 1, kGroupWarps);
    store.waits[0] = Wait{TokenClass::kScoreboard, 0, static_cast<std::uint32_t>(use + 1)};
    store.mem.dir = MemDir::kStore;
    store.mem.address = layout_.o + (t.q_row + group * kGroupRows) * row_bytes_;
    store.completes[0] = Signal{TokenClass::kAsyncGroup, kStoreGroup, SignalAt::kOperandsRead, 1, 0};
    out[n++] = store;
    if (c_.writes_lse) {
      Operation lse;
      lse.kind = OpKind::kMemory;
      lse.pipe = Pipe::kLsu;
      lse.pc = 11;
      lse.pipe_work = 1;
      set_insts(lse, 1, kGroupWarps);
      lse.mem.dir = MemDir::kStore;
      lse.mem.address = layout_.lse + (t.q_row + group * kGroupRows) * 4;
      lse.mem.rows = 1;
      lse.mem.row_bytes = rows * 4;
      out[n++] = lse;
    }
    return n;
  }

  FlashWgmmaConfig c_;
  AttentionLayout layout_;
  WgmmaAttentionTiles tiles_;
  KeyGap key_gap_;
  bool by_keys_ = false;  ///< repeats itself by steps over the keys, not by tiles
  Launch launch_;
  std::uint32_t row_bytes_ = 0;
  std::uint32_t scores_ = 0;   ///< of a thread and block
  std::uint32_t outputs_ = 0;  ///< output elements of a thread
  FlashWgmmaCosts costs_{};
  Operation qk_;
  Operation pv_;
  Operation maximum_;
  Operation exponential_;
  Operation rest_;
};

}  // namespace

std::uint64_t flash_wgmma_smem_bytes(const FlashWgmmaConfig& c) {
  const std::uint64_t row_bytes = std::uint64_t{c.shape.head_dim} * (bits_of(c.shape.dtype) / 8);
  constexpr std::uint64_t kBarrierBytes = 3072;
  return (kQSlots + 1) * kBlockM * row_bytes + 2 * std::uint64_t{c.stages} * c.block_n * row_bytes + kBarrierBytes;
}

std::unique_ptr<TraceSource> make_flash_attention_wgmma(const FlashWgmmaConfig& config) {
  return std::make_unique<FlashAttentionWgmma>(config);
}

}  // namespace strata

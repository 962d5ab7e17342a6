#include "workloads/kernels/flash_attention_mma.hpp"

#include <algorithm>
#include <array>

#include "workloads/kernels/cp_async_wavefronts.hpp"
#include "workloads/kernels/flash_attention_mma_costs.hpp"
#include "workloads/kernels/flash_attention_mma_tiles.hpp"
#include "workloads/spec/instruction.hpp"

namespace strata {
namespace {

using namespace flash_mma_costs;

constexpr std::uint32_t kWarpLanes = 32;
constexpr std::uint8_t kCopyGroup = 0;    ///< async-group slot of cp.async
constexpr std::uint8_t kSyncThreads = 0;  ///< named barrier of __syncthreads
constexpr std::uint32_t kStepPcs = 16;    ///< more than a step has operations

std::uint32_t to_int(double v) { return static_cast<std::uint32_t>(v + 0.5); }

class FlashAttentionMma final : public TraceSource {
 public:
  explicit FlashAttentionMma(const FlashMmaConfig& config, KeyGap gap = {})
      : c_(config),
        gap_(gap),
        spills_(flash_mma_spills(config.shape, config.registers, config.even_mn)),
        instance_(flash_mma_instance(config.shape, config.registers, config.even_mn,
                                     config.grid == FlashGrid::kTilesSplitsHeads)),
        tiles_(config, std::uint64_t{spills_.once + spills_.per_block} * config.warps * kWarpLanes * 4),
        row_bytes_(tiles_.row_bytes) {
    build_launch();
    build_block();
  }

  [[nodiscard]] const Launch& launch() const override { return launch_; }

  [[nodiscard]] Repetition repetition() const override {
    const std::uint64_t ctas = launch_.num_ctas();
    return by_keys_ ? key_steps(ctas, tiles_.at(0).blocks, 1) : TraceSource::repetition();
  }
  [[nodiscard]] std::unique_ptr<TraceSource> without(std::uint64_t first, std::uint64_t count) const override {
    return by_keys_ ? std::make_unique<FlashAttentionMma>(c_, KeyGap(launch_.num_ctas(), first, count))
                    : TraceSource::without(first, count);
  }

  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    Tile t = tiles_.at(id.cta);
    t.blocks -= gap_.size;
    const std::uint64_t step = cursor.state[0]++;
    if (step == 0) return prologue(t, out);
    if (step <= t.blocks) return block(t, static_cast<std::uint32_t>(step), out);
    if (step == std::uint64_t{t.blocks} + 1) return epilogue(t, out);
    cursor.state[0] = step;
    return 0;
  }

 private:
  using Tile = FlashMmaTiles::Tile;

  void build_launch() {
    launch_.name = c_.name;
    launch_.family = "flash_attention_mma";
    launch_.grid = tiles_.grid();
    launch_.repeats_every = launch_.grid.x;
    by_keys_ = repeats_by_keys(c_.shape, tiles_.q_tiles(), tiles_.at(0).blocks) && tiles_.equal_splits();
    launch_.block = Dim3{c_.warps * kWarpLanes, 1, 1};
    launch_.registers_per_thread = c_.registers;
    launch_.smem_dynamic_bytes =
        c_.smem_dynamic_bytes != 0 ? c_.smem_dynamic_bytes : static_cast<std::uint32_t>(flash_mma_smem_bytes(c_));
    launch_.streams = {StreamInfo{0, static_cast<std::uint16_t>(c_.warps), "warps"}};
    launch_.named_barrier_warps[kSyncThreads] = static_cast<std::uint16_t>(c_.warps);
    describe_attention(c_.shape, tiles_.layout, true, tiles_.scratch_bytes, launch_);
    if (c_.writes_partials) launch_.work.compulsory_write_bytes = static_cast<double>(tiles_.partial_bytes);
  }

  // --- parts of operations -------------------------------------------------------------------------------------------
  void set_insts(Operation& op, std::uint32_t per_warp) const {
    op.issue_slots = per_warp;
    op.warp_insts = per_warp * c_.warps;
  }
  [[nodiscard]] Operation barrier(std::uint16_t pc) const {
    Operation op;
    op.kind = OpKind::kBarrier;
    op.pc = pc;
    set_insts(op, kBarrierSlots);
    op.completes[0] =
        Signal{TokenClass::kNamedBarrier, kSyncThreads, SignalAt::kIssue, static_cast<std::uint8_t>(c_.warps), 0};
    return op;
  }
  [[nodiscard]] Operation copy(std::uint16_t pc, std::uint32_t tile_rows) const {
    Operation op;
    op.kind = OpKind::kCpAsync;
    op.pipe = Pipe::kLsu;
    op.pc = pc;
    const std::uint32_t instructions = std::max(1U, tile_rows * row_bytes_ / (16 * kWarpLanes * c_.warps));
    op.pipe_work = instructions;
    set_insts(op, instructions + kCopyAddressSlots);
    op.smem_write_wavefronts = std::max(1U, tile_rows * row_bytes_ / 128);
    op.completes[0] = Signal{TokenClass::kAsyncGroup, kCopyGroup, SignalAt::kDataVisible, 1, 0};
    op.mem.rows = tile_rows;
    op.mem.row_bytes = row_bytes_;
    op.mem.row_pitch = row_bytes_;
    op.mem.policy = CachePolicy::kBypassL1;
    return op;
  }
  [[nodiscard]] Operation spill(std::uint16_t pc, std::uint32_t stores) const {
    Operation op;
    op.kind = OpKind::kMemory;
    op.pipe = Pipe::kLsu;
    op.pc = pc;
    op.pipe_work = stores;
    set_insts(op, stores);
    op.mem.space = MemSpace::kLocal;
    op.mem.dir = MemDir::kStore;
    op.mem.rows = stores;
    op.mem.row_bytes = c_.warps * kWarpLanes * 4;
    op.mem.row_pitch = op.mem.row_bytes;
    return op;
  }
  [[nodiscard]] Operation mma(std::uint16_t pc, std::uint32_t count, std::uint32_t ldmatrix) const {
    Operation op;
    op.kind = OpKind::kMmaSync;
    op.pipe = Pipe::kTensor;
    op.pc = pc;
    op.pipe_work = count;
    op.mma_count = count;
    op.mma_m = 16;
    op.mma_n = 8;
    op.mma_k = 16;
    op.tensor_insts = count * c_.warps;
    set_insts(op, count + ldmatrix);
    op.smem_read_wavefronts = 4 * ldmatrix * c_.warps +  // one x4 reads 512 B: four wavefronts
                              counted_fill_wavefronts(std::uint64_t{c_.block_n} * row_bytes_);
    return op;
  }
  [[nodiscard]] Operation compute(std::uint16_t pc, std::uint32_t per_warp) const {
    Operation op;
    op.kind = OpKind::kCompute;
    op.pipe = Pipe::kAlu;
    op.pc = pc;
    set_insts(op, per_warp);
    return op;
  }
  static Wait copies(std::uint32_t n) { return Wait{TokenClass::kAsyncGroup, kCopyGroup, n}; }
  static Wait synced(std::uint32_t n) { return Wait{TokenClass::kNamedBarrier, kSyncThreads, n}; }

  // --- templates -----------------------------------------------------------------------------------------------------
  void build_block() {
    const std::uint32_t d = c_.shape.head_dim;
    scores_ = c_.block_m * c_.block_n / (c_.warps * kWarpLanes);
    outputs_ = c_.block_m * d / (c_.warps * kWarpLanes);
    const std::uint32_t mmas = c_.block_m / c_.warps * c_.block_n * d / (16 * 8 * 16);
    // Warps that share rows read a part of K and V each and keep Q in registers; otherwise each reads all K and V.
    const bool share = c_.warps_share_rows;
    const std::uint32_t kv_ldmatrix = std::max(1U, c_.block_n * row_bytes_ / 512 / (share ? c_.warps : 1));
    const std::uint32_t q_ldmatrix = share ? 0 : c_.block_m / c_.warps * row_bytes_ / 512;
    const double overhead = c_.overhead_per_block > 0 ? c_.overhead_per_block : kOverheadPerBlock + instance_.per_block;
    copy_ = copy(2, c_.block_n);
    block_[0] = barrier(1);
    block_[1] = copy_;
    block_[2] = mma(3, mmas, kv_ldmatrix + q_ldmatrix);
    block_[3] = barrier(4);
    block_[4] = copy_;
    block_[4].pc = 5;
    const double total = overhead + kOverheadPerScore * scores_ + kCountedPerScore * scores_ + outputs_ + 2.0 * mmas +
                         2.0 * kv_ldmatrix + q_ldmatrix + 2.0 * copy_.pipe_work + spills_.per_block;
    const std::uint32_t others =
        block_[2].issue_slots + mmas + kv_ldmatrix + 2 * copy_.issue_slots + 2 * kBarrierSlots + spills_.per_block;
    softmax_slots_ = to_int(total) - others;
    block_[5] = compute(6, softmax_slots_);
    block_[5].pipe = Pipe::kMufu;
    block_[5].pipe_work = scores_;
    block_[2].dependent_latency = to_int(kScoreMmaChain * mmas);
    block_[6] = spill(7, spills_.per_block);
    block_[7] = mma(8, mmas, kv_ldmatrix);
    block_[7].dependent_latency = to_int(kValueMmaChain * mmas + kOtherClocks / kMmaLatency * kv_ldmatrix);
    block_[7].ends_piece = true;
    if (share) block_[7].smem_read_wavefronts += kSharedRowsStepWavefronts;
    masked_slots_ = to_int(kMaskPerScore * scores_);
    masking_steps_ = (c_.block_m + c_.block_n - 1) / c_.block_n + (c_.even_mn ? 0 : 1);
    own_code_steps_ = c_.shape.causal ? masking_steps_ : 1;
    const std::uint32_t step = to_int(total) + mmas + (c_.shape.causal ? masked_slots_ : 0);
    launch_.code_bytes = kInstructionBytes * (once_slots() + (own_code_steps_ + 1) * step);
    last_copy_slots_ = copy_.issue_slots;
  }

  [[nodiscard]] std::uint32_t once_slots() const {
    if (c_.once_per_output > 0) return to_int(c_.once_per_output * outputs_);
    return to_int(kOncePerCta + kOncePerOutput * outputs_ + instance_.once +
                  (c_.even_mn ? 0.0 : kMaskPerScore * scores_ + kRaggedPerRow * c_.block_m));
  }

  std::uint32_t prologue(const Tile& t, std::span<Operation> out) const {
    std::uint32_t n = 0;
    out[n] = compute(0, kPrologueSlots);
    out[n++].smem_write_wavefronts = (c_.block_m - t.rows) * row_bytes_ / 128;  // rows out of range are cleared
    if (t.blocks == 0) return n;
    if (spills_.once > 0) {
      out[n] = spill(0, spills_.once);
      out[n++].mem.address = t.frame;
    }
    out[n] = copy(2, c_.block_m);
    out[n].mem.address = tiles_.layout.q + t.q_row * row_bytes_;
    out[n].smem_write_wavefronts = std::max(1U, t.rows * row_bytes_ / 128);
    out[n++].mem.rows = t.rows;
    out[n++] = kv_copy(t, tiles_.layout.k, key_block(t, 1), 2);
    return n;
  }

  [[nodiscard]] Operation kv_copy(const Tile& t, std::uint64_t base, std::uint32_t kv_block, std::uint16_t pc) const {
    Operation op = copy_;
    op.pc = pc;
    op.mem.address = base + (t.kv_row + std::uint64_t{kv_block} * c_.block_n) * row_bytes_;
    op.mem.rows = std::min(c_.block_n, c_.shape.kv_len - kv_block * c_.block_n);
    return op;
  }

  /// K/V block of step i = 1..blocks: from last to first.
  [[nodiscard]] std::uint32_t key_block(const Tile& t, std::uint32_t i) const {
    return t.first_block + t.blocks + gap_.size - gap_.original(i);
  }

  /// Step i = 1..blocks. cp.async groups so far: Q and the first K, then V
  /// and the next K of every step: K of step i is group 2i, V is group 2i + 1.
  std::uint32_t block(const Tile& t, std::uint32_t i, std::span<Operation> out) const {
    const bool last = i == t.blocks;
    std::uint32_t n = 0;
    out[n] = block_[0];
    out[n++].waits[0] = copies(2 * i);
    out[n] = kv_copy(t, tiles_.layout.v, key_block(t, i), 2);
    out[n++].waits[0] = synced(2 * i - 1);
    out[n++] = block_[2];
    out[n] = block_[3];
    out[n++].waits[0] = copies(2 * i + 1);
    if (!last) out[n++] = kv_copy(t, tiles_.layout.k, key_block(t, i + 1), 5);
    out[n] = block_[5];
    out[n].waits[0] = synced(2 * i);
    std::uint32_t slots = softmax_slots_ + (last ? last_copy_slots_ : 0);  // the address code runs on the last step too
    if (c_.shape.causal && i <= masking_steps_) slots += masked_slots_;
    set_insts(out[n], slots);
    out[n++].dependent_latency = to_int(kOtherClocks / kMufuLatency * slots);
    if (spills_.per_block > 0) {
      out[n] = block_[6];
      out[n++].mem.address = t.frame + std::uint64_t{spills_.once} * c_.warps * kWarpLanes * 4;
    }
    out[n++] = block_[7];
    if (i <= own_code_steps_) {
      for (Operation& op : out.first(n)) op.pc = static_cast<std::uint16_t>(op.pc + kStepPcs * i);
    }
    return n;
  }

  std::uint32_t epilogue(const Tile& t, std::span<Operation> out) const {
    const std::uint32_t tile_bytes = c_.block_m * tiles_.o_row_bytes;
    const std::uint32_t pair_bytes = c_.writes_partials ? 8 : 4;  // two adjacent results a lane
    const std::uint32_t staging =
        tile_bytes / (kWarpLanes * pair_bytes * c_.warps) + tile_bytes / (kWarpLanes * 16 * c_.warps);
    const std::uint32_t stores = std::max(1U, tile_bytes / (kWarpLanes * 16 * c_.warps));
    const std::uint32_t before = kPrologueSlots + spills_.once + 2 * copy_.issue_slots;
    const std::uint32_t fixed = before + staging + kBarrierSlots + stores + 1;
    const std::uint32_t once = once_slots();
    std::uint32_t n = 0;
    out[n] = compute(9, once > fixed ? once - fixed : 1);
    out[n].pipe = Pipe::kFma;
    out[n].pipe_work = outputs_;
    out[n].dependent_latency =
        c_.warps_share_rows ? to_int(kSharedRowsOnceClocks / kFmaLatency * out[n].issue_slots) : kEpilogueChain;
    ++n;
    Operation shared;
    shared.kind = OpKind::kShared;
    shared.pipe = Pipe::kLsu;
    shared.pc = 10;
    shared.pipe_work = staging;
    set_insts(shared, staging);
    shared.smem_write_wavefronts = tile_bytes / 128 + kEpilogueConflicts;
    shared.smem_read_wavefronts = tile_bytes / 128;
    shared.smem_conflicts = kEpilogueConflicts;
    if (c_.warps_share_rows) {
      const std::uint32_t sums = to_int(kSharedRowsOnceWavefronts + kSharedRowsOnceWavefrontsPerOutput * outputs_);
      shared.smem_write_wavefronts += sums / 2;
      shared.smem_read_wavefronts += sums - sums / 2;
    }
    shared.completes[0] = Signal{TokenClass::kScoreboard, 0, SignalAt::kDataVisible, 1, 0};
    out[n++] = shared;
    out[n++] = barrier(11);
    Operation store;
    store.kind = OpKind::kMemory;
    store.pipe = Pipe::kLsu;
    store.pc = 12;
    store.pipe_work = stores;
    set_insts(store, stores);
    store.waits[0] = Wait{TokenClass::kScoreboard, 0, 1};
    store.waits[1] = synced(2 * t.blocks + 1);
    store.mem.dir = MemDir::kStore;
    store.mem.address = tiles_.o_base + t.o_row * tiles_.o_row_bytes;
    store.mem.rows = t.rows;
    store.mem.row_bytes = tiles_.o_row_bytes;
    store.mem.row_pitch = tiles_.o_row_bytes;
    out[n++] = store;
    store.pc = 13;
    store.pipe_work = 1;
    set_insts(store, 1);
    store.waits = {};
    store.mem.address = tiles_.lse_base + t.o_row * 4;
    store.mem.rows = 1;
    store.mem.row_bytes = t.rows * 4;
    store.mem.row_pitch = 0;
    out[n++] = store;
    return n;
  }

  FlashMmaConfig c_;
  KeyGap gap_;
  bool by_keys_ = false;  ///< repeats itself by steps over the keys
  FlashMmaSpills spills_;
  FlashMmaInstance instance_;
  FlashMmaTiles tiles_;
  std::uint32_t row_bytes_;
  Launch launch_;
  std::uint32_t scores_ = 0;   ///< of a thread and block
  std::uint32_t outputs_ = 0;  ///< output elements of a thread
  std::uint32_t softmax_slots_ = 0;
  std::uint32_t masked_slots_ = 0;
  std::uint32_t masking_steps_ = 0;
  std::uint32_t own_code_steps_ = 0;  ///< first steps, which the source unrolls into code of their own
  std::uint32_t last_copy_slots_ = 0;
  Operation copy_;
  std::array<Operation, 8> block_{};
};

}  // namespace

std::uint64_t flash_mma_smem_bytes(const FlashMmaConfig& c) {
  const std::uint64_t row_bytes = std::uint64_t{c.shape.head_dim} * (bits_of(c.shape.dtype) / 8);
  return (c.block_m + 2 * std::uint64_t{c.block_n}) * row_bytes;
}

double flash_mma_spilled_bytes(const FlashMmaConfig& c) {
  const FlashMmaSpills spills = flash_mma_spills(c.shape, c.registers, c.even_mn);
  double registers = 0;  // of a thread, over the query tiles of a head
  for (std::uint32_t row = 0; row < c.shape.q_len; row += c.block_m) {
    const std::uint32_t blocks = visible_kv_blocks(c.shape, row, c.block_m, c.block_n);
    registers += blocks > 0 ? spills.once + static_cast<double>(spills.per_block) * blocks : 0;
  }
  return registers * c.warps * kWarpLanes * 4 * c.shape.heads * c.shape.batch;
}

std::unique_ptr<TraceSource> make_flash_attention_mma(const FlashMmaConfig& config) {
  return std::make_unique<FlashAttentionMma>(config);
}

}  // namespace strata

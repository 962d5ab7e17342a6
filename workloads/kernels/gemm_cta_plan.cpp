#include <algorithm>
#include <string>
#include <utility>

#include "workloads/kernels/arithmetic.hpp"
#include "workloads/kernels/cp_async_wavefronts.hpp"
#include "workloads/kernels/gemm_cta.hpp"

namespace strata {

namespace {

constexpr std::uint32_t kEpilogueParts = 8;  ///< row groups that pass through shared memory in turn
constexpr std::uint32_t kStreamWarps = 4;
constexpr std::uint32_t kBarrierSteps = 8;      ///< dependent steps of a CTA barrier
constexpr std::uint32_t kLineBytes = 128;       ///< one shared-memory wavefront
constexpr std::uint32_t kCodeBytes = 50 << 10;  ///< executed: 38 to 52 KiB in five kernels of cuBLAS and CUTLASS
constexpr std::uint32_t kConstantLines = 6;     ///< of the parameters, executed in eight kernels of CUTLASS
constexpr std::uint32_t kAsyncLeastBytes = 4;   ///< narrowest cp.async
constexpr std::uint32_t kStagedBytes = 16;      ///< of a lane's STS

std::uint32_t u32(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

class Planner {
 public:
  Planner(const GemmCtaConfig& config, std::uint32_t registers, bool transposes_k)
      : registers_(registers), transposes_k_(transposes_k) {
    plan_.config = config;
    plan_.addresses = place_gemm(config.problem, config.partials(), config.partial_bytes);
  }

  GemmCtaPlan run() {
    plan_streams();
    plan_tiles();
    plan_groups();
    plan_loads();
    plan_staging();
    plan_sync();
    plan_slices();
    plan_epilogue();
    plan_launch();
    return std::move(plan_);
  }

 private:
  [[nodiscard]] const GemmCtaConfig& config() const { return plan_.config; }

  [[nodiscard]] bool transposed(const OperandView& view) const { return transposes_k_ && view.k_contiguous; }

  [[nodiscard]] std::uint32_t lane_bytes(const OperandView& view) const {
    const std::uint32_t widest = std::min(config().access_limit_bytes, access_bytes(view.pitch_bytes));
    const bool one_element = transposed(view) && !plan_.through_registers;
    return one_element ? std::min(widest, view.element_bytes) : widest;
  }

  [[nodiscard]] std::uint32_t tile_bytes(const OperandView& view, std::uint32_t rows) const {
    return rows * config().tile_k * view.element_bytes;
  }

  /// One stream for four warps, one on each SMSP: two warps of an SMSP then take turns, as they do on hardware.
  void plan_streams() {
    const GemmCtaConfig& c = config();
    const std::uint32_t warps = c.warps();
    const std::uint32_t streams = warps % kStreamWarps == 0 ? warps / kStreamWarps : 1;
    const auto divides = [&](bool k_contiguous, std::uint32_t rows) {
      return (k_contiguous ? rows : c.tile_k) % streams == 0;
    };
    const bool whole = divides(c.problem.a_k_contiguous, c.tile_m) && divides(c.problem.b_k_contiguous, c.tile_n);
    plan_.streams = whole ? streams : 1;
    plan_.stream_warps = warps / plan_.streams;
  }

  /// Conflict-free wavefronts of a stream's share of a CTA's bytes.
  [[nodiscard]] std::uint32_t stream_wavefronts(std::uint32_t bytes) const {
    return u32(ceil_div(bytes, std::uint64_t{kLineBytes} * plan_.streams));
  }

  void plan_tiles() {
    const GemmProblem& p = config().problem;
    auto tiles_m = u32(ceil_div(static_cast<std::uint64_t>(p.m), config().tile_m));
    auto tiles_n = u32(ceil_div(static_cast<std::uint64_t>(p.n), config().tile_n));
    const bool along_m = config().raster == RasterDirection::kAlongM;
    std::uint32_t& across = along_m ? tiles_n : tiles_m;
    const std::uint32_t group = config().raster_group;
    if (config().raster_padded) {
      across = u32(ceil_div(across, group)) * group;
    }
    plan_.order = TileOrder(tiles_m, tiles_n, config().raster, group);
    plan_.tiles = plan_.order.count();
    plan_.k_tiles = u32(ceil_div(static_cast<std::uint64_t>(p.k), config().tile_k));
    const std::uint32_t z = config().split_k * static_cast<std::uint32_t>(p.batch);
    const bool whole_groups = across % group == 0;
    plan_.launch.grid =
        whole_groups ? Dim3{(along_m ? tiles_m : tiles_n) * group, across / group, z} : Dim3{u32(plan_.tiles), 1, z};
    // One group across: the sweep never comes back to a row of tiles, so each row is like the one before.
    // Each of many problems reads operands of its own, and is like the one before.
    constexpr std::int64_t kManyProblems = 4;
    if (p.batch >= kManyProblems) {
      plan_.launch.repeats_every = plan_.launch.num_ctas() / static_cast<std::uint64_t>(p.batch);
    } else {
      plan_.launch.repeats_every = z == 1 && across <= group ? across : plan_.launch.grid.x;
    }
    const std::uint32_t narrow = std::min({config().access_limit_bytes, access_bytes(plan_.addresses.a.pitch_bytes),
                                           access_bytes(plan_.addresses.b.pitch_bytes)});
    plan_.through_registers =
        config().copy == GemmCopy::kRegisters || (config().copy == GemmCopy::kAuto && narrow < kAsyncLeastBytes);
    const bool k_rows = p.a_k_contiguous || p.b_k_contiguous;
    const std::uint32_t row_bytes = config().tile_k * plan_.addresses.a.element_bytes;
    const bool ring = !plan_.through_registers && config().stages > 2;  // two buffers have no room for a later tile
    plan_.tiles_per_load = k_rows && ring ? std::max(1U, kLineBytes / row_bytes) : 1;
    plan_.ahead = plan_.through_registers ? 1 : std::max(1U, config().stages - 1);
  }

  /// Rows of A and C are those of all groups, B has a matrix for each.
  void plan_groups() {
    if (!plan_.walks()) return;
    const std::uint64_t tiles_n = ceil_div(static_cast<std::uint64_t>(config().problem.n), config().tile_n);
    plan_.group_tiles = {0};
    for (std::size_t g = 1; g < config().group_rows.size(); ++g) {
      const std::uint32_t rows = config().group_rows[g] - config().group_rows[g - 1];
      plan_.group_tiles.push_back(plan_.group_tiles.back() + ceil_div(rows, config().tile_m) * tiles_n);
    }
    plan_.addresses.a.batch_bytes = 0;
    plan_.addresses.c_batch_bytes = 0;
    plan_.launch.grid = Dim3{config().walking_ctas, 1, 1};
  }

  /// Wavefronts of a stream's copies that turn their tile, beyond those of its bytes.
  [[nodiscard]] std::uint32_t turned_wavefronts(const OperandView& view, std::uint32_t instructions) const {
    return transposed(view) ? plan_.stream_warps * instructions * config().costs.turned_copy_tenths / 10 : 0;
  }

  void plan_load(Operation& op, const OperandView& view, std::uint32_t rows, std::uint16_t pc) const {
    const bool registers = plan_.through_registers;
    const std::uint32_t bytes = tile_bytes(view, rows);
    const std::uint32_t lane = lane_bytes(view);
    const std::uint32_t instructions = u32(ceil_div(bytes, std::uint64_t{lane} * 32 * config().warps()));
    op.pc = pc;
    op.kind = registers ? OpKind::kMemory : OpKind::kCpAsync;
    op.pipe = Pipe::kLsu;
    op.pipe_work = instructions;
    op.issue_slots = instructions;
    op.warp_insts = plan_.stream_warps * instructions;
    op.completes[0] = {registers ? TokenClass::kScoreboard : TokenClass::kAsyncGroup, 0, SignalAt::kDataVisible, 1, 0};
    op.smem_write_wavefronts = registers ? 0 : stream_wavefronts(bytes) + turned_wavefronts(view, instructions);
    op.mem.dir = MemDir::kLoad;
    op.mem.space = MemSpace::kGlobal;
    op.mem.pattern = Pattern::kBox;
    op.mem.lane_bytes = static_cast<std::uint8_t>(lane);
    op.mem.policy = !registers && lane == 16 ? CachePolicy::kBypassL1 : CachePolicy::kDefault;
    // A lane brings 16 B that lie side by side in shared memory, element after element where the matrix is not aligned
    // to more.
    if (!transposes_k_ && (registers || lane < kStagedBytes)) op.mem.lane_pitch = kStagedBytes;
  }

  void plan_loads() {
    plan_load(plan_.load_a, plan_.addresses.a, config().tile_m, 1);
    plan_load(plan_.load_b, plan_.addresses.b, config().tile_n, 2);
    for (const auto& [view, load] :
         {std::pair(&plan_.addresses.a, &plan_.load_a), std::pair(&plan_.addresses.b, &plan_.load_b)}) {
      plan_.turned_wavefronts += plan_.through_registers ? 0 : turned_wavefronts(*view, load->pipe_work);
      plan_.loads_per_tile += plan_.delivers_twice(*view) || plan_.parts_sectors(*view) ? 1 : 0;
    }
  }

  /// STS of what LDG brought: 16 B a lane, packed first where loads were narrower than a register; one element a lane
  /// where the tile is transposed.
  void plan_staging() {
    Operation& op = plan_.stage_tile;
    op.kind = OpKind::kShared;
    op.pc = 4;
    op.pipe = Pipe::kLsu;
    op.waits[0].cls = TokenClass::kScoreboard;
    op.completes[0] = {TokenClass::kScoreboard, 1, SignalAt::kDataVisible, 1, 0};
    op.issue_slots = 0;
    const auto add = [&](const OperandView& view, std::uint32_t rows) {
      const std::uint32_t bytes = tile_bytes(view, rows);
      const std::uint32_t loaded = lane_bytes(view);
      const std::uint32_t stored = transposed(view) ? view.element_bytes : config().store_bytes;
      const std::uint32_t stores = u32(ceil_div(bytes, std::uint64_t{stored} * 32 * config().warps()));
      const std::uint32_t packs = loaded < 4 ? u32(ceil_div(bytes, std::uint64_t{4} * 32 * config().warps())) : 0;
      op.pipe_work += stores;
      op.issue_slots += stores + packs;
      const std::uint32_t minimum = stream_wavefronts(bytes);
      const std::uint32_t ways = transposed(view) ? config().store_conflict_ways : 1;
      op.smem_write_wavefronts += minimum * ways;
      op.smem_conflicts += minimum * (ways - 1);
    };
    add(plan_.addresses.a, config().tile_m);
    add(plan_.addresses.b, config().tile_n);
    op.warp_insts = plan_.stream_warps * op.issue_slots;
  }

  void plan_sync() {
    Operation& op = plan_.sync;
    op.kind = OpKind::kBarrier;
    op.pc = 10;
    op.issue_slots = 1;
    op.warp_insts = plan_.stream_warps;
    op.waits[0] = plan_.tile_arrived();
    op.completes[0] = {TokenClass::kNamedBarrier, 0, SignalAt::kIssue, static_cast<std::uint8_t>(plan_.stream_warps),
                       0};
  }

  /// All slices but one write their accumulators, the others read and add them.
  void plan_slices() {
    const std::uint32_t slices = config().warp_slices;
    const std::uint32_t bytes = config().tile_m * config().tile_n * 4 * (slices - 1);
    Operation& op = plan_.add_slices;
    op.kind = OpKind::kShared;
    op.pc = 8;
    op.pipe = Pipe::kLsu;
    op.pipe_work = u32(ceil_div(std::uint64_t{2} * bytes, std::uint64_t{16} * 32 * config().warps()));
    op.issue_slots = op.pipe_work + u32(ceil_div(bytes, std::uint64_t{4} * 32 * config().warps())) + 4;
    op.warp_insts = plan_.stream_warps * op.issue_slots;
    op.smem_write_wavefronts = stream_wavefronts(bytes);
    op.smem_read_wavefronts = op.smem_write_wavefronts;
    op.dependent_latency = 2 * kBarrierSteps;
  }

  void plan_epilogue() {
    const std::uint32_t warps = config().warps();
    const GemmCtaCosts& costs = config().costs;
    plan_.rows_per_part = u32(ceil_div(ceil_div(config().tile_m, kEpilogueParts), plan_.streams)) * plan_.streams;
    const std::uint32_t elements = plan_.rows_per_part * config().tile_n;
    const std::uint32_t staged_bytes = elements * config().staged_bytes;
    const std::uint32_t c_bytes = plan_.addresses.c_element_bytes;
    const std::uint32_t elements_per_access =
        std::max(1U, config().access_limit_bytes / plan_.addresses.a.element_bytes);
    const std::uint32_t lane =
        std::min({access_bytes(plan_.addresses.c_pitch_bytes), elements_per_access * c_bytes, 16U});
    const std::uint32_t stores = u32(ceil_div(std::uint64_t{elements} * c_bytes, std::uint64_t{lane} * 32 * warps));
    const std::uint32_t all = u32(ceil_div(std::uint64_t{elements} * costs.per_element_tenths, 10ULL * 32 * warps));
    const std::uint32_t minimum = stream_wavefronts(staged_bytes);
    const std::uint32_t wavefronts = minimum * costs.epilogue_conflict_ways;

    Operation& write = plan_.write_c;
    write.kind = OpKind::kShared;
    write.pc = 5;
    write.pipe = Pipe::kAlu;  // conversions, addresses and predicates outnumber the accesses
    const std::uint32_t pair_bytes = std::max(1U, 2 * config().staged_bytes);  // two results a lane
    const std::uint32_t writes = u32(ceil_div(staged_bytes, std::uint64_t{pair_bytes} * 32 * warps));
    write.issue_slots = writes + 4;
    write.pipe_work = 4;
    write.warp_insts = plan_.stream_warps * write.issue_slots;
    write.smem_write_wavefronts = wavefronts;
    write.smem_conflicts = wavefronts - minimum;
    write.dependent_latency = kBarrierSteps + once_chain(write.issue_slots);
    write.completes[0] = {TokenClass::kScoreboard, 2, SignalAt::kDataVisible, 1, 0};

    Operation& read = plan_.read_c = write;
    read.pc = 6;
    read.waits[0].cls = TokenClass::kScoreboard;
    read.waits[0].slot = 2;
    read.completes[0].slot = 3;
    const std::uint32_t reads = u32(ceil_div(staged_bytes, std::uint64_t{16} * 32 * warps));
    const std::uint32_t others = write.issue_slots + stores;
    read.issue_slots = std::max(reads + 4, all > others ? all - others : 0U);
    read.pipe_work = read.issue_slots - reads;
    read.dependent_latency = kBarrierSteps + once_chain(read.issue_slots);
    read.warp_insts = plan_.stream_warps * read.issue_slots;
    read.smem_read_wavefronts = wavefronts;
    read.smem_write_wavefronts = 0;

    Operation& store = plan_.store_c;
    store.kind = OpKind::kMemory;
    store.pc = 7;
    store.pipe = Pipe::kLsu;
    const std::uint32_t stores_of_pass = u32(ceil_div(std::uint64_t{10} * stores, config().store_pass_tenths));
    store.pipe_work = stores_of_pass;
    store.issue_slots = stores_of_pass;
    store.warp_insts = plan_.stream_warps * stores_of_pass;
    store.waits[0].cls = TokenClass::kScoreboard;
    store.waits[0].slot = 3;
    store.waits[1].cls = TokenClass::kScoreboard;
    store.waits[1].slot = 4;
    store.mem.dir = MemDir::kStore;
    store.mem.space = MemSpace::kGlobal;
    store.mem.pattern = Pattern::kBox;
    store.mem.lane_bytes = static_cast<std::uint8_t>(lane);
    store.mem.row_pitch = plan_.addresses.c_pitch_bytes;
    // Rows that begin within a sector: neighbouring instructions both touch the sector between them.
    constexpr std::uint32_t kSectorBytes = 32;
    const std::uint32_t patch = config().store_patch_bytes;
    const std::uint32_t piece = patch > 0 ? patch : lane * 32;
    const bool ragged = (config().stores_pieces || patch > 0) && plan_.addresses.c_pitch_bytes % kSectorBytes != 0;
    if (ragged && piece < config().tile_n * c_bytes) plan_.store_piece_bytes = piece;

    Operation& load = plan_.load_c = store;
    load.pc = 9;
    load.waits = {};
    load.completes[0] = {TokenClass::kScoreboard, 4, SignalAt::kDataVisible, 1, 0};
    load.mem.dir = MemDir::kLoad;
  }

  void plan_launch() {
    const std::uint32_t warps = config().warps();
    Launch& launch = plan_.launch;
    launch.name = config().name;
    launch.block = {32 * warps, 1, 1};
    launch.registers_per_thread = registers_;
    launch.smem_dynamic_bytes = u32(gemm_cta_smem_bytes(config()));
    for (std::uint32_t i = 0; i < plan_.streams; ++i) {
      launch.streams.push_back({static_cast<std::uint16_t>(i * plan_.stream_warps),
                                static_cast<std::uint16_t>(plan_.stream_warps),
                                plan_.streams > 1 ? "warps " + std::to_string(i) : "warps"});
    }
    launch.named_barrier_warps[0] = static_cast<std::uint16_t>(warps);
    launch.buffers = plan_.addresses.buffers;
    GemmProblem whole = config().problem;
    if (plan_.walks()) whole.batch = 1;
    launch.work = gemm_work(whole, config().partials());
    const auto more = static_cast<double>(config().problem.batch - whole.batch);
    launch.work.compulsory_read_bytes += more * static_cast<double>(plan_.addresses.b.batch_bytes);
    launch.code_bytes = config().code_bytes != 0 ? config().code_bytes : kCodeBytes;
    launch.constant_lines = kConstantLines;
  }

  GemmCtaPlan plan_;
  std::uint32_t registers_;
  bool transposes_k_;
};

}  // namespace

std::uint32_t access_bytes(std::int64_t pitch_bytes) {
  for (const std::uint32_t bytes : {16U, 8U, 4U, 2U}) {
    if (pitch_bytes % bytes == 0) {
      return bytes;
    }
  }
  return 1;
}

std::uint64_t gemm_cta_smem_bytes(const GemmCtaConfig& c) {
  if (c.smem_dynamic_bytes != 0) {
    return c.smem_dynamic_bytes;
  }
  const std::uint64_t ring =
      std::uint64_t{c.stages} * (c.tile_m + c.tile_n) * c.tile_k * std::max(8U, bits_of(c.problem.input)) / 8;
  const std::uint64_t staging = ceil_div(c.tile_m, kEpilogueParts) * c.tile_n * 4;
  return std::max(ring, staging);
}

Wait GemmCtaPlan::tile_arrived() const {
  return through_registers ? Wait{TokenClass::kScoreboard, 1, 0} : Wait{TokenClass::kAsyncGroup, 0, 0};
}

std::uint32_t GemmCtaPlan::overhead_per_k_tile(std::uint32_t k_steps) const {
  const std::uint32_t loads = load_a.pipe_work + load_b.pipe_work;
  return config.costs.per_k_tile + config.costs.per_k_step * k_steps + (config.costs.per_load_tenths * loads + 5) / 10 +
         (through_registers ? 0 : config.costs.void_reads);
}

std::uint32_t GemmCtaPlan::fill_wavefronts() const {
  const std::uint64_t bytes = std::uint64_t{config.tile_m + config.tile_n} * config.tile_k * addresses.a.element_bytes;
  // Narrow copies' wavefronts are counted where they happen.
  const bool narrow = load_a.mem.lane_pitch > load_a.mem.lane_bytes;
  const std::uint32_t void_reads = config.costs.void_reads * stream_warps;
  const std::uint32_t fills = narrow || void_reads > 0 ? 0 : counted_fill_wavefronts(bytes / streams);
  return through_registers ? 0 : fills + void_reads + turned_wavefronts;
}

bool GemmCtaPlan::delivers_twice(const OperandView& view) const {
  constexpr std::uint32_t kWideCopy = 16;
  const std::uint32_t widest = std::min(config.access_limit_bytes, access_bytes(view.pitch_bytes));
  return config.odd_rows_twice && !through_registers && !view.k_contiguous && widest == kWideCopy;
}

bool GemmCtaPlan::parts_sectors(const OperandView& view) const {
  constexpr std::uint32_t kWideCopy = 16, kSectorBytes = 32;
  const bool wide = std::min(config.access_limit_bytes, access_bytes(view.pitch_bytes)) == kWideCopy;
  return config.exchanged_pieces && !through_registers && wide && view.pitch_bytes % kSectorBytes == kWideCopy;
}

void lead_with(std::uint32_t instructions, GemmCtaPlan& plan) {
  if (!plan.config.copies_first) {
    return;
  }
  // Where copies are narrow, few of the counted instructions are left beside them.
  const std::uint32_t most = plan.multiply.issue_slots - std::min(plan.multiply.issue_slots, plan.multiply.pipe_work);
  plan.lead = compute_operation(integer_code(std::min(instructions, most)), plan.stream_warps);
  plan.lead.pc = 12;
  plan.multiply.issue_slots -= plan.lead.issue_slots;
  plan.multiply.warp_insts -= plan.lead.warp_insts;
}

void load_amid(GemmCtaPlan& plan) {
  if (!plan.config.loads_amid || !plan.through_registers) {
    return;
  }
  Operation& first = plan.multiply_first = plan.multiply;
  Operation& rest = plan.multiply;
  first.pc = 13;
  for (std::uint32_t Operation::*count : {&Operation::issue_slots, &Operation::pipe_work, &Operation::dependent_latency,
                                          &Operation::warp_insts, &Operation::tensor_insts, &Operation::mma_count,
                                          &Operation::smem_read_wavefronts, &Operation::smem_conflicts}) {
    first.*count = u32(std::uint64_t{first.*count} * plan.config.amid_percent / 100);
    rest.*count -= first.*count;
  }
}

GemmCtaPlan plan_gemm_cta(const GemmCtaConfig& config, std::uint32_t registers, bool transposes_k) {
  return Planner(config, registers, transposes_k).run();
}

}  // namespace strata

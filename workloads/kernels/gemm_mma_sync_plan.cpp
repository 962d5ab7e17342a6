#include "workloads/kernels/gemm_mma_sync_plan.hpp"

#include <algorithm>

namespace strata {

namespace {

std::uint32_t u32(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

}  // namespace

std::uint32_t mma_sync_k(DataType type) { return type == DataType::kTf32 ? 8 : 256 / bits_of(type); }

std::uint32_t access_bytes(std::int64_t pitch_bytes) {
  for (const std::uint32_t bytes : {16U, 8U, 4U, 2U}) {
    if (pitch_bytes % bytes == 0) {
      return bytes;
    }
  }
  return 1;
}

GemmMmaSyncPlan::GemmMmaSyncPlan(const GemmMmaSyncConfig& given, const TargetFacts& /*target*/) : config(given) {
  const GemmProblem& p = config.problem;
  addresses = place_gemm(p, config.split_k);
  order = TileOrder(u32(ceil_div(static_cast<std::uint64_t>(p.m), config.tile_m)),
                    u32(ceil_div(static_cast<std::uint64_t>(p.n), config.tile_n)), config.raster, config.raster_group);
  tiles = order.count();
  k_tiles = u32(ceil_div(static_cast<std::uint64_t>(p.k), config.tile_k));
  through_registers = std::min(access_bytes(addresses.a.pitch_bytes), access_bytes(addresses.b.pitch_bytes)) < 4;
  ahead = through_registers ? 1 : config.stages - 1;
  plan_loads();
  plan_mma();
  plan_epilogue();
  plan_launch();
}

void GemmMmaSyncPlan::plan_loads() {
  const std::uint32_t warps = config.warps();
  const auto plan = [&](Operation& op, const OperandView& view, std::uint32_t rows, std::uint16_t pc) {
    const std::uint32_t bytes = rows * config.tile_k * view.element_bytes;
    const std::uint32_t lane_bytes = access_bytes(view.pitch_bytes);
    const std::uint32_t instructions = u32(ceil_div(bytes, std::uint64_t{lane_bytes} * 32 * warps));
    op.pc = pc;
    op.kind = through_registers ? OpKind::kMemory : OpKind::kCpAsync;
    op.pipe = Pipe::kLsu;
    op.pipe_work = instructions;
    op.issue_slots = instructions;
    op.warp_insts = warps * instructions;
    op.completes[0] = {through_registers ? TokenClass::kScoreboard : TokenClass::kAsyncGroup, 0, SignalAt::kDataVisible,
                       1, 0};
    op.smem_write_wavefronts = through_registers ? 0 : u32(ceil_div(bytes, 128));
    op.mem.dir = MemDir::kLoad;
    op.mem.space = MemSpace::kGlobal;
    op.mem.pattern = Pattern::kBox;
    op.mem.lane_bytes = static_cast<std::uint8_t>(lane_bytes);
    op.mem.policy = !through_registers && lane_bytes == 16 ? CachePolicy::kBypassL1 : CachePolicy::kDefault;
  };
  plan(load_a, addresses.a, config.tile_m, 1);
  plan(load_b, addresses.b, config.tile_n, 2);

  const std::uint32_t stage_bytes = (config.tile_m + config.tile_n) * config.tile_k * addresses.a.element_bytes;
  stage_tile.kind = OpKind::kShared;
  stage_tile.pc = 4;
  stage_tile.pipe = Pipe::kLsu;
  stage_tile.waits[0].cls = TokenClass::kScoreboard;
  stage_tile.completes[0] = {TokenClass::kScoreboard, 1, SignalAt::kDataVisible, 1, 0};
  // Loaded pieces are packed to 16 B per lane before they are stored.
  stage_tile.pipe_work = u32(ceil_div(stage_bytes, std::uint64_t{16} * 32 * warps));
  stage_tile.issue_slots = 3 * stage_tile.pipe_work;
  stage_tile.warp_insts = warps * stage_tile.issue_slots;
  stage_tile.smem_write_wavefronts = u32(ceil_div(stage_bytes, 128));
}

void GemmMmaSyncPlan::plan_mma() {
  const GemmProblem& p = config.problem;
  const std::uint32_t warps = config.warps();
  const std::uint32_t k = mma_sync_k(p.input);
  const std::uint32_t mmas = config.warp_m / 16 * (config.warp_n / 8) * (config.tile_k / k);
  const std::uint32_t fragment_bytes = (config.warp_m + config.warp_n) * config.tile_k * addresses.a.element_bytes;
  // ldmatrix.x4 brings 512 B a warp; it transposes 16-bit elements only, others are read 4 B a lane.
  const bool transposed = !p.a_k_contiguous || !p.b_k_contiguous;
  const std::uint32_t bytes_per_read = transposed && bits_of(p.input) != 16 ? 128 : 512;
  const std::uint32_t reads = u32(ceil_div(fragment_bytes, bytes_per_read));
  const std::uint32_t minimum = warps * u32(ceil_div(fragment_bytes, 128));
  // Eight rows of 16 B per ldmatrix phase: without a swizzle, rows `tile_k` apart meet in the same banks.
  const std::uint32_t row_bytes = config.tile_k * addresses.a.element_bytes;
  const std::uint32_t distinct = std::max(1U, 128 / std::max(row_bytes, 16U));
  const std::uint32_t ways = config.swizzle ? 1 : std::max(1U, 8 / distinct);

  mma.kind = OpKind::kMmaSync;
  mma.pc = 3;
  mma.pipe = Pipe::kTensor;
  mma.pipe_work = mmas;
  mma.waits[0].cls = through_registers ? TokenClass::kScoreboard : TokenClass::kAsyncGroup;
  mma.waits[0].slot = through_registers ? 1 : 0;
  // The loads' address arithmetic is interleaved with the multiply-adds.
  mma.issue_slots =
      mmas + reads + GemmMmaSyncCosts::kPerKTile + GemmMmaSyncCosts::kPerLoad * (load_a.pipe_work + load_b.pipe_work);
  mma.warp_insts = warps * mma.issue_slots;
  mma.tensor_insts = warps * mmas;
  // Barrier and first ldmatrix take about two multiply-add latencies; then accumulators chain along K.
  mma.dependent_latency = 2 + config.tile_k / k;
  mma.mma_m = 16;
  mma.mma_n = 8;
  mma.mma_k = static_cast<std::uint16_t>(k);
  mma.mma_bits = static_cast<std::uint8_t>(p.input == DataType::kTf32 ? 19 : bits_of(p.input));
  mma.mma_count = mmas;
  mma.smem_read_wavefronts = minimum * ways;
  mma.smem_conflicts = minimum * (ways - 1);
}

void GemmMmaSyncPlan::plan_epilogue() {
  const std::uint32_t warps = config.warps();
  rows_per_part = u32(ceil_div(config.tile_m, GemmMmaSyncCosts::kEpilogueParts));
  const std::uint32_t elements = rows_per_part * config.tile_n;
  const std::uint32_t staged_bytes = elements * 4;  // fp32 accumulators
  const std::uint32_t lane_bytes = std::min(access_bytes(addresses.c_pitch_bytes), 16U);
  const std::uint32_t stores =
      u32(ceil_div(std::uint64_t{elements} * addresses.c_element_bytes, std::uint64_t{lane_bytes} * 32 * warps));

  write_c.kind = OpKind::kShared;
  write_c.pc = 5;
  write_c.pipe = Pipe::kLsu;
  write_c.pipe_work = u32(ceil_div(staged_bytes, std::uint64_t{8} * 32 * warps));  // two adjacent accumulators a lane
  write_c.issue_slots = write_c.pipe_work + 4;
  write_c.warp_insts = warps * write_c.issue_slots;
  write_c.smem_write_wavefronts = u32(ceil_div(staged_bytes, 128));
  write_c.dependent_latency = GemmMmaSyncCosts::kBarrierSteps;
  write_c.completes[0] = {TokenClass::kScoreboard, 2, SignalAt::kDataVisible, 1, 0};

  read_c = write_c;
  read_c.pc = 6;
  read_c.waits[0].cls = TokenClass::kScoreboard;
  read_c.waits[0].slot = 2;
  read_c.completes[0].slot = 3;
  read_c.pipe_work = u32(ceil_div(staged_bytes, std::uint64_t{16} * 32 * warps));
  read_c.issue_slots = read_c.pipe_work + 4 + GemmMmaSyncCosts::kPerStore * stores;
  read_c.warp_insts = warps * read_c.issue_slots;
  read_c.smem_read_wavefronts = write_c.smem_write_wavefronts;
  read_c.smem_write_wavefronts = 0;

  store_c.kind = OpKind::kMemory;
  store_c.pc = 7;
  store_c.pipe = Pipe::kLsu;
  store_c.pipe_work = stores;
  store_c.issue_slots = stores;
  store_c.warp_insts = warps * stores;
  store_c.waits[0].cls = TokenClass::kScoreboard;
  store_c.waits[0].slot = 3;
  store_c.mem.dir = MemDir::kStore;
  store_c.mem.space = MemSpace::kGlobal;
  store_c.mem.pattern = Pattern::kBox;
  store_c.mem.lane_bytes = static_cast<std::uint8_t>(lane_bytes);
  store_c.mem.row_pitch = addresses.c_pitch_bytes;
}

void GemmMmaSyncPlan::plan_launch() {
  const std::uint32_t warps = config.warps();
  launch.name = config.name.empty() ? "gemm_mma_sync" : config.name;
  launch.family = "gemm_mma_sync";
  launch.grid = {u32(tiles), 1, config.split_k};
  launch.block = {32 * warps, 1, 1};
  launch.registers_per_thread = gemm_mma_sync_registers(config);
  launch.smem_dynamic_bytes = u32(gemm_mma_sync_smem_bytes(config));
  launch.streams = {{0, static_cast<std::uint16_t>(warps), "warps"}};
  launch.buffers = addresses.buffers;
  launch.work = gemm_work(config.problem, config.split_k);
  launch.code_bytes = 12288;
}

}  // namespace strata

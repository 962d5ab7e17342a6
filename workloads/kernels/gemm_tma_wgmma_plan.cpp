#include "workloads/kernels/gemm_tma_wgmma_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "workloads/kernels/cluster_places.hpp"

namespace strata {

namespace {

std::uint32_t wgmma_k(DataType type) { return 256 / (type == DataType::kTf32 ? 32 : bits_of(type)); }

/// The share of CTA `i` of `sharers`. An operand that is contiguous along M or N is cut along K where its rows would
/// not be whole lines.
GemmTmaPlan::Share share_of(const OperandView& operand, std::uint32_t tile, std::uint32_t tile_k, std::uint32_t i,
                            std::uint32_t sharers) {
  constexpr std::uint32_t kLineBytes = 128;
  const auto cut = [&](std::uint32_t whole, std::uint32_t& first, std::uint32_t& size) {
    first = whole * i / sharers;
    size = whole * (i + 1) / sharers - first;
  };
  GemmTmaPlan::Share share{0, tile, 0, tile_k};
  if (operand.k_contiguous || tile * operand.element_bytes % (kLineBytes * sharers) == 0) {
    cut(tile, share.first, share.rows);
  } else {
    cut(tile_k, share.first_k, share.depth);
  }
  return share;
}

}  // namespace

WgmmaShape gemm_tma_wgmma_shape(const GemmTmaConfig& config) {
  WgmmaShape shape;
  shape.rows = config.wgmma_m_along_n ? config.tile_n : config.tile_m;
  shape.cols = config.wgmma_m_along_n ? config.tile_m : config.tile_n;
  if (config.consumers == ConsumerMode::kCooperativeM) {
    shape.rows /= 2;
  } else if (config.consumers == ConsumerMode::kCooperativeN) {
    shape.cols /= 2;
  }
  const auto blocks = static_cast<std::uint32_t>(ceil_div(shape.cols, 256));
  shape.n = blocks == 0 ? 0 : shape.cols / blocks;
  shape.k = wgmma_k(config.problem.input);
  shape.count = shape.rows / 64 * blocks * (config.tile_k / shape.k);
  return shape;
}

GemmTmaPlan::GemmTmaPlan(const GemmTmaConfig& given, const TargetFacts& target) : config(given) {
  const GemmProblem& p = config.problem;
  cooperative = config.consumers != ConsumerMode::kPingPong;
  addresses = place_gemm(p, config.split_k);
  cluster_rows = config.tile_m * config.cluster_m;
  cluster_cols = config.tile_n * config.cluster_n;
  const auto tiles_m = static_cast<std::uint32_t>(ceil_div(static_cast<std::uint64_t>(p.m), cluster_rows));
  const auto tiles_n = static_cast<std::uint32_t>(ceil_div(static_cast<std::uint64_t>(p.n), cluster_cols));
  order = TileOrder(tiles_m, tiles_n, config.raster, config.raster_group, config.serpentine);
  tiles = order.count();
  units = tiles * config.split_k * static_cast<std::uint64_t>(p.batch);
  k_tiles = static_cast<std::uint32_t>(ceil_div(static_cast<std::uint64_t>(p.k), config.tile_k));
  a_step = addresses.a.k_step_bytes(config.tile_k);
  b_step = addresses.b.k_step_bytes(config.tile_k);
  const std::uint64_t resident = std::max(1U, resident_clusters(target, config.cluster_size()));
  clusters = config.num_clusters != 0 ? config.num_clusters : static_cast<std::uint32_t>(std::min(resident, units));
  if (config.tiles_by_gpc) {
    first_units = clusters_by_gpc(target, config.cluster_size(), clusters);
  } else {
    first_units.resize(clusters);
    std::iota(first_units.begin(), first_units.end(), 0);
  }
  plan_ranks();
  plan_store_boxes();
  plan_templates();
  plan_launch(target);
}

void GemmTmaPlan::plan_ranks() {
  const std::uint32_t cn = config.cluster_n;
  const std::uint32_t cm = config.cluster_m;
  for (std::uint32_t j = 0; j < cm; ++j) {
    for (std::uint32_t i = 0; i < cn; ++i) {
      Rank& rank = ranks[j * cn + i];
      rank.row_offset = j * config.tile_m;
      rank.col_offset = i * config.tile_n;
      rank.a = share_of(addresses.a, config.tile_m, config.tile_k, 0, 1);
      rank.b = share_of(addresses.b, config.tile_n, config.tile_k, 0, 1);
      if (!config.multicast || cn * cm == 1) {
        continue;
      }
      // CTAs with the same j share A's rows, those with the same i share B's: each loads an equal share.
      for (std::uint32_t peer = 0; peer < cn; ++peer) {
        rank.a_mask = static_cast<std::uint16_t>(rank.a_mask | (1U << (j * cn + peer)));
      }
      for (std::uint32_t peer = 0; peer < cm; ++peer) {
        rank.b_mask = static_cast<std::uint16_t>(rank.b_mask | (1U << (peer * cn + i)));
      }
      rank.empty_mask = static_cast<std::uint16_t>(rank.a_mask | rank.b_mask);
      // What nobody shares is loaded without multicast.
      rank.a_mask = cn > 1 ? rank.a_mask : std::uint16_t{0};
      rank.b_mask = cm > 1 ? rank.b_mask : std::uint16_t{0};
      rank.a = share_of(addresses.a, config.tile_m, config.tile_k, i, cn);
      rank.b = share_of(addresses.b, config.tile_n, config.tile_k, j, cm);
    }
  }
}

void GemmTmaPlan::plan_store_boxes() {
  const WgmmaShape shape = gemm_tma_wgmma_shape(config);
  const std::uint32_t bytes = addresses.c_element_bytes;
  const std::uint32_t wide = GemmTmaCosts::kStoreBoxBytesWide / bytes;
  const bool along_n = config.wgmma_m_along_n;
  const std::uint32_t my_rows = along_n ? shape.cols : shape.rows;
  const std::uint32_t my_cols = along_n ? shape.rows : shape.cols;
  for (std::uint32_t consumer = 0; consumer < 2; ++consumer) {
    const bool split_rows = (config.consumers == ConsumerMode::kCooperativeM) != along_n;
    const std::uint32_t row0 = cooperative && split_rows ? consumer * my_rows : 0;
    const std::uint32_t col0 = cooperative && !split_rows ? consumer * my_cols : 0;
    for (std::uint32_t row = 0; row < my_rows; row += 64) {
      for (std::uint32_t col = 0; col < my_cols; col += wide) {
        StoreBox box{row0 + row, col0 + col, std::min(64U, my_rows - row), std::min(wide, my_cols - col), 0, 0};
        const std::uint32_t elements = box.rows * box.cols;
        box.issue_slots =
            static_cast<std::uint32_t>(ceil_div(elements / 128 * config.costs.per_element_hundredths, 100));
        box.write_wavefronts = static_cast<std::uint32_t>(ceil_div(std::uint64_t{elements} * bytes, 128)) *
                               config.costs.epilogue_conflict_ways;
        store_boxes[consumer].push_back(box);
      }
    }
  }
}

void GemmTmaPlan::plan_templates() {
  const WgmmaShape shape = gemm_tma_wgmma_shape(config);
  const DataType input = config.problem.input;

  load_a.kind = OpKind::kTma;
  load_a.issue_slots = config.costs.producer_issue_slots / 2;
  load_a.warp_insts = config.costs.producer_per_k_tile / 2;
  load_a.completes[0] = {TokenClass::kMbarrier, 0, SignalAt::kDataVisible, 1, 0};
  load_a.mem.dir = MemDir::kLoad;
  load_a.mem.space = MemSpace::kGlobal;
  load_a.mem.pattern = Pattern::kBox;
  load_b = load_a;
  load_a.dependent_latency = config.costs.producer_turn_steps;
  load_a.pc = 1;
  load_a.waits[0].cls = TokenClass::kMbarrier;
  load_a.smem_read_wavefronts = config.costs.producer_barrier_wavefronts;
  load_b.pc = 2;
  load_b.warp_insts = config.costs.producer_per_k_tile - load_a.warp_insts;

  mma.kind = OpKind::kWgmma;
  mma.pipe = Pipe::kTensor;
  mma.pc = 3;
  mma.waits[0].cls = TokenClass::kMbarrier;
  mma.waits[1] = {TokenClass::kAsyncGroup, 1, 0};
  mma.completes[0] = {TokenClass::kAsyncGroup, 1, SignalAt::kDataVisible, 1, 0};
  mma.completes[1] = {TokenClass::kMbarrier, 0, SignalAt::kDataVisible, 1, 0};
  mma.issue_slots = config.costs.consumer_per_k_tile + shape.count * config.costs.per_wgmma_tenths / 10;
  mma.warp_insts = 4 * mma.issue_slots;
  mma.tensor_insts = 4 * shape.count;
  mma.pipe_work = shape.count;
  mma.mma_m = 64;
  mma.mma_n = static_cast<std::uint16_t>(shape.n);
  mma.mma_k = static_cast<std::uint16_t>(shape.k);
  mma.mma_bits = static_cast<std::uint8_t>(input == DataType::kTf32 ? 19 : bits_of(input));
  mma.mma_float8_promote = input == DataType::kFp8 && config.promote_fp8;
  mma.mma_count = shape.count;
  mma.smem_read_wavefronts =
      cooperative ? config.costs.cooperative_barrier_wavefronts : config.costs.ping_pong_barrier_wavefronts;

  const std::uint32_t accumulators = gemm_tma_accumulator_registers(config);
  promote.kind = OpKind::kCompute;
  promote.pipe = Pipe::kFma;
  promote.pc = 4;
  promote.waits[0] = {TokenClass::kAsyncGroup, 1, 0};
  promote.issue_slots = accumulators;
  promote.pipe_work = accumulators;
  promote.warp_insts = 4 * accumulators;

  read_c.kind = OpKind::kMemory;
  read_c.pc = 7;
  read_c.pipe = Pipe::kLsu;
  read_c.issue_slots = read_c.pipe_work = 4;  // a word of a thread each: two make a sector, rows lie eight apart
  read_c.warp_insts = 4 * read_c.issue_slots;
  read_c.completes[0] = {TokenClass::kScoreboard, 1, SignalAt::kDataVisible, 1, 0};
  read_c.mem.row_pitch = addresses.c_pitch_bytes;

  stage_c.kind = OpKind::kShared;
  stage_c.pc = 5;
  stage_c.pipe = Pipe::kAlu;
  stage_c.dependent_latency = 6;
  stage_c.smem_read_wavefronts = config.costs.box_wavefronts;
  stage_c.waits[0] = {TokenClass::kAsyncGroup, 1, 0};
  stage_c.waits[1] = {TokenClass::kAsyncGroup, 2, 0};
  stage_c.completes[0] = {TokenClass::kScoreboard, 0, SignalAt::kDataVisible, 1, 0};
  store_c.kind = OpKind::kTma;
  store_c.pc = 6;
  store_c.waits[0] = {TokenClass::kScoreboard, 0, 0};
  store_c.completes[0] = {TokenClass::kAsyncGroup, 2, SignalAt::kOperandsRead, 1, 0};
  store_c.issue_slots = 3;
  store_c.warp_insts = 6;
  store_c.mem = load_a.mem;
  store_c.mem.dir = MemDir::kStore;
  store_c.mem.row_pitch = addresses.c_pitch_bytes;
}

void GemmTmaPlan::plan_launch(const TargetFacts& /*target*/) {
  const std::uint32_t size = config.cluster_size();
  launch.name = config.name.empty() ? "gemm_tma_wgmma" : config.name;
  launch.family = "gemm_tma_wgmma";
  launch.grid = {size, clusters, 1};
  launch.block = {384, 1, 1};
  launch.cluster = {size, 1, 1};
  launch.registers_per_thread = config.registers_per_thread;
  launch.smem_dynamic_bytes = static_cast<std::uint32_t>(gemm_tma_smem_bytes(config));
  launch.streams = {{0, 1, "producer"}, {4, 4, "consumer 0"}, {8, 4, "consumer 1"}};
  const std::uint32_t loads = config.multicast ? config.cluster_n + config.cluster_m : 2;
  const std::uint32_t sharers = config.multicast ? config.cluster_n + config.cluster_m - 1 : 1;
  for (std::uint32_t s = 0; s < config.stages; ++s) {
    launch.mbarrier_arrivals[full(s)] = static_cast<std::uint16_t>(loads);
    launch.mbarrier_arrivals[empty(s)] = static_cast<std::uint16_t>(sharers * (cooperative ? 2 : 1));
  }
  launch.mbarrier_arrivals[turn(0)] = 1;
  launch.mbarrier_arrivals[turn(1)] = 1;
  launch.cluster_barrier_arrivals = static_cast<std::uint16_t>(size > 1 ? 3 * size : 0);
  launch.buffers = addresses.buffers;
  launch.work = gemm_work(config.problem, config.split_k);
  launch.num_descriptors = 3;
  launch.code_bytes = 16384;
  launch.constant_lines = 4;  // executed: 4 and 5 in nvjet; cuBLAS's older kernels wait for 5
}

}  // namespace strata

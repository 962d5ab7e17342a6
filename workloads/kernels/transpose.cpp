#include "workloads/kernels/transpose.hpp"

#include <utility>

#include "sim/base/error.hpp"
#include "workloads/kernels/block_reduce.hpp"
#include "workloads/kernels/cta_program.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kSide = 32;
constexpr std::uint32_t kWarps = 8;
constexpr std::uint32_t kBits = 32;
constexpr std::uint32_t kRowsOfWarp = kSide / kWarps;
/// Sectors hold eight words: eight stores of a column each touch all sectors of a tile that is stored word by word.
constexpr std::uint32_t kWordsOfSector = 8;

/// Warp instructions of a whole tile beside its accesses; compiled code (CUDA 13.0, sm_90a) and the calibration
/// launches: 115 in all for naive, 262 for swizzled.
double instructions(TransposeWay way) {
  switch (way) {
    case TransposeWay::kCopy:
      return 113;
    case TransposeWay::kNaive:
      return 107;
    case TransposeWay::kSwizzled:
      return 246;
    case TransposeWay::kTile:
    case TransposeWay::kPadded:
      break;
  }
  return 220;
}

CtaTile tile_of(std::uint64_t rows, std::uint64_t cols, CtaAxis row_axis, CtaAxis col_axis) {
  CtaTile t;
  t.rows = kSide;
  t.rows_total = rows;
  t.row_axis = row_axis;
  t.cols = kSide;
  t.cols_total = cols;
  t.col_axis = col_axis;
  t.warp_cols = kSide;
  return t;
}

CtaStep turn(TransposeWay way) {
  const bool shared = way != TransposeWay::kCopy && way != TransposeWay::kNaive;
  const double rest = instructions(way) / 2;
  Arithmetic work{.fma = rest * 0.4, .alu = rest * 0.6};
  if (shared) {
    work.other = 2 * kRowsOfWarp;
    work.chain = barrier_steps(kWarps) + 2 * kSharedSteps;
  }
  CtaStep step = compute_step(work, kWarps);
  if (shared) {
    step.op.smem_write_wavefronts = kSide;
    step.op.smem_read_wavefronts = way == TransposeWay::kTile ? kSide * kSide : kSide;
    step.op.smem_conflicts = step.op.smem_read_wavefronts - kSide;
    step.op.pipe = Pipe::kLsu;  // one data path for tiles and for global accesses
    step.op.pipe_work = (step.op.smem_read_wavefronts + step.op.smem_write_wavefronts) / kWarps;
  }
  return step;
}

CtaProgram program_of(const TransposeConfig& c) {
  CtaProgram p;
  Launch& l = p.launch;
  l.name = c.name;
  l.family = "transpose";
  l.repeats_every = 1;
  l.grid = Dim3{static_cast<std::uint32_t>((c.cols + kSide - 1) / kSide),
                static_cast<std::uint32_t>((c.rows + kSide - 1) / kSide), 1};
  l.block = Dim3{kSide, kWarps, 1};
  l.registers_per_thread = c.registers;
  l.smem_static_bytes =
      c.way == TransposeWay::kCopy || c.way == TransposeWay::kNaive ? 0 : kSide * (kSide + 1) * kBits / 8;
  const std::uint64_t bytes = c.rows * c.cols * kBits / 8;
  const std::uint64_t x = add_buffer(l, "input", bytes);
  const std::uint64_t y = add_buffer(l, "output", bytes);
  l.work.compulsory_read_bytes = l.work.compulsory_write_bytes = static_cast<double>(bytes);

  CtaLoop in;
  in.tile = tile_of(c.rows, c.cols, CtaAxis::kY, CtaAxis::kX);
  const double setup = instructions(c.way) / 2;
  CtaStep first = compute_step(Arithmetic{.fma = setup * 0.4, .alu = setup * 0.4, .other = setup * 0.2}, kWarps, false);
  first.op.smem_read_wavefronts = 2 * kWarps;
  in.steps = {first, access_step(MemDir::kLoad, x, kBits, c.cols * kBits / 8, kRowsOfWarp, kWarps), turn(c.way)};
  CtaLoop out;
  const bool turned = c.way != TransposeWay::kCopy;
  out.tile = turned ? tile_of(c.cols, c.rows, CtaAxis::kX, CtaAxis::kY) : in.tile;
  const std::uint64_t pitch = (turned ? c.rows : c.cols) * kBits / 8;
  const std::uint32_t passes = c.way == TransposeWay::kNaive ? kWordsOfSector : 1;
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    const double stores = static_cast<double>(kRowsOfWarp) / passes;
    out.steps.push_back(access_step(MemDir::kStore, y, kBits, pitch, stores, kWarps));
    if (c.way == TransposeWay::kNaive) {  // the lanes of a store are a row each
      MemoryRef& mem = out.steps.back().op.mem;
      mem.lane_bytes = kBits / 8;
      mem.lane_pitch = kSide * kBits / 8;
    }
  }
  p.loops = {in, out};
  return p;
}

}  // namespace

std::unique_ptr<TraceSource> make_transpose(const TransposeConfig& config) {
  if (config.rows == 0 || config.cols == 0) {
    throw ModelBug("transpose: inconsistent configuration");
  }
  return make_cta_program(program_of(config));
}

}  // namespace strata

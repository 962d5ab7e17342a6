#include "workloads/kernels/gemv.hpp"

#include <utility>

#include "sim/base/error.hpp"
#include "workloads/kernels/block_reduce.hpp"
#include "workloads/kernels/cta_program.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kWarps = 8;
constexpr std::uint32_t kWarpLanes = 32;
/// Trips whose loads are in flight together: loops are unrolled four times, but registers hold the loads of two, and
/// the others wait for the first (compiled code, CUDA 13.0, sm_90a).
constexpr std::uint32_t kInFlight = 2;
constexpr double kOfUnrolled = kInFlight / 4.0;
constexpr std::uint32_t kVectorBytes = 16;
constexpr std::uint32_t kColumnLanes = 4;  ///< of a group, weights stored K x N
constexpr std::uint32_t kGroups = kWarps * kWarpLanes / kColumnLanes;
constexpr double kBeside = 66;        ///< set-up, shuffle tree, store: 638 less 16 trips of 35.75 (calibration launch)
constexpr double kBesideGroups = 74;  ///< and the sum over the groups: 666 less 64 trips of 9.25

/// Instructions of a warp for four trips, loads apart; compiled code (CUDA 13.0, sm_90a).
Arithmetic four_trips(const GemvConfig& c) {
  const bool fp32 = c.type == DataType::kFp32;
  if (c.k_contiguous) {
    return fp32 ? Arithmetic{.fma = 16, .alu = 6, .other = 1} : Arithmetic{.fma = 64, .alu = 70, .other = 1};
  }
  return fp32 ? Arithmetic{.fma = 21, .alu = 7, .other = 1} : Arithmetic{.fma = 56, .alu = 39, .other = 1};
}

/// Of a warp alone per instruction: fixed stall counts in the control bits.
double loop_clocks(const GemvConfig& c) { return bits_of(c.type) == 32 && c.k_contiguous ? 3.2 : 1.8; }

CtaTile tile_of(const GemvConfig& c, std::uint64_t vector) {
  CtaTile t;
  if (c.k_contiguous) {
    t.rows = kWarps;
    t.rows_total = c.n;
    t.cols = t.warp_cols = static_cast<std::uint32_t>(kInFlight * kWarpLanes * vector);
    t.cols_total = c.k;
  } else {
    t.rows = kInFlight * kGroups;
    t.rows_total = c.k;
    t.row_axis = CtaAxis::kNone;
    t.trip_rows = t.rows;
    t.cols = t.warp_cols = static_cast<std::uint32_t>(kColumnLanes * vector);
    t.cols_total = c.n;
    t.col_axis = CtaAxis::kX;
  }
  return t;
}

CtaStep finish(const GemvConfig& c) {
  constexpr double kTreeLevels = 5;
  Arithmetic rest{.fma = 8, .alu = 20, .other = (c.k_contiguous ? kBeside : kBesideGroups) - 28};
  rest.chain = c.k_contiguous ? kTreeLevels * (kShuffleSteps + 1)
                              : barrier_steps(kWarps) + kSharedSteps + static_cast<double>(kGroups);
  CtaStep step = compute_step(rest, kWarps);
  step.whole = true;
  step.op.smem_read_wavefronts = c.k_contiguous ? 56 : 74;
  // A thread's partial sums go to shared memory 16 B at a time: side by side those of fp32's four columns, 32 B apart
  // those of bf16's eight, so that two parts meet in the banks.
  constexpr std::uint32_t kSums = 32, kApart = 4;
  const std::uint32_t partials = bits_of(c.type) == 32 ? kSums : kApart * kSums;
  step.op.smem_write_wavefronts = c.k_contiguous ? 0 : partials;
  step.op.smem_conflicts = c.k_contiguous || bits_of(c.type) == 32 ? 0 : partials / 2;
  step.op.tensor_insts = kWarps;
  return step;
}

CtaProgram program_of(const GemvConfig& c) {
  const std::uint32_t bits = bits_of(c.type);
  const std::uint64_t vector = kVectorBytes * 8 / bits;
  CtaLoop loop;
  loop.tile = tile_of(c, vector);
  const std::uint64_t depth = c.k_contiguous ? loop.tile.cols : loop.tile.rows;
  loop.trips = static_cast<std::uint32_t>((c.k + depth - 1) / depth);

  CtaProgram p;
  Launch& l = p.launch;
  const std::uint64_t of_cta = c.k_contiguous ? kWarps : loop.tile.cols;
  l.name = c.name;
  l.family = "gemv";
  l.grid.x = static_cast<std::uint32_t>((c.n + of_cta - 1) / of_cta);
  l.block.x = kWarps * kWarpLanes;
  l.registers_per_thread = c.registers;
  l.smem_static_bytes = c.k_contiguous ? 0 : static_cast<std::uint32_t>(kGroups * loop.tile.cols * 4);
  const std::uint64_t x = add_buffer(l, "vector", c.k * bits / 8);
  const std::uint64_t weights = add_buffer(l, "weights", c.n * c.k * bits / 8);
  const std::uint64_t y = add_buffer(l, "result", c.n * bits / 8);
  l.work.compulsory_read_bytes = static_cast<double>(l.buffers[0].bytes + l.buffers[1].bytes);
  l.work.compulsory_write_bytes = static_cast<double>(l.buffers[2].bytes);
  l.work.fp32_flops = 2.0 * static_cast<double>(c.n * c.k);

  const std::uint64_t pitch = (c.k_contiguous ? c.k : c.n) * bits / 8;
  loop.steps = {access_step(MemDir::kLoad, weights, bits, pitch, kInFlight, kWarps),
                access_step(MemDir::kLoad, x, bits, c.k_contiguous ? 0 : bits / 8, kInFlight, kWarps),
                compute_step(kOfUnrolled * four_trips(c), kWarps, true, loop_clocks(c))};
  CtaLoop end;
  if (c.k_contiguous) {  // each warp stores its own result: far apart in time, the parts of a sector leave one by one
    end.tile.rows = kWarps;
    end.tile.rows_total = c.n;
    end.tile.warp_cols = 1;
  } else {
    end.tile.cols = end.tile.warp_cols = static_cast<std::uint32_t>(of_cta);
    end.tile.cols_total = c.n;
    end.tile.col_axis = CtaAxis::kX;
    end.tile.row_axis = CtaAxis::kNone;
  }
  end.steps = {finish(c), access_step(MemDir::kStore, y, bits, c.k_contiguous ? bits / 8 : 0, 1, kWarps)};
  p.loops = {loop, end};
  if (c.k_contiguous) p.groups = kWarps;  // a row each; they never meet
  return p;
}

}  // namespace

std::unique_ptr<TraceSource> make_gemv(const GemvConfig& config) {
  const bool known = config.type == DataType::kFp32 || config.type == DataType::kBf16;
  if (config.n == 0 || config.k == 0 || !known) {
    throw ModelBug("gemv: inconsistent configuration");
  }
  return make_cta_program(program_of(config));
}

}  // namespace strata

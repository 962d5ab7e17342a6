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
constexpr std::uint32_t kBothWays = 2;  ///< loops over a warp's rows: in, and out of shared memory

/// Warp instructions of a whole tile, its accesses among them, and of them those of one row of a warp on its way in
/// (and out again, where a tile waits in shared memory): recorded launches and compiled code (CUDA 13.0, sm_90a). Warps
/// without rows in range execute them too, under false predicates.
struct Instructions {
  double all, of_row;
  double thread_reads;   ///< S2R of thread indices, a wavefront each
  double clocks_of_row;  ///< that a warp alone takes for each instruction of a row's way in: fixed stall counts
};
Instructions instructions(TransposeWay way) {
  switch (way) {
    case TransposeWay::kCopy:
      return {120, 21, 2, 2.9};
    case TransposeWay::kNaive:
      return {115, 18.5, 2, 3.0};
    case TransposeWay::kSwizzled:
      return {262, 24, 2, 3.1};
    case TransposeWay::kTile:
    case TransposeWay::kPadded:
      break;
  }
  return {221, 17.5, 4, 2.1};
}

bool through_shared(TransposeWay way) { return way != TransposeWay::kCopy && way != TransposeWay::kNaive; }

/// Copies that store each element before they load the next, since the compiler cannot exclude that they overlap, and
/// the swizzled tile, whose loads it leaves behind branches, wait for memory row by row.
bool row_by_row(TransposeWay way) { return way != TransposeWay::kTile && way != TransposeWay::kPadded; }

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

/// Arithmetic that every warp executes.
CtaStep integer_step(double count, bool waits, double clocks = 0) {
  CtaStep step = compute_step(Arithmetic{.fma = count * 0.4, .alu = count * 0.6}, kWarps, waits, clocks);
  step.whole = true;
  return step;
}

/// A tile's way through shared memory, both directions.
CtaStep turn(TransposeWay way) {
  Arithmetic work{.other = 2 * kRowsOfWarp};
  work.chain = barrier_steps(kWarps) + 2 * kSharedSteps;
  CtaStep step = compute_step(work, kWarps);
  step.op.smem_write_wavefronts = kSide;
  step.op.smem_read_wavefronts = way == TransposeWay::kTile ? kSide * kSide : kSide;
  step.op.smem_conflicts = step.op.smem_read_wavefronts - kSide;
  step.op.pipe = Pipe::kLsu;  // one data path for tiles and for global accesses
  step.op.pipe_work = (step.op.smem_read_wavefronts + step.op.smem_write_wavefronts) / kWarps;
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
  l.smem_static_bytes = through_shared(c.way) ? kSide * (kSide + 1) * kBits / 8 : 0;
  const std::uint64_t bytes = c.rows * c.cols * kBits / 8;
  const std::uint64_t x = add_buffer(l, "input", bytes);
  const std::uint64_t y = add_buffer(l, "output", bytes);
  l.work.compulsory_read_bytes = l.work.compulsory_write_bytes = static_cast<double>(bytes);

  const Instructions cost = instructions(c.way);
  const double rows_cost = cost.of_row * kRowsOfWarp * (through_shared(c.way) ? kBothWays : 1);
  CtaLoop begin;
  begin.tile = tile_of(c.rows, c.cols, CtaAxis::kY, CtaAxis::kX);
  begin.steps = {integer_step(cost.all - rows_cost, false)};
  begin.steps[0].op.smem_read_wavefronts = rounded(cost.thread_reads * kWarps);

  const std::uint64_t in_pitch = c.cols * kBits / 8;
  const std::uint64_t out_pitch = (c.way == TransposeWay::kCopy ? c.cols : c.rows) * kBits / 8;
  CtaLoop in;
  in.tile = begin.tile;
  const std::uint32_t trips = row_by_row(c.way) ? kRowsOfWarp : 1;
  const double rows_of_trip = static_cast<double>(kRowsOfWarp) / trips;
  if (trips > 1) {  // rows 8 apart, in tiles of 32
    in.trips = trips;
    in.tile.rows = kWarps;
    in.tile.trip_rows = kWarps;
    in.tile.row_parts = kRowsOfWarp;
  }
  constexpr double kAccesses = 2;  // of a row: a load, and a store of memory or of shared memory
  in.steps = {access_step(MemDir::kLoad, x, kBits, in_pitch, rows_of_trip, kWarps),
              integer_step((cost.of_row - kAccesses) * rows_of_trip, true, cost.clocks_of_row)};
  if (!through_shared(c.way)) {
    in.steps.push_back(access_step(MemDir::kStore, y, kBits, out_pitch, 1, kWarps));
    in.steps.back().turned = c.way == TransposeWay::kNaive;
    p.loops = {begin, in};
    return p;
  }
  CtaLoop out;
  out.tile = tile_of(c.cols, c.rows, CtaAxis::kX, CtaAxis::kY);
  constexpr double kClocksOut = 2.7;
  out.steps = {turn(c.way), integer_step((cost.of_row - kAccesses) * kRowsOfWarp, false, kClocksOut),
               access_step(MemDir::kStore, y, kBits, out_pitch, kRowsOfWarp, kWarps)};
  p.loops = {begin, in, out};
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

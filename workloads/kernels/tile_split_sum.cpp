#include "workloads/kernels/tile_split_sum.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/error.hpp"
#include "workloads/kernels/cta_program.hpp"
#include "workloads/spec/instruction.hpp"

namespace strata {
namespace {

// sm80_xmma..._execute_split_k_kernel, executed SASS of cuBLAS 13.0 (16 results a thread): 139 instructions and a CS2R
// for two results before the loop, 33 a split, of which a load of 16 B for four results and an addition each, and 266
// behind it, where each result is scaled, goes through shared memory and is stored alone.
constexpr double kBefore = 139;
constexpr double kSplit = 13;
constexpr double kBehindResult = 16;
constexpr double kBehind = 10;
constexpr std::uint32_t kVector = 4;
constexpr std::uint32_t kPartialBits = 32;
constexpr std::uint32_t kLanes = 32;

CtaStep code_step(double instructions, std::uint32_t warps, bool waits) {
  Arithmetic work = integer_code(instructions);
  work.chain = issue_chain(instructions);
  return compute_step(work, warps, waits);
}

}  // namespace

std::unique_ptr<TraceSource> make_tile_split_sum(const TileSplitSumConfig& c) {
  if (c.m == 0 || c.n == 0 || c.splits == 0 || c.warps == 0 || c.tile_m * c.tile_n == 0 || c.parts == 0 ||
      c.tile_m % c.parts != 0) {
    throw ModelBug("tile split sum: inconsistent configuration");
  }
  CtaProgram p;
  Launch& l = p.launch;
  const std::uint64_t elements = c.m * c.n * c.batch;
  const std::uint64_t matrix = elements * kPartialBits / 8;
  const std::uint32_t bits = bits_of(c.output);
  const std::uint64_t partials = add_buffer(l, "partial tiles", matrix * c.splits);
  const std::uint64_t out = add_buffer(l, "output", elements * bits / 8);
  l.name = c.name;
  l.family = "tile_split_sum";
  l.grid = Dim3{static_cast<std::uint32_t>(ceil_div(c.m, c.tile_m)),
                static_cast<std::uint32_t>(ceil_div(c.n, c.tile_n)), c.parts * c.batch};
  l.block = Dim3{c.warps * kLanes, 1, 1};
  l.registers_per_thread = c.registers;
  l.smem_dynamic_bytes = c.smem_bytes;
  l.work.compulsory_read_bytes = static_cast<double>(matrix * c.splits);
  l.work.compulsory_write_bytes = static_cast<double>(elements * bits) / 8;
  l.work.fp32_flops = static_cast<double>(elements * c.splits);
  const double results = static_cast<double>(c.tile_m) * c.tile_n / (c.parts * c.warps * kLanes);
  l.code_bytes = kInstructionBytes * rounded(kBefore + kSplit + kBehind + (2 + kBehindResult) * results);
  CtaLoop tile;
  tile.tile.rows = c.tile_m / c.parts;
  tile.tile.row_parts = c.parts;
  tile.tile.rows_total = c.m;
  tile.tile.z_rows = c.m;
  tile.tile.row_axis = CtaAxis::kX;
  tile.tile.cols = c.tile_n;
  tile.tile.cols_total = c.n;
  tile.tile.col_axis = CtaAxis::kY;
  tile.tile.warp_cols = c.tile_n;
  CtaLoop before = tile;
  before.steps = {code_step(kBefore + results / 2, c.warps, false)};
  p.loops = {before};
  for (std::uint32_t s = 0; s < c.splits; ++s) {
    tile.steps = {access_step(MemDir::kLoad, partials + s * matrix, kPartialBits, c.n * kPartialBits / 8,
                              results / kVector, c.warps),
                  code_step(kSplit + results, c.warps, true)};
    p.loops.push_back(tile);
  }
  CtaStep behind = code_step(kBehind + (kBehindResult - 1) * results, c.warps, false);
  behind.op.smem_write_wavefronts = behind.op.smem_read_wavefronts = rounded(results) * c.warps;
  tile.steps = {behind, access_step(MemDir::kStore, out, bits, c.n * bits / 8, results, c.warps)};
  p.loops.push_back(tile);
  return make_cta_program(std::move(p));
}

}  // namespace strata

#include "workloads/kernels/split_sum.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/kernels/block_reduce.hpp"
#include "workloads/kernels/cta_program.hpp"
#include "workloads/spec/instruction.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kWarpLanes = 32;

// splitKreduce_kernel, SASS of cuBLAS 13.0 (sm_90), counts as in the calibration rows. A warp without rows takes 38
// instructions; one with rows 24 more until its first load, of which a CTA that walks over rows repeats 16 at each
// visit, 4.6 a split (one more to widen 16-bit parts), and 24 for scaling, conversion and the store. Before the first
// load stand four constants, each used by the next step; the kernel jumps over the code of the cases it has not: its 96
// instructions lie on 15 lines. Whether the old result counts (beta) is decided by predicates: the two constants of its
// address are waited for in any case, after the last four splits. Another is waited for behind the store.
constexpr double kSplitKEveryWarp = 38;
constexpr double kSplitKBefore = 8;
constexpr double kSplitKVisit = 16;
constexpr double kSplitKAfter = 24;
constexpr double kSplitKConstants = 4;
constexpr double kSplitKOldConstants = 2;
/// Steps that the first visit waits for code behind taken branches, which nobody has fetched: 110 to 220 clk in three
/// launches with a CTA an SM, the first line apart (stall samples).
constexpr double kSplitKJumps = 40;
/// Clocks of a warp alone per instruction, by stall samples of eight launches (Nsight Compute, H200; memory, constants
/// and fetches left out): 3.6 to 4.5.
constexpr double kSplitKClocks = 4;
constexpr std::uint32_t kSplitKQueued = 10;  ///< S2R, LDC and predicated LDG of every warp: they issue as the LSU's do
constexpr Arithmetic kSplitKAdd{.fma = 1, .alu = 2.6, .mufu = 0, .other = 0, .chain = 1};

/// Loads in flight of a thread, batch after batch: sixteen splits at a time in two parts while more than twelve are
/// left, eight once, then fours; of the last one to three the first alone.
std::vector<std::uint32_t> splitk_batches(std::uint32_t splits) {
  std::vector<std::uint32_t> batches;
  std::uint32_t left = splits - splits % 4;
  for (; left > 12; left -= 16) batches.insert(batches.end(), {7, 9});
  if (left > 4) {
    batches.push_back(8);
    left -= 8;
  }
  if (left > 0) batches.push_back(4);
  if (splits % 4 > 0) batches.push_back(1);
  if (splits % 4 > 1) batches.push_back(splits % 4 - 1);
  return batches;
}

// flash_fwd_splitkv_combine_kernel, launches of 2, 4, 7 and 8 splits: 608, 619, 666 and 670 instructions per warp. Each
// split takes a load and four FMA; the divisions that find the row's batch and head take most of the rest, and
// instances for more than four splits 28 more. 6.5 on the tensor-pipe counter.
constexpr Arithmetic kCombineSplit{.fma = 4, .alu = 0.5, .mufu = 0, .other = 0.25, .chain = 10};
constexpr double kCombineSetup = 120;
constexpr Arithmetic kCombineScale{.fma = 40, .alu = 40, .mufu = 4, .other = 30, .chain = 90};  ///< expf, logf, divide
constexpr double kCombineOutput = 351;
constexpr double kCombineOfManySplits = 28;
constexpr double kCombineTensorCounted = 6.5;

// lean_reduction_kernel, calibration row: 188 instructions and 13 wavefronts per warp at eight splits, 3 on the
// tensor-pipe counter per CTA. How its warps share the work is inferred from 4160 bytes of shared memory. At four
// splits 1206 to 1211 instructions and 51 to 59 wavefronts per CTA: warps without a split skip the scaling.
constexpr double kLeanSetup = 70;
constexpr Arithmetic kLeanScale{.fma = 20, .alu = 20, .mufu = 3, .other = 20, .chain = 60};  ///< of a warp with a split
constexpr double kLeanOutput = 39;
constexpr double kLeanOutputOfSplit = 11;
constexpr std::uint32_t kLeanTensorCounted = 3;

/// The mix by pipe utilisation of splitKreduce_kernel (Nsight Compute, H200): 0.27 to 0.30 of the instructions on the
/// ALU, 0.15 to 0.24 on the FMA pipe.
CtaStep arithmetic_step(double instructions, double chain, std::uint32_t warps, bool waits) {
  Arithmetic work = instructions * Arithmetic{.fma = 0.2, .alu = 0.29, .mufu = 0, .other = 0.51, .chain = 0};
  work.chain = chain;
  return compute_step(work, warps, waits);
}

}  // namespace

std::unique_ptr<TraceSource> make_parts_sum(const PartsSumConfig& c) {
  constexpr std::uint32_t kWarps = 8;
  constexpr std::uint32_t kVector = 4;
  constexpr std::uint32_t kPartialBits = 32;
  constexpr std::uint32_t kResultBits = 16;
  // Compiled code (CUDA 13.0, sm_90a): a part takes a load, four additions and three address steps; the recorded 144
  // instructions at eight parts leave 80 beside them.
  constexpr Arithmetic kAdd{.fma = 4, .alu = 2, .mufu = 0, .other = 1, .chain = 4};
  constexpr double kBeside = 79;
  if (c.parts == 0 || c.elements == 0 || c.elements % kVector != 0) {
    throw ModelBug("sum of parts: inconsistent configuration");
  }
  CtaProgram p;
  Launch& l = p.launch;
  CtaLoop parts;
  parts.tile.cols = std::uint64_t{kWarps} * kWarpLanes * kVector;
  parts.tile.cols_total = c.elements;
  parts.tile.col_axis = CtaAxis::kX;
  parts.tile.row_axis = CtaAxis::kNone;
  parts.tile.rows_total = c.parts;
  parts.tile.trip_rows = 1;
  parts.tile.warp_cols = kWarpLanes * kVector;
  parts.trips = c.parts;
  l.name = c.name;
  l.family = "parts_sum";
  l.grid.x = static_cast<std::uint32_t>(ceil_div(c.elements, parts.tile.cols));
  l.block.x = kWarps * kWarpLanes;
  l.registers_per_thread = c.registers;
  const std::uint64_t partial = add_buffer(l, "partial sums", c.parts * c.elements * kPartialBits / 8);
  const std::uint64_t result = add_buffer(l, "result", c.elements * kResultBits / 8);
  l.work.compulsory_read_bytes = static_cast<double>(l.buffers[0].bytes);
  l.work.compulsory_write_bytes = static_cast<double>(l.buffers[1].bytes);
  l.work.fp32_flops = static_cast<double>(c.parts * c.elements);
  CtaLoop before = parts;
  before.trips = 1;
  CtaLoop after = before;
  before.steps = {arithmetic_step(kBeside, 16, kWarps, false)};
  before.steps.front().op.smem_read_wavefronts = 2 * kWarps;
  parts.steps = {access_step(MemDir::kLoad, partial, kPartialBits, c.elements * kPartialBits / 8, 1, kWarps)};
  after.steps = {compute_step(c.parts * kAdd, kWarps), access_step(MemDir::kStore, result, kResultBits, 0, 1, kWarps)};
  p.loops = {before, parts, after};
  return make_cta_program(std::move(p));
}

std::unique_ptr<TraceSource> make_splitk_sum(const SplitKSumConfig& c) {
  const std::uint32_t warps = c.block_cols * c.block_rows / kWarpLanes;
  if (c.rows == 0 || c.cols == 0 || c.splits == 0 || warps == 0 || c.block_cols % kWarpLanes != 0) {
    throw ModelBug("split-K sum: inconsistent configuration");
  }
  CtaProgram p;
  Launch& l = p.launch;
  // Warps do not meet: four at a time, one on each SMSP.
  constexpr std::uint32_t kGroupWarps = 4;
  const std::uint32_t groups = warps / kGroupWarps;
  if (warps % kGroupWarps == 0 && c.block_rows % groups == 0) p.groups = groups;
  l.name = c.name;
  l.family = "splitk_sum";
  const std::uint64_t blocks = ceil_div(c.rows, c.block_rows);
  l.grid =
      Dim3{static_cast<std::uint32_t>(ceil_div(c.cols, c.block_cols)),
           static_cast<std::uint32_t>(c.grid_rows == 0 ? blocks : std::min<std::uint64_t>(blocks, c.grid_rows)), 1};
  l.code_bytes = kInstructionBytes * rounded(kSplitKEveryWarp + kSplitKBefore + kSplitKVisit + kSplitKAfter +
                                             c.splits * kSplitKAdd.total());
  // Executed SASS, by stall samples: two lines through the cache of immediate constants, one again by LDC, whose cache
  // is another: 86 to 105 clk where it is first read, 24 later.
  l.constant_lines = 3;
  l.block = Dim3{c.block_cols, c.block_rows, 1};
  l.registers_per_thread = c.registers;
  const std::uint32_t bits = bits_of(c.partial);
  const std::uint64_t matrix = c.rows * c.cols * bits / 8;
  const std::uint64_t partials = add_buffer(l, "partial sums", matrix * c.splits);
  const std::uint64_t out_bytes = c.rows * c.cols * bits_of(c.output) / 8;
  const std::uint64_t out = add_buffer(l, "output", out_bytes);
  l.work.compulsory_read_bytes = static_cast<double>(matrix * c.splits);
  l.work.compulsory_write_bytes = static_cast<double>(out_bytes);
  l.work.fp32_flops = static_cast<double>(c.rows * c.cols * c.splits);
  CtaLoop setup;
  setup.tile.rows = c.block_rows;
  setup.tile.rows_total = c.rows;
  setup.tile.row_axis = CtaAxis::kY;
  setup.tile.cols = c.block_cols;
  setup.tile.cols_total = c.cols;
  setup.tile.col_axis = CtaAxis::kX;
  CtaLoop rows = setup;
  CtaStep all = arithmetic_step(kSplitKEveryWarp, issue_chain(kSplitKEveryWarp, kSplitKClocks), warps, false);
  all.op.smem_read_wavefronts = 4 * warps;
  all.op.pipe = Pipe::kLsu;
  all.op.pipe_work = kSplitKQueued;
  all.whole = true;
  setup.steps = {all};
  p.loops = {setup};
  // Each batch reads a constant for its addresses, and so does the store.
  const CtaStep constant = arithmetic_step(0, kSharedSteps, warps, false);
  const CtaStep old = arithmetic_step(0, kSplitKOldConstants * kSharedSteps, warps, false);
  CtaStep scaled =
      arithmetic_step(kSplitKAfter, issue_chain(kSplitKAfter, kSplitKClocks) + 2 * kSharedSteps, warps, false);
  scaled.op.smem_read_wavefronts = c.active_wavefronts * warps;
  scaled.op.tensor_insts = warps;
  Arithmetic add = kSplitKAdd;
  if (bits < 32) add.alu += 1;
  const std::uint64_t pitch = c.cols * bits / 8;
  const std::uint64_t out_pitch = c.cols * bits_of(c.output) / 8;
  const std::uint64_t stride = std::uint64_t{l.grid.y} * c.block_rows;  // rows from one visit of a CTA to its next
  for (std::uint64_t first = 0; first < c.rows; first += stride) {
    rows.tile.rows_total = c.rows - first;
    const double before = kSplitKVisit + (first == 0 ? kSplitKBefore : 0);
    const double constants = first == 0 ? kSplitKConstants * kSharedSteps + kSplitKJumps : 0;
    rows.steps = {arithmetic_step(before, issue_chain(before, kSplitKClocks) + constants, warps, false)};
    p.loops.push_back(rows);
    std::uint32_t next = 0;
    for (const std::uint32_t loads : splitk_batches(c.splits)) {
      rows.steps = {constant};
      if (next == c.splits - c.splits % 4) rows.steps.push_back(old);
      for (std::uint32_t s = 0; s < loads; ++s, ++next) {
        rows.steps.push_back(
            access_step(MemDir::kLoad, partials + next * matrix + first * pitch, bits, pitch, 1, warps));
      }
      Arithmetic sum = loads * add;
      sum.chain = issue_chain(sum.total(), kSplitKClocks);
      rows.steps.push_back(compute_step(sum, warps));
      p.loops.push_back(rows);
    }
    rows.steps.clear();
    if (c.splits % 4 == 0) rows.steps.push_back(old);
    rows.steps.push_back(scaled);
    rows.steps.push_back(access_step(MemDir::kStore, out + first * out_pitch, bits_of(c.output), out_pitch, 1, warps));
    p.loops.push_back(rows);
  }
  return make_cta_program(std::move(p));
}

namespace {

/// Launch and buffers that both kernels share: partial outputs in fp32, `statistics` values per split and row.
struct SplitBuffers {
  std::uint64_t partials = 0;
  std::uint64_t statistics = 0;
  std::uint64_t output = 0;
};

SplitBuffers place(const AttentionSplitConfig& c, std::uint32_t statistics, Launch& l) {
  SplitBuffers b;
  const std::uint64_t elements = c.rows * c.head_dim;
  b.partials = add_buffer(l, "partial outputs", elements * 4 * c.splits);
  b.statistics = add_buffer(l, "partial statistics", c.rows * 4 * c.splits * statistics);
  b.output = add_buffer(l, "output", elements * bits_of(c.output) / 8);
  l.work.compulsory_read_bytes = static_cast<double>(l.buffers[0].bytes + l.buffers[1].bytes);
  l.work.compulsory_write_bytes = static_cast<double>(l.buffers[2].bytes);
  l.work.fp32_flops = 2.0 * static_cast<double>(elements * c.splits);
  l.name = c.name;
  l.family = "attention_split_sum";
  l.registers_per_thread = c.registers;
  return b;
}

CtaTile rows_tile(const AttentionSplitConfig& c, CtaAxis axis, std::uint64_t cols) {
  CtaTile t;
  t.rows = c.rows_per_cta;
  t.rows_total = c.rows;
  t.row_axis = axis;
  t.cols = t.cols_total = cols;
  t.warp_cols = static_cast<std::uint32_t>(cols);
  return t;
}

/// `parts` slices of a [part][row] array, of every row `width` values side by side: one box.
CtaTile parts_tile(std::uint32_t parts, std::uint64_t rows, std::uint32_t width, std::uint32_t rows_per_cta,
                   CtaAxis axis) {
  CtaTile t;
  t.rows = parts;
  t.rows_total = parts;
  t.row_axis = CtaAxis::kNone;
  t.cols = std::uint64_t{rows_per_cta} * width;
  t.cols_total = rows * width;
  t.col_axis = axis;
  t.warp_cols = static_cast<std::uint32_t>(t.cols);
  return t;
}

void check(const AttentionSplitConfig& c) {
  if (c.rows == 0 || c.head_dim == 0 || c.splits == 0 || c.rows_per_cta == 0) {
    throw ModelBug("attention split sum: inconsistent configuration");
  }
}

}  // namespace

std::unique_ptr<TraceSource> make_flash_combine(const AttentionSplitConfig& c) {
  check(c);
  constexpr std::uint32_t kWarps = 4;
  CtaProgram p;
  Launch& l = p.launch;
  const SplitBuffers buffers = place(c, 1, l);
  l.grid.x = static_cast<std::uint32_t>(ceil_div(c.rows, c.rows_per_cta));
  l.block.x = kWarps * kWarpLanes;
  l.smem_static_bytes = c.max_splits * (c.rows_per_cta + 1) * 4;
  l.code_bytes = 10240;  // 619 instructions per warp, hardly any of them twice
  l.constant_lines = 6;  // fields of FlashAttention-2's parameters, half a kilobyte, by its source
  const std::uint64_t lse = add_buffer(l, "log-sum-exp", c.rows * 4);
  // Log-sum-exp of every split into shared memory, transposed, reduced over the splits by shuffles.
  CtaLoop scales;
  scales.tile = rows_tile(c, CtaAxis::kX, 1);
  scales.steps.push_back(arithmetic_step(kCombineSetup, 30, kWarps, false));
  CtaLoop statistics;
  statistics.tile = parts_tile(c.splits, c.rows, 1, c.rows_per_cta, CtaAxis::kX);
  statistics.steps = {access_step(MemDir::kLoad, buffers.statistics, 32, c.rows * 4, 1, kWarps)};
  p.loops = {scales, statistics};
  scales.steps.clear();
  Arithmetic weights = kCombineScale;
  weights.chain += 2 * barrier_steps(kWarps) + 3 * kSharedSteps;
  CtaStep weigh = compute_step(weights, kWarps);
  weigh.op.smem_read_wavefronts = 3 * kWarps;  // the transposed read, S2R twice
  weigh.op.smem_write_wavefronts = 2 * kWarps;
  weigh.op.tensor_insts = rounded(kCombineTensorCounted * kWarps);
  const auto lanes = std::min(c.max_splits, kWarpLanes);
  const TreeLevel level{.combine = {.fma = 0, .alu = 2, .mufu = 0, .other = 0, .chain = 2}, .shuffles = 1};
  scales.steps = {weigh, warp_reduce_step(level, lanes, kWarps), warp_reduce_step(level, lanes, kWarps)};
  p.loops.push_back(scales);
  CtaLoop result;
  result.tile = parts_tile(1, c.rows, 1, c.rows_per_cta, CtaAxis::kX);
  result.steps = {access_step(MemDir::kStore, lse, 32, 0, 1.0 / kWarps, kWarps)};
  p.loops.push_back(result);
  const double vectors = static_cast<double>(c.rows_per_cta) * c.head_dim / (4.0 * kWarps * kWarpLanes);
  CtaLoop split;
  split.tile = rows_tile(c, CtaAxis::kX, c.head_dim);
  for (std::uint32_t s = 0; s < c.splits; ++s) {
    split.steps = {
        access_step(MemDir::kLoad, buffers.partials + s * c.rows * c.head_dim * 4, 32, c.head_dim * 4, vectors, kWarps),
        compute_step(kCombineSplit, kWarps)};
    split.steps[1].op.smem_read_wavefronts = kWarps;
    p.loops.push_back(split);
  }
  const std::uint32_t bits = bits_of(c.output);
  const double output = kCombineOutput + (c.splits > 4 ? kCombineOfManySplits : 0);
  split.steps = {arithmetic_step(output, 150, kWarps, false),
                 access_step(MemDir::kStore, buffers.output, bits, c.head_dim * bits / 8, vectors, kWarps)};
  p.loops.push_back(split);
  return make_cta_program(std::move(p));
}

std::unique_ptr<TraceSource> make_lean_reduction(const AttentionSplitConfig& given) {
  check(given);
  AttentionSplitConfig c = given;
  c.rows_per_cta = 1;
  constexpr std::uint32_t kWarps = 8;
  const std::uint32_t with_split = std::min(c.splits, kWarps);
  const double share = static_cast<double>(with_split) / kWarps;
  CtaProgram p;
  Launch& l = p.launch;
  const SplitBuffers buffers = place(c, 2, l);
  l.grid = Dim3{1, static_cast<std::uint32_t>(c.rows / c.batch), c.batch};
  l.block.x = kWarps * kWarpLanes;
  l.smem_dynamic_bytes = kWarps * c.head_dim * 4 + 64;
  l.code_bytes = 4096;
  l.constant_lines = 4;  // as cuDNN's attention kernels
  CtaLoop first;
  first.tile = rows_tile(c, CtaAxis::kYZ, 1);
  CtaStep setup = arithmetic_step(kLeanSetup, 30, kWarps, false);
  setup.op.smem_read_wavefronts = 2 * kWarps + with_split;
  setup.op.tensor_insts = kLeanTensorCounted;
  first.steps = {setup};
  // Maximum and denominator of every split, each in a sector of its own, and the outputs.
  CtaLoop statistics;
  statistics.tile = parts_tile(2 * c.splits, c.rows, 1, 1, CtaAxis::kYZ);
  statistics.steps = {access_step(MemDir::kLoad, buffers.statistics, 32, c.rows * 4, 2, kWarps)};
  const double vectors = static_cast<double>(c.head_dim) * c.splits / (4.0 * kWarps * kWarpLanes);
  CtaLoop partials;
  partials.tile = parts_tile(c.splits, c.rows, c.head_dim, 1, CtaAxis::kYZ);
  partials.steps = {access_step(MemDir::kLoad, buffers.partials, 32, c.rows * c.head_dim * 4, vectors, kWarps)};
  p.loops = {first, statistics, partials};
  CtaLoop scale = first;
  Arithmetic weights = share * kLeanScale;
  weights.chain = kLeanScale.chain + barrier_steps(kWarps) + 2 * kSharedSteps;
  scale.steps = {compute_step(weights, kWarps)};
  p.loops.push_back(scale);
  const std::uint32_t bits = bits_of(c.output);
  CtaStep sum = arithmetic_step(kLeanOutput + share * kLeanOutputOfSplit, 60 + barrier_steps(kWarps) + 2 * kSharedSteps,
                                kWarps, true);
  sum.op.smem_write_wavefronts = rounded(4 * vectors * kWarps);
  sum.op.smem_read_wavefronts = 6 * with_split;
  CtaLoop outputs;
  outputs.tile = rows_tile(c, CtaAxis::kYZ, c.head_dim);
  outputs.steps = {sum, access_step(MemDir::kStore, buffers.output, bits, c.head_dim * bits / 8, 0.5, kWarps)};
  p.loops.push_back(outputs);
  return make_cta_program(std::move(p));
}

}  // namespace strata

#include "workloads/kernels/row_norm.hpp"

#include <bit>

#include "sim/base/error.hpp"
#include "workloads/kernels/block_reduce.hpp"
#include "workloads/kernels/cta_program.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kWarpLanes = 32;
constexpr std::uint32_t kVector = 4;  ///< elements of an access, whatever their type

// Compiled code (sm_90, CUDA 13) of the same source; the calibration rows' 118 instructions per trip of both loops and
// 290 beside them agree. One Welford step: count, reciprocal with the branch around its slow path, mean, sum of
// squares. Its chain goes from branch to branch: additions, predicate, special function, three FMA. A warp takes 93 clk
// for it and 153 for a level of the tree, 5.2 an instruction, by stall samples of a small and a large launch (Nsight
// Compute, H200; memory, fetches and turns of others left out).
constexpr Arithmetic kWelford{.fma = 8, .alu = 2, .mufu = 1, .other = 4.25, .chain = 23};
constexpr Arithmetic kSquare{.fma = 1, .alu = 0, .mufu = 0, .other = 0, .chain = 1};
constexpr Arithmetic kTripOverhead{.fma = 0, .alu = 2, .mufu = 0, .other = 2, .chain = 3};
constexpr double kWriteOverhead = 12;  ///< addresses, predicates and branches that pick the parameters there are
constexpr double kSetup = 110;         ///< with the 64-bit division that counts the trips
// RMS norm, executed SASS (bf16, H200): 15 and 32 instructions of a trip of the two loops, 125 beside them.
constexpr double kSquareWriteOverhead = 8;
constexpr double kSquareWriteClocks = 4.75;  ///< of a warp alone for each of the 32, accesses included, as above
constexpr double kSquareSetup = 82;
// fp32 instances are unrolled by four, loads still one after another: 63 and 28 instructions of a trip, 345 beside them
// (executed SASS, H200).
constexpr Arithmetic kUnrolledTripOverhead{.fma = 0, .alu = 0.75, .mufu = 0, .other = 0.25, .chain = 3};
constexpr double kUnrolledWriteOverhead = 6;
constexpr double kUnrolledSetup = 56;          ///< beyond kSetup
constexpr std::uint32_t kSetupWavefronts = 6;  ///< S2R, S2UR

/// Combining two Welford states: a division, three multiplications, three values shuffled.
constexpr TreeLevel kWelfordLevel{.combine = {.fma = 15, .alu = 3, .mufu = 1, .other = 5, .chain = 32}, .shuffles = 3};
constexpr TreeLevel kSquareLevel{.combine = {.fma = 1, .alu = 0, .mufu = 0, .other = 0, .chain = 1}, .shuffles = 1};

double unpack(DataType t) { return bits_of(t) < 32 ? 1 : 0; }
bool unrolled(const NormConfig& c) { return bits_of(c.type) == 32 && !c.rms; }

/// Wide multiplies, which the tensor-pipe counter includes.
std::uint32_t tensor_counted(const NormConfig& c) { return c.rms ? 2 : (unrolled(c) ? 8 : 5); }

double setup_of(const NormConfig& c) { return c.rms ? kSquareSetup : kSetup + (unrolled(c) ? kUnrolledSetup : 0); }

Arithmetic trip_overhead(const NormConfig& c) {
  if (unrolled(c)) return kUnrolledTripOverhead;
  // Halves of a word are told apart for two elements of four; in a Welford step they are part of it.
  return kTripOverhead + Arithmetic{.alu = c.rms ? 2 * unpack(c.type) : 0};
}

double write_overhead(const NormConfig& c) {
  return c.rms ? kSquareWriteOverhead : (unrolled(c) ? kUnrolledWriteOverhead : kWriteOverhead);
}

/// Each warp's state through shared memory, half of the warps at a time: two barriers per level.
CtaStep across_warps(const NormConfig& c) {
  const TreeLevel& level = c.rms ? kSquareLevel : kWelfordLevel;
  const auto levels = static_cast<double>(std::bit_width(c.warps) - 1);
  Arithmetic all{.fma = 0, .alu = 8, .mufu = 0, .other = 8, .chain = 0};
  all.other += 8 * levels;
  all.chain = levels * (2 * barrier_steps(c.warps) + 2 * kSharedSteps + level.combine.chain) + barrier_steps(c.warps) +
              2 * kSharedSteps;
  CtaStep step = compute_step(all, c.warps);
  step.op.warp_insts += rounded(levels * level.combine.total());
  step.op.smem_read_wavefronts = c.warps + 2 * (c.warps - 1);
  step.op.smem_write_wavefronts = 2 * (c.warps - 1) + 2;
  return step;
}

CtaStep load(const CtaTile& tile, std::uint64_t base, const NormConfig& c, bool rows) {
  const std::uint32_t bits = bits_of(c.type);
  return access_step(MemDir::kLoad, base, bits, rows ? tile.cols_total * bits / 8 : 0, rows ? 1 : kVector, c.warps);
}

CtaProgram program_of(const NormConfig& c) {
  CtaProgram p;
  Launch& l = p.launch;
  l.name = c.name;
  l.family = c.rms ? "rms_norm" : "layer_norm";
  l.grid.x = static_cast<std::uint32_t>(c.rows);
  l.block = Dim3{kWarpLanes, c.warps, 1};
  l.registers_per_thread = c.registers;
  l.smem_dynamic_bytes = c.warps > 1 ? c.warps * 6 : 0;
  l.code_bytes = 8192;
  l.constant_lines = 3;  // executed SASS: block size, parameters
  const std::uint32_t bits = bits_of(c.type);
  const std::uint64_t bytes = c.rows * c.cols * bits / 8;
  const std::uint64_t x = add_buffer(l, "input", bytes);
  std::uint64_t weight = 0;
  std::uint64_t bias = 0;
  if (c.parameters > 0) weight = bias = add_buffer(l, "weight", c.cols * bits / 8);
  if (c.parameters > 1 && !c.shared_parameter) bias = add_buffer(l, "bias", c.cols * bits / 8);
  for (const Buffer& b : l.buffers) l.work.compulsory_read_bytes += static_cast<double>(b.bytes);
  const std::uint64_t y = add_buffer(l, "output", bytes);
  const std::uint64_t mean = c.rms ? 0 : add_buffer(l, "mean", c.rows * 4);
  const std::uint64_t rstd = add_buffer(l, "rstd", c.rows * 4);
  const double outputs = static_cast<double>(bytes) + static_cast<double>(c.rows) * (c.rms ? 4 : 8);
  l.work.compulsory_write_bytes = outputs;
  l.work.fp32_flops = (c.rms ? 4.0 : 9.0) * static_cast<double>(c.rows * c.cols);

  CtaLoop stats;
  stats.tile.rows_total = c.rows;
  stats.tile.cols_total = c.cols;
  stats.tile.cols = std::uint64_t{kWarpLanes} * c.warps * kVector;
  stats.tile.warp_cols = kWarpLanes * kVector;
  stats.trips = static_cast<std::uint32_t>((c.cols + stats.tile.cols - 1) / stats.tile.cols);
  CtaLoop once = stats;
  once.trips = 1;
  CtaLoop write = stats;

  CtaStep setup = compute_step(integer_code(setup_of(c)), c.warps, false);
  setup.op.smem_read_wavefronts = kSetupWavefronts * c.warps;
  setup.op.tensor_insts = tensor_counted(c) * c.warps;
  CtaLoop before = once;
  before.steps = {setup};

  const Arithmetic element = (c.rms ? kSquare : kWelford) + Arithmetic{.alu = unpack(c.type)};
  stats.steps = {load(stats.tile, x, c, true), compute_step(kVector * element + trip_overhead(c), c.warps)};

  once.steps = {warp_reduce_step(c.rms ? kSquareLevel : kWelfordLevel, kWarpLanes, c.warps), across_warps(c)};
  CtaLoop after = before;
  after.steps.clear();
  for (const std::uint64_t statistic : {mean, rstd}) {
    if (statistic == 0) continue;
    CtaStep s = access_step(MemDir::kStore, statistic, 32, 4, 1.0 / c.warps, c.warps);
    after.steps.push_back(s);
  }
  after.tile.cols = after.tile.cols_total = 1;

  write.steps = {load(write.tile, x, c, true)};
  for (std::uint32_t i = 0; i < c.parameters; ++i) {
    CtaStep parameter = load(write.tile, i == 0 ? weight : bias, c, false);
    parameter.sweeps = kVector;
    write.steps.push_back(parameter);
  }
  const double reading = unpack(c.type) * (1 + c.parameters);
  Arithmetic normalise = kVector * Arithmetic{.fma = (c.rms ? 1.0 : 2.0) + (c.parameters > 0 ? 1 : 0),
                                              .alu = reading + 0.5 * unpack(c.type),
                                              .chain = 2};
  normalise = normalise + integer_code(write_overhead(c));
  if (c.rms) {
    const double accesses = 2 + kVector * c.parameters;
    normalise.chain = issue_chain(normalise.total() + accesses, kSquareWriteClocks);
  }
  write.steps.push_back(compute_step(normalise, c.warps));
  write.steps.push_back(access_step(MemDir::kStore, y, bits, c.cols * bits / 8, 1, c.warps));

  p.loops = {before, stats, once, write, after};
  return p;
}

}  // namespace

std::unique_ptr<TraceSource> make_row_norm(const NormConfig& config) {
  if (config.rows == 0 || config.cols == 0 || config.cols % kVector != 0 || config.warps == 0 || config.warps > 32 ||
      config.parameters > 2) {
    throw ModelBug("norm: inconsistent configuration");
  }
  return make_cta_program(program_of(config));
}

}  // namespace strata

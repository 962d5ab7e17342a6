#include "workloads/kernels/row_pass.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/kernels/block_reduce.hpp"
#include "workloads/kernels/cta_program.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kWarps = 8;
constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kWarpLanes = 32;

// Instructions of a warp for one vector of each lane, global accesses apart; from the compiled code (CUDA 13.0,
// sm_90a), the longest unrolled loop of each phase. Accesses to shared memory count as `other`.

/// Reading the row into shared memory: conversion to fp32, with a residual also its addition, rounding and widening.
Arithmetic read_cost(const RowPassConfig& c) {
  if (c.type == DataType::kFp32) {
    return c.residual ? Arithmetic{.fma = 4, .alu = 2.75, .other = 1.3} : Arithmetic{.alu = 0.4, .other = 1.06};
  }
  if (c.type == DataType::kFp16) {
    return c.residual ? Arithmetic{.fma = 32, .alu = 10.75, .other = 2.25}
                      : Arithmetic{.fma = 8, .alu = 1.25, .other = 2.25};
  }
  return c.residual ? Arithmetic{.fma = 9.5, .alu = 45.3, .other = 2.25}
                    : Arithmetic{.fma = 4, .alu = 9.25, .other = 2.25};
}

/// LDS of a vector, 16 bytes at a time.
double shared_accesses(const RowPassConfig& c) { return c.vector == 1 ? 1 : c.vector / 4.0; }

/// Maximum (softmax) or sum (layer norm) of the elements.
Arithmetic first_cost(const RowPassConfig& c) {
  const double v = c.vector;
  const bool widens = !c.in_shared && c.type != DataType::kFp32;
  Arithmetic work{.alu = 0.2 + (widens ? 12 : 0), .other = c.in_shared ? shared_accesses(c) + 0.06 : 0.06};
  (c.kind == RowPassKind::kSoftmax ? work.alu : work.fma) += v;
  return work;
}

/// Sum of exponentials, of squared distances or of squares.
Arithmetic second_cost(const RowPassConfig& c) {
  const double v = c.vector;
  if (c.kind != RowPassKind::kSoftmax) {
    const double each = c.kind == RowPassKind::kLayerNorm ? 2 : 1;
    return Arithmetic{.fma = each * v, .alu = 0.5, .other = shared_accesses(c) + 0.1};
  }
  if (c.in_shared) {  // one word at a time
    return Arithmetic{.fma = 5 * v, .alu = 1.19 * v + (c.vector == 1 ? 0.5 : 0), .mufu = v, .other = 2 * v + 0.25};
  }
  return Arithmetic{.fma = 5.1 * v, .alu = (c.type == DataType::kFp32 ? 1.2 : 2.5) * v, .mufu = v, .other = 0.25};
}

Arithmetic write_cost(const RowPassConfig& c) {
  const bool fp32 = c.type == DataType::kFp32;
  const bool bf16 = c.type == DataType::kBf16;
  if (!c.in_shared) {
    const double v = c.vector;
    return Arithmetic{.fma = 5.1 * v, .alu = (fp32 ? 1.0 : 2.9) * v + 1.75, .mufu = v, .other = 0.25};
  }
  switch (c.kind) {
    case RowPassKind::kSoftmax:
      return fp32 ? Arithmetic{.fma = c.vector + 0.1, .alu = 0.3, .other = 1.06}
                  : Arithmetic{.fma = 8.75, .alu = 5, .other = 2.25};
    case RowPassKind::kLayerNorm:
      if (fp32) return Arithmetic{.fma = 1.6 + 2.9 * c.vector, .alu = 2.25 + 0.5 * c.vector, .other = 1.25};
      return bf16 ? Arithmetic{.fma = 24, .alu = 33.5, .other = 2.5} : Arithmetic{.fma = 40, .alu = 9.5, .other = 2.5};
    case RowPassKind::kRmsNorm:
      break;
  }
  if (fp32) return Arithmetic{.fma = 0.4 + 2.1 * c.vector, .alu = 0.5, .other = 1.1};
  return bf16 ? Arithmetic{.fma = 16, .alu = 18.25, .other = 2.25} : Arithmetic{.fma = 24, .alu = 6.25, .other = 2.25};
}

/// Instructions of a warp beside the phases, from recorded launches, whose totals less the phases they are: set-up and
/// reductions; entering the unrolled loops; a trip that is left over before them, beyond one inside them.
struct Beside {
  double setup, unrolled, left_over;
};
Beside beside(const RowPassConfig& c) {
  const bool words = c.vector == 1;
  const bool narrow = c.type != DataType::kFp32;
  if (!c.in_shared) return narrow ? Beside{151, 0, 17} : Beside{152, 0, 0};
  switch (c.kind) {
    case RowPassKind::kSoftmax:
      if (words) return {192, 20, 26};
      return narrow ? Beside{185, -12, 8.5} : Beside{184, 20, 0};
    case RowPassKind::kLayerNorm:
      if (words) return {200, 34, 30};
      return narrow ? Beside{172, 34, 32} : Beside{200, 34, 30};
    case RowPassKind::kRmsNorm:
      break;
  }
  if (words) return {162, 20, 25};
  return narrow ? Beside{135, 8, 21} : Beside{158, 10, 20};
}

/// Clocks of a warp alone per instruction: fixed stall counts in the control bits of the unrolled loops.
double read_clocks(const RowPassConfig& c) {
  if (c.residual) return 2.4;
  return c.type == DataType::kFp32 ? 3.4 : 1.9;
}
double first_clocks(const RowPassConfig& c) { return !c.in_shared && c.type != DataType::kFp32 ? 2.2 : 3.2; }
double second_clocks(const RowPassConfig& c) {
  if (c.kind != RowPassKind::kSoftmax) return 2.0;
  return c.vector == 1 ? 2.3 : 1.5;
}
double write_clocks(const RowPassConfig& c) { return c.vector == 1 ? 2.4 : 1.8; }

constexpr double kEveryWarp = 55;    ///< of these, what warps without columns take too
constexpr std::uint32_t kGroup = 4;  ///< trips of an unrolled loop whose loads are in flight together
/// Where single words are read, the widest of the unrolled loops.
constexpr std::uint32_t kWordGroup = 16;

/// Shared-memory wavefronts of a warp for one vector of each lane. Lanes are a vector apart: 16-byte accesses of eight
/// words a lane meet in pairs, single words meet as often as a vector has words.
double wide_wavefronts(const RowPassConfig& c) { return c.vector == 1 ? 1 : (c.vector == 4 ? 4 : 16); }
double word_wavefronts(const RowPassConfig& c) { return double{1} * c.vector * c.vector; }

/// Reduction over the CTA: a shuffle tree, a word for each warp, every warp reads them all. Wavefronts as counted: 32
/// read, 8 written, 40 of shuffles.
CtaStep reduction() {
  constexpr double kLevels = 5;
  Arithmetic chain;
  chain.chain = kLevels * (kShuffleSteps + 1) + 2 * barrier_steps(kWarps) + 2 * kSharedSteps + kWarps;
  CtaStep step = compute_step(chain, kWarps);
  step.whole = true;
  step.op.smem_read_wavefronts = 72;
  step.op.smem_write_wavefronts = 8;
  return step;
}

class Planner {
 public:
  explicit Planner(const RowPassConfig& config) : c_(config), bits_(bits_of(config.type)) {
    tile_.rows_total = c_.rows;
    tile_.cols = std::uint64_t{kThreads} * c_.vector;
    tile_.cols_total = c_.cols;
    tile_.warp_cols = kWarpLanes * c_.vector;
    trips_ = static_cast<std::uint32_t>((c_.cols + tile_.cols - 1) / tile_.cols);
  }

  CtaProgram run() {
    place();
    CtaStep setup = compute_step(Arithmetic{.other = kEveryWarp, .chain = 24}, kWarps, false);
    setup.whole = true;
    setup.op.smem_read_wavefronts = kWarps;
    setup.op.tensor_insts = kWarps * (c_.kind == RowPassKind::kSoftmax ? c_.vector % 8 / 4 : 2);  // wide multiplies
    CtaStep rest = compute_step(rest_of_warp(), kWarps, false);
    rest.whole = true;  // an average of all warps
    once({setup, rest});
    if (c_.in_shared) read_row();
    if (c_.kind != RowPassKind::kRmsNorm) phase(first_cost(c_), first_clocks(c_), false);
    phase(second_cost(c_), second_clocks(c_), c_.kind == RowPassKind::kSoftmax && c_.in_shared);
    write_row();
    return std::move(program_);
  }

 private:
  void place() {
    Launch& l = program_.launch;
    l.name = c_.name;
    l.family = "row_pass";
    l.grid.x = static_cast<std::uint32_t>(c_.rows);
    l.block.x = kThreads;
    l.registers_per_thread = c_.registers;
    l.smem_static_bytes = kWarps * 4;
    l.smem_dynamic_bytes = c_.in_shared ? static_cast<std::uint32_t>(c_.cols * 4) : 0;
    l.code_bytes = 16384;
    const std::uint64_t matrix = c_.rows * c_.cols * bits_ / 8;
    const std::uint64_t vector = c_.cols * bits_ / 8;
    x_ = add_buffer(l, "input", matrix);
    if (c_.residual) residual_ = add_buffer(l, "residual", matrix);
    if (c_.kind != RowPassKind::kSoftmax) gain_ = add_buffer(l, "gain", vector);
    if (c_.kind == RowPassKind::kLayerNorm) shift_ = add_buffer(l, "shift", vector);
    for (const Buffer& b : l.buffers) l.work.compulsory_read_bytes += static_cast<double>(b.bytes);
    y_ = add_buffer(l, "output", matrix);
    if (c_.residual) sum_ = add_buffer(l, "sum", matrix);
    l.work.compulsory_write_bytes = static_cast<double>(matrix) * (c_.residual ? 2 : 1);
    l.work.fp32_flops = 6.0 * static_cast<double>(c_.rows * c_.cols);
  }

  [[nodiscard]] CtaStep access(MemDir dir, std::uint64_t base, bool rows, std::uint32_t trips = 1) const {
    CtaStep step = access_step(dir, base, bits_, rows ? c_.cols * bits_ / 8 : 0, trips, kWarps);
    constexpr std::uint32_t kWavefrontBytes = 128;
    step.op.pipe_work = trips * std::max(1U, c_.vector * bits_ / 8 * kWarpLanes / kWavefrontBytes);
    constexpr std::uint64_t kSectorBytes = 32;
    if (c_.cols * bits_ / 8 % kSectorBytes != 0) step.lane_bytes = c_.vector * bits_ / 8;
    return step;
  }

  /// What a warp executes beside its trips, on average. A warp whose last lanes take a trip less than its first goes
  /// through the loops twice, and the others wait for it.
  [[nodiscard]] Arithmetic rest_of_warp() const {
    const Beside cost = beside(c_);
    const std::uint64_t warp_cols = std::uint64_t{kWarpLanes} * c_.vector;
    const auto of_trips = [&](std::uint64_t trips) {
      return (trips >= kGroup ? cost.unrolled : 0) + cost.left_over * static_cast<double>(trips % kGroup);
    };
    double sum = 0, twice = 0;
    for (std::uint64_t warp = 0; warp < kWarps; ++warp) {
      const std::uint64_t before = warp * warp_cols;
      const std::uint64_t most = c_.cols > before ? (c_.cols - before + tile_.cols - 1) / tile_.cols : 0;
      if (most > 0) sum += cost.setup - kEveryWarp + of_trips(most);
      const std::uint64_t last_lane = before + warp_cols - c_.vector;
      const std::uint64_t least = c_.cols > last_lane ? (c_.cols - last_lane + tile_.cols - 1) / tile_.cols : 0;
      if (least < most && least > 0) twice = of_trips(least) + static_cast<double>(least) * trip_instructions();
    }
    return Arithmetic{.other = (sum + twice) / kWarps, .chain = issue_chain(sum / kWarps + twice)};
  }

  /// Of all phases, accesses to global memory included.
  [[nodiscard]] double trip_instructions() const {
    double all = second_cost(c_).total() + write_cost(c_).total() + 1;
    if (c_.in_shared) all += read_cost(c_).total() + 1;
    if (c_.kind != RowPassKind::kRmsNorm) all += first_cost(c_).total();
    if (!c_.in_shared) all += 3;
    return all + (c_.residual ? 2 : 0) + (gain_ != 0 ? 1 : 0) + (shift_ != 0 ? 1 : 0);
  }

  /// One walk over the row.
  void walk(std::vector<CtaStep> steps) {
    CtaLoop loop;
    loop.tile = tile_;
    loop.trips = trips_;
    loop.steps = std::move(steps);
    program_.loops.push_back(std::move(loop));
  }
  void once(std::vector<CtaStep> steps) {
    walk(std::move(steps));
    program_.loops.back().trips = 1;
  }
  /// The same for loops that load and store nothing: what the unrolled ones leave over goes first, trip by trip, then
  /// groups whose loads are all issued before the first is waited for. `steps_of` plans a group of so many trips.
  template <typename StepsOf>
  void walk_in_groups(const StepsOf& steps_of) {
    std::uint32_t done = 0;
    const auto add = [&](std::uint32_t group, std::uint32_t times) {
      if (times == 0) return;
      CtaLoop loop;
      loop.tile = tile_;
      loop.tile.from_col = done * tile_.cols;
      loop.tile.cols = group * tile_.cols;
      loop.trips = times;
      loop.steps = steps_of(group);
      program_.loops.push_back(std::move(loop));
      done += group * times;
    };
    add(1, trips_ % kGroup);
    for (std::uint32_t group = c_.vector == 1 ? kWordGroup : kGroup; group >= kGroup; group /= 2) {
      add(group, (trips_ - done) / group);
    }
  }

  /// Arithmetic of a walk, with `read` and `written` wavefronts of shared memory a warp and vector. Both take the LSU's
  /// one data path, as global accesses do.
  [[nodiscard]] static std::vector<CtaStep> work(const Arithmetic& cost, double clocks, bool waits, double read,
                                                 double written) {
    std::vector<CtaStep> steps;
    if (read + written > 0) {
      CtaStep& ports = steps.emplace_back(compute_step(Arithmetic{}, kWarps, waits));
      ports.op.pipe = Pipe::kLsu;
      ports.op.pipe_work = rounded(read + written);
      ports.op.smem_read_wavefronts = rounded(read * kWarps);
      ports.op.smem_write_wavefronts = rounded(written * kWarps);
    }
    steps.push_back(compute_step(cost, kWarps, waits, clocks));
    return steps;
  }

  /// Exponentials go word by word in the unrolled loop (four vectors of four, two of eight) and by whole vectors in the
  /// loop of what is left.
  [[nodiscard]] double exponential_wavefronts() const {
    if (c_.vector == 1) return 1;
    const std::uint32_t unrolled = trips_ - trips_ % (16 / c_.vector);
    return (unrolled * word_wavefronts(c_) + (trips_ - unrolled) * wide_wavefronts(c_)) / trips_;
  }

  static void append(std::vector<CtaStep>& steps, std::vector<CtaStep> more) {
    steps.insert(steps.end(), more.begin(), more.end());
  }

  /// With a residual each trip stores its sum before the next loads, since the compiler cannot exclude that they
  /// overlap; the same goes for write_row().
  void read_row() {
    if (!c_.residual) {
      walk_in_groups([&](std::uint32_t trips) {
        std::vector<CtaStep> steps = {access(MemDir::kLoad, x_, true, trips)};
        append(steps,
               work(static_cast<double>(trips) * read_cost(c_), read_clocks(c_), true, 0, trips * wide_wavefronts(c_)));
        return steps;
      });
      return;
    }
    std::vector<CtaStep> steps = {access(MemDir::kLoad, x_, true), access(MemDir::kLoad, residual_, true)};
    append(steps, work(read_cost(c_), read_clocks(c_), true, 0, wide_wavefronts(c_)));
    steps.push_back(access(MemDir::kStore, sum_, true));
    walk(std::move(steps));
  }

  void phase(const Arithmetic& cost, double clocks, bool writes_back) {
    if (c_.in_shared) {
      const double wavefronts = writes_back ? exponential_wavefronts() : wide_wavefronts(c_);
      walk(work(cost, clocks, false, wavefronts, writes_back ? wavefronts : 0));
    } else {
      walk_in_groups([&](std::uint32_t trips) {
        std::vector<CtaStep> steps = {access(MemDir::kLoad, x_, true, trips)};
        append(steps, work(static_cast<double>(trips) * cost, clocks, true, 0, 0));
        return steps;
      });
    }
    once({reduction()});
  }

  void write_row() {
    std::vector<CtaStep> steps;
    if (!c_.in_shared) steps.push_back(access(MemDir::kLoad, x_, true));
    if (gain_ != 0) steps.push_back(access(MemDir::kLoad, gain_, false));
    if (shift_ != 0) steps.push_back(access(MemDir::kLoad, shift_, false));
    append(steps, work(write_cost(c_), write_clocks(c_), !steps.empty(), c_.in_shared ? wide_wavefronts(c_) : 0, 0));
    steps.push_back(access(MemDir::kStore, y_, true));
    walk(std::move(steps));
  }

  RowPassConfig c_;
  std::uint32_t bits_;
  CtaTile tile_;
  std::uint32_t trips_ = 1;
  std::uint64_t x_ = 0, residual_ = 0, gain_ = 0, shift_ = 0, y_ = 0, sum_ = 0;
  CtaProgram program_;
};

}  // namespace

std::unique_ptr<TraceSource> make_row_pass(const RowPassConfig& config) {
  const bool vectors = config.vector == 1 || config.vector == 4 || config.vector == 8;
  if (config.rows == 0 || config.cols == 0 || !vectors || config.cols % config.vector != 0) {
    throw ModelBug("row pass: inconsistent configuration");
  }
  return make_cta_program(Planner(config).run());
}

}  // namespace strata

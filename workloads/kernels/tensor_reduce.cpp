#include "workloads/kernels/tensor_reduce.hpp"

#include <algorithm>
#include <bit>

#include "sim/base/error.hpp"
#include "workloads/kernels/block_reduce.hpp"
#include "workloads/kernels/cta_program.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kWarpLanes = 32;
constexpr std::uint32_t kGroups = 4;        ///< streams of a CTA whose warps are independent: powers of two
constexpr std::uint64_t kVectorFrom = 128;  ///< inputs from which accesses become vectors
constexpr std::uint64_t kMinValuesPerThread = 16;
constexpr std::uint64_t kMaxValuesPerThread = 256;

// A logical reduction of bool takes 313 instructions per warp of 4 trips and 957 of 32 (267, 291, 405 and 589 of 2, 3,
// 8 and 16): 23 a trip, 221 beside them, of which 28 are the shuffle tree and the store. Sums of rows take 706 of 46
// trips (fp32, four values each), 291 and 655 of 3 and 18 (bf16, eight values): 10.6 and 24.3 a trip beside the same
// 220.
constexpr double kSetup = 193;
constexpr Arithmetic kTrip{.fma = 0, .alu = 4, .mufu = 0, .other = 1.6, .chain = 3};
constexpr double kStridedAddress = 6;  ///< offset of an element that is not in a vector
/// S2R and S2UR of the set-up, as the wavefront counter sees them; a wide multiply on the tensor-pipe counter.
constexpr std::uint32_t kSetupWavefronts = 3;
constexpr std::uint32_t kTensorCounted = 1;

/// Combining two values. kLogical and kExtreme from executed instructions (the largest of 2720 values of 16 bits takes
/// 991 a warp, of 14,352 over 16 warps 525: 7 a value, as both sides are widened for each comparison, by IMAD.U32), the
/// others from the operator's definition.
Arithmetic combine(ReduceOperator op, DataType type) {
  switch (op) {
    case ReduceOperator::kLogical:
      return {.fma = 0, .alu = 3.6, .mufu = 0, .other = 0.5, .chain = 2};
    case ReduceOperator::kExtreme:
      return {.fma = bits_of(type) == 16 ? 3.0 : 0.0, .alu = 3, .mufu = 0, .other = 0, .chain = 2};
    case ReduceOperator::kIndexed:
      return {.fma = 0, .alu = 8, .mufu = 0, .other = 1, .chain = 4};
    case ReduceOperator::kWelford:
      return {.fma = 8, .alu = 2, .mufu = 1, .other = 4, .chain = 16};
    case ReduceOperator::kSum:
      break;
  }
  return {.fma = 1, .alu = 0, .mufu = 0, .other = 0, .chain = 1};
}

std::uint32_t values_moved(ReduceOperator op) {
  return op == ReduceOperator::kWelford ? 3 : (op == ReduceOperator::kIndexed ? 2 : 1);
}

std::uint64_t limited_power(std::uint64_t dim, std::uint64_t limit) {
  return dim < limit ? std::bit_floor(std::max<std::uint64_t>(dim, 1)) : limit;
}

/// How a thread's loads follow each other.
struct Walk {
  CtaTile tile;
  std::uint32_t trips = 1;
  std::uint32_t loads = 1;     ///< instructions of a trip
  std::uint64_t elements = 1;  ///< of a thread in a trip
};

class Builder {
 public:
  explicit Builder(const ReduceConfig& c) : c_(c), plan_(plan_reduce(c)) {
    warps_ = std::max(1U, (plan_.block_x * plan_.block_y + kWarpLanes - 1) / kWarpLanes);
    level_ = TreeLevel{combine(c.op, c.input), values_moved(c.op)};
  }

  CtaProgram build() {
    set_launch();
    const Walk walk = c_.shape.contiguous ? along_inputs() : along_outputs();
    CtaLoop setup;
    setup.tile = whole_cta();
    CtaStep first = compute_step(integer_code(kSetup), warps_, false);
    first.op.smem_read_wavefronts = kSetupWavefronts * warps_;
    first.op.tensor_insts = kTensorCounted * warps_;
    setup.steps = {first};
    CtaLoop loop;
    loop.tile = walk.tile;
    loop.trips = walk.trips;
    const std::uint32_t bits = bits_of(c_.input);
    const std::uint64_t pitch = (c_.shape.contiguous ? c_.shape.inputs : c_.shape.outputs) * bits / 8;
    const double converted = bits < 32 && c_.input != DataType::kBool ? 1 : 0;
    const double address = plan_.vector_input ? 0 : kStridedAddress * walk.loads;
    loop.steps = {
        access_step(MemDir::kLoad, program_.launch.buffers[0].base, bits, pitch, walk.loads, warps_),
        compute_step(static_cast<double>(walk.elements) * (combine(c_.op, c_.input) + Arithmetic{.alu = converted}) +
                         kTrip + Arithmetic{.alu = address},
                     warps_)};
    CtaLoop after;
    after.tile = whole_cta();
    after.steps = reductions();
    program_.loops = {setup, loop, after};
    // Warps with rows of their own wait for each other once: block_x_reduce synchronises the CTA before its shuffles.
    if (!plan_.y_reduces && c_.shape.contiguous && walk.tile.rows == warps_) {
      program_.groups = std::min(warps_, kGroups);
      synchronise(program_.loops.back(), warps_ / program_.groups);
    }
    add_results();
    return std::move(program_);
  }

 private:
  void set_launch() {
    Launch& l = program_.launch;
    l.name = c_.name;
    l.family = "reduce";
    l.grid = Dim3{static_cast<std::uint32_t>(plan_.grid_x), plan_.ctas_per_output, 1};
    l.block = Dim3{plan_.block_x, plan_.block_y, 1};
    l.registers_per_thread = c_.registers;
    l.code_bytes = 12288;
    l.constant_lines = 6;  // executed SASS: the configuration and two offset calculations lie in a kilobyte
    const std::uint64_t in_bytes = c_.shape.outputs * c_.shape.inputs * bits_of(c_.input) / 8;
    const std::uint64_t out_bytes = std::max<std::uint64_t>(1, c_.shape.outputs * bits_of(c_.output) / 8);
    add_buffer(l, "input", in_bytes);
    add_buffer(l, "output", out_bytes);
    l.work.compulsory_read_bytes = static_cast<double>(in_bytes);
    l.work.compulsory_write_bytes = static_cast<double>(out_bytes);
    l.work.fp32_flops = static_cast<double>(c_.shape.outputs * c_.shape.inputs);
  }

  /// A barrier of all groups before the first step.
  void synchronise(CtaLoop& loop, std::uint32_t warps) {
    program_.launch.named_barrier_warps[0] = static_cast<std::uint16_t>(warps_);
    CtaStep barrier;
    barrier.op.kind = OpKind::kBarrier;
    barrier.op.completes[0] =
        Signal{TokenClass::kNamedBarrier, 0, SignalAt::kIssue, static_cast<std::uint8_t>(warps), 0};
    loop.steps.front().op.waits[1] = Wait{TokenClass::kNamedBarrier, 0, 1};
    loop.steps.insert(loop.steps.begin(), barrier);
  }

  [[nodiscard]] std::uint32_t outputs_per_cta() const {
    const std::uint32_t x = plan_.x_reduces ? 1 : plan_.block_x * c_.output_vector;
    return x * (plan_.y_reduces ? 1 : plan_.block_y);
  }

  [[nodiscard]] CtaTile whole_cta() const {
    CtaTile t;
    t.rows_total = plan_.grid_x;
    return t;
  }

  /// Rows are outputs, columns are inputs.
  [[nodiscard]] Walk along_inputs() const {
    Walk w;
    const std::uint32_t lanes = plan_.block_x * (plan_.y_reduces ? plan_.block_y : 1);
    w.loads = plan_.vector_input ? 1 : c_.unroll;
    w.elements = plan_.vector_input ? c_.input_vector : c_.unroll;
    w.tile.rows = outputs_per_cta();
    w.tile.rows_total = c_.shape.outputs;
    w.tile.cols = std::min<std::uint64_t>(c_.shape.inputs, lanes * w.elements);
    w.tile.cols_total = c_.shape.inputs;
    w.tile.col_axis = CtaAxis::kY;
    w.tile.trip_cols = w.tile.cols * plan_.ctas_per_output;
    w.tile.warp_cols = static_cast<std::uint32_t>(std::min<std::uint64_t>(kWarpLanes * w.elements, w.tile.cols));
    w.trips = static_cast<std::uint32_t>(ceil_div(c_.shape.inputs, w.tile.trip_cols));
    return w;
  }

  /// Rows are inputs, columns are outputs: threads of y, CTAs of grid y and trips all advance rows, which a tile does
  /// not; a CTA takes its share of the rows as consecutive blocks instead of interleaved ones.
  [[nodiscard]] Walk along_outputs() const {
    Walk w;
    w.loads = c_.unroll;
    w.elements = std::uint64_t{c_.unroll} * c_.output_vector;
    const std::uint64_t rows_at_once = std::uint64_t{plan_.y_reduces ? plan_.block_y : 1} * c_.unroll;
    w.tile.rows = static_cast<std::uint32_t>(std::min(c_.shape.inputs, rows_at_once));
    w.tile.rows_total = c_.shape.inputs;
    w.tile.row_axis = CtaAxis::kY;
    w.tile.trip_rows = w.tile.rows * std::uint64_t{plan_.ctas_per_output};
    w.tile.cols = std::min<std::uint64_t>(c_.shape.outputs, outputs_per_cta());
    w.tile.cols_total = c_.shape.outputs;
    w.tile.col_axis = CtaAxis::kX;
    w.tile.warp_cols = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(w.tile.cols, std::uint64_t{std::min(plan_.block_x, kWarpLanes)} * c_.output_vector));
    w.trips = static_cast<std::uint32_t>(ceil_div(c_.shape.inputs, w.tile.trip_rows));
    return w;
  }

  /// Between the threads that share an output: shared memory for y and for x beyond a warp, shuffles within one.
  [[nodiscard]] std::vector<CtaStep> reductions() const {
    std::vector<CtaStep> steps;
    std::uint32_t levels = 0;
    if (plan_.y_reduces) levels += static_cast<std::uint32_t>(std::bit_width(plan_.block_y) - 1);
    if (plan_.x_reduces && plan_.block_x > kWarpLanes) {
      levels += static_cast<std::uint32_t>(std::bit_width(plan_.block_x / kWarpLanes) - 1);
    }
    if (levels > 0) {
      Arithmetic one = level_.combine;
      one.other += 6 + 2.0 * level_.shuffles;
      one.chain += barrier_steps(warps_) + 2 * kSharedSteps;
      CtaStep shared = compute_step(levels * one, warps_, false);
      shared.op.smem_read_wavefronts = warps_ * level_.shuffles;
      shared.op.smem_write_wavefronts = warps_ * level_.shuffles * 2;
      steps.push_back(shared);
    }
    if (plan_.x_reduces) {
      steps.push_back(warp_reduce_step(level_, std::min(plan_.block_x, kWarpLanes), warps_));
    }
    return steps;
  }

  /// The outputs of a CTA. Where several CTAs share an output, each leaves its value and counts itself, and the last
  /// one reads them all; here each reads as much as it left, which is the same in total.
  void add_results() {
    Launch& l = program_.launch;
    CtaLoop results;
    results.tile.rows_total = 1;
    results.tile.row_axis = CtaAxis::kNone;
    results.tile.cols = outputs_per_cta();
    results.tile.cols_total = c_.shape.outputs;
    results.tile.col_axis = CtaAxis::kX;
    results.tile.warp_cols = static_cast<std::uint32_t>(results.tile.cols);
    if (plan_.ctas_per_output > 1) {
      const std::uint64_t staged = add_buffer(l, "staging", c_.shape.outputs * plan_.ctas_per_output * 4);
      const std::uint64_t semaphores = add_buffer(l, "semaphores", plan_.grid_x * 4);
      CtaStep leave = access_step(MemDir::kStore, staged, 32, 0, 1.0, warps_);
      CtaStep arrive = access_step(MemDir::kAtomic, semaphores, 32, 0, 1.0 / warps_, warps_);
      const Arithmetic fence{.fma = 0, .alu = 0, .mufu = 0, .other = 20, .chain = kFenceSteps};
      CtaStep gather = access_step(MemDir::kLoad, staged, 32, 0, 1.0, warps_);
      results.steps = {leave, compute_step(fence, warps_, false), arrive, gather,
                       compute_step(Arithmetic{.other = 10} + combine(c_.op, c_.input), warps_)};
    }
    results.steps.push_back(access_step(MemDir::kStore, l.buffers[1].base, bits_of(c_.output), 0, 1.0, warps_));
    program_.loops.push_back(results);
  }

  /// __threadfence (680 clk) and an atomic's round trip (about 290), in steps of 4 clk.
  static constexpr double kFenceSteps = 240;

  ReduceConfig c_;
  ReducePlan plan_;
  CtaProgram program_;
  TreeLevel level_;
  std::uint32_t warps_ = 1;
};

}  // namespace

ReducePlan plan_reduce(const ReduceConfig& c) {
  ReducePlan p;
  const ReduceShape& s = c.shape;
  std::uint64_t dim0 = s.contiguous ? s.inputs : s.outputs;
  const std::uint64_t dim1 = s.contiguous ? s.outputs : s.inputs;
  if (s.contiguous && dim0 >= kVectorFrom) {
    p.vector_input = true;
    dim0 /= c.input_vector;
  } else if (!s.contiguous) {
    dim0 /= c.output_vector;
  }
  const std::uint64_t limit = c.max_threads / c.output_vector;
  const std::uint64_t x = limited_power(dim0, limit);
  const std::uint64_t y = limited_power(dim1, limit);
  std::uint64_t width = std::min<std::uint64_t>(x, kWarpLanes);
  const std::uint64_t height = std::min(y, limit / width);
  width = std::min(x, limit / height);
  p.block_x = static_cast<std::uint32_t>(width);
  p.block_y = static_cast<std::uint32_t>(height);
  std::uint64_t step_input = 1;
  std::uint64_t step_output = 1;
  p.x_reduces = s.contiguous;
  (p.x_reduces ? step_input : step_output) *= p.x_reduces ? width : width * c.output_vector;
  const auto values = [&] { return ceil_div(s.inputs, step_input); };
  p.y_reduces = values() >= height * kMinValuesPerThread || values() >= kMaxValuesPerThread;
  (p.y_reduces ? step_input : step_output) *= height;
  p.grid_x = ceil_div(s.outputs, step_output);
  const std::uint64_t target = std::uint64_t{c.num_sms} * (c.threads_per_sm / (width * height));
  if (p.y_reduces && values() >= kMaxValuesPerThread && p.grid_x <= target) {
    const std::uint64_t to_fill = ceil_div(target, p.grid_x);
    const std::uint64_t at_most = ceil_div(values(), kMinValuesPerThread);
    const std::uint64_t at_least = ceil_div(values(), kMaxValuesPerThread);
    p.ctas_per_output = static_cast<std::uint32_t>(std::max(std::min(to_fill, at_most), at_least));
  }
  return p;
}

std::unique_ptr<TraceSource> make_tensor_reduce(const ReduceConfig& c) {
  if (c.shape.outputs == 0 || c.shape.inputs == 0 || c.unroll == 0 || c.input_vector == 0 || c.output_vector == 0 ||
      c.max_threads < kWarpLanes || c.max_threads > 1024) {
    throw ModelBug("reduce: inconsistent configuration");
  }
  return make_cta_program(Builder(c).build());
}

}  // namespace strata

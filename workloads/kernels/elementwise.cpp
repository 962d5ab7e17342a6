#include "workloads/kernels/elementwise.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/kernels/cta_program.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kWarpLanes = 32;
constexpr std::uint32_t kMaxLaneBytes = 16;
constexpr std::uint32_t kMaxOperations = TraceSource::kMinFetch;

// Warp instructions per warp beside loads, stores, conversions and the functor: counted in the SASS (sm_90) of
// PyTorch's kernels, with executed counts; those of calibration rows agree.
constexpr double kVectorizedSetup = 13;  ///< index, bounds and the address of the output
constexpr double kVectorizedPerInput = 3;
constexpr double kFillSetup = 17;
constexpr double kPackedFill = 3;  ///< small values are packed into registers first: 24 per warp of 4 stores
constexpr double kUnrolledSetup = 19;
constexpr double kUnrolledPerElement = 4;  ///< bounds check and address
// A cast takes a run-time type switch when an element is loaded and one when it is stored. The conversion is a branch
// of the switch, so a load is waited for before the next one is issued.
constexpr double kCastSetup = 28;  ///< before the first load
constexpr double kCastPerLoad = 25.33;
constexpr double kCastPerStore = 23.75;
/// Clocks that a warp alone takes per instruction of that code, most of them branches: stall samples other than those
/// of memory and fetch over those of issue, four launches.
constexpr double kCastClocks = 7;
constexpr std::uint32_t kCastCodeBytes = 29824;  ///< four elements
// Strided: an element's bounds checks and the end of the offset calculation; of each dimension the magic division; of
// each operand the strides and the address.
constexpr double kStridedSetup = 10;
constexpr double kStridedPerElement = 8;
constexpr double kStridedPerDim = 9;
constexpr double kStridedPerOperand = 3;
constexpr std::uint32_t kStridedCodeBytes = 5120;   ///< an element's: the calculation is unrolled for 25 dimensions
constexpr std::uint32_t kStridedConstantLines = 3;  ///< executed: counts, strides, addresses; they lie 300 bytes apart
/// Moves of constants by the FP16 pipe, which the tensor-pipe counter includes: one per element of a strided kernel;
/// the where kernel of two dimensions shows a third.
constexpr double kStridedTensorCounted = 1;
/// Shared-memory wavefronts every warp shows, and those of the cast's jump table and of where's operands.
constexpr std::uint32_t kWavefrontsPerWarp = 1;
constexpr std::uint32_t kCastWavefronts = 3;

/// Offsets, bounds and branches by pipe, as strided kernels and casts execute them (pipe utilisation, Nsight Compute).
Arithmetic offset_code(double instructions) {
  return instructions * Arithmetic{.fma = 0.2, .alu = 0.35, .mufu = 0, .other = 0.45, .chain = 0};
}

/// Of one element of a strided kernel with so many operands, the output among them.
double strided_instructions(std::size_t operands, std::uint32_t dims) {
  const auto n = static_cast<double>(operands);
  const std::size_t pairs = (operands + 1) / 2;
  const double strides = n + static_cast<double>(pairs);  // multiplications, and constants two at a time
  return kStridedPerElement + (operands > 2 ? 1 : 0) + (kStridedPerDim + strides) * dims + kStridedPerOperand * n;
}

std::uint64_t stored_elements(const Operand& o, std::uint64_t elements) {
  switch (o.access) {
    case OperandAccess::kPeriodic:
      return std::min(o.extent, elements);
    case OperandAccess::kPerRow:
      return (elements + o.extent - 1) / o.extent;
    default:
      return elements;
  }
}

/// Instructions to bring one element to fp32 or back. The odd one of two packed elements is moved down first, each is
/// shifted, half of that by the FMA pipe; results are packed in pairs.
Arithmetic conversion(DataType from, DataType to) {
  if (from == to) return {};
  if (bits_of(to) < bits_of(from)) return Arithmetic{.alu = 0.5};
  return Arithmetic{.fma = 0.75, .alu = 0.75};
}

class Elementwise final : public TraceSource {
 public:
  explicit Elementwise(const ElementwiseConfig& config) : c_(config) {
    warps_ = (c_.block + kWarpLanes - 1) / kWarpLanes;
    span_ = std::uint64_t{c_.block} * c_.elements_per_thread;
    casts_ = c_.order == ThreadOrder::kUnrolled && c_.casts;
    steps_ = c_.order == ThreadOrder::kStrided || casts_ ? c_.elements_per_thread : 1;
    // Operands of a step share the operations of a fetch; the rest is arithmetic.
    max_pieces_ = (kMaxOperations - 1) / static_cast<std::uint32_t>(c_.inputs.size() + 1);
    const auto place = [&](const Operand& o, const std::string& name) {
      const std::uint64_t bytes = (stored_elements(o, c_.elements) * bits_of(o.type) + 7) / 8;
      add_buffer(launch_, name, bytes);
      return static_cast<double>(bytes);
    };
    for (std::size_t i = 0; i < c_.inputs.size(); ++i) {
      launch_.work.compulsory_read_bytes += place(c_.inputs[i], "input " + std::to_string(i));
    }
    launch_.work.compulsory_write_bytes = place(c_.output, "output");
    const FunctorCost& cost = cost_of(c_.functor);
    launch_.work.fp32_flops = cost.fp32_flops * static_cast<double>(c_.elements);
    launch_.work.mufu_ops = cost.mufu * static_cast<double>(c_.elements);
    launch_.name = c_.name;
    launch_.family = "elementwise";
    const std::uint64_t ctas = c_.ctas != 0 ? c_.ctas : (c_.elements + span_ - 1) / span_;
    launch_.grid = Dim3{static_cast<std::uint32_t>(ctas), 1, 1};
    launch_.block = Dim3{c_.block, 1, 1};
    launch_.registers_per_thread = c_.registers;
    launch_.streams = {StreamInfo{0, static_cast<std::uint16_t>(warps_), "warps"}};
    launch_.code_bytes = 4096;
    if (casts_) launch_.code_bytes = kCastCodeBytes;
    if (c_.order == ThreadOrder::kStrided) {
      launch_.code_bytes = kStridedCodeBytes * c_.elements_per_thread;
      launch_.constant_lines = kStridedConstantLines;
    }
    launch_.repeats_every = repeats_every();
    build_compute();
  }

  [[nodiscard]] const Launch& launch() const override { return launch_; }

  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    std::uint64_t& step = cursor.state[0];
    std::uint64_t& loaded = cursor.state[1];  // operations whose data a wait counts
    const std::uint64_t share = span_ / steps_;
    const std::uint64_t start = id.cta * span_;
    const std::uint64_t in_cta = start < c_.elements ? std::min(span_, c_.elements - start) : 0;
    const std::uint64_t steps = std::max<std::uint64_t>(1, ceil_div(in_cta, share));
    if (step >= steps) return 0;
    const bool last = step + 1 == steps;
    const std::uint64_t first = start + step * share;
    const std::uint64_t count = std::min(share, in_cta - std::min(in_cta, step * share));
    std::uint32_t n = 0;
    for (std::size_t i = 0; count > 0 && i < c_.inputs.size(); ++i) {
      n += access(c_.inputs[i], launch_.buffers[i].base, MemDir::kLoad, first, count, out.subspan(n));
    }
    const std::uint32_t loads = n;
    loaded += loads;
    out[n] = casts_ && !last ? between_loads_ : compute_;
    if (step == 0) out[n].dependent_latency += setup_chain_;
    wait_for(out[n++], loaded);
    if (step == 0) {
      Operation& leading = out[0];
      leading.issue_slots += setup_slots_;
      leading.warp_insts += setup_slots_ * warps_;
    }
    const std::uint64_t stored = !casts_ ? count : last ? in_cta : 0;
    if (stored > 0) {
      n += access(c_.output, launch_.buffers.back().base, MemDir::kStore, casts_ ? start : first, stored,
                  out.subspan(n));
    }
    ++step;
    return n;
  }

 private:
  /// CTAs after which columns of an input start on new lines; 1 where operands are read in the output's order.
  [[nodiscard]] std::uint64_t repeats_every() const {
    std::uint64_t ctas = 1;
    for (const Operand& o : c_.inputs) {
      if (o.access != OperandAccess::kTransposed) continue;
      constexpr std::uint64_t kLineBits = 1024;
      ctas = std::max(ctas, ceil_div(kLineBits / bits_of(o.type) * o.extent, span_));
    }
    return ctas;
  }

  static void wait_for(Operation& op, std::uint64_t loads) {
    if (loads > 0) op.waits[0] = Wait{TokenClass::kScoreboard, 0, static_cast<std::uint32_t>(loads)};
  }

  /// What a functor costs more for its operands of 16 bits.
  [[nodiscard]] double widened(const FunctorCost& cost) const {
    return cost.narrow * static_cast<double>(std::count_if(c_.inputs.begin(), c_.inputs.end(),
                                                           [](const Operand& o) { return bits_of(o.type) == 16; }));
  }

  /// What a functor in fp32 needs besides: operands and results of 16 bits are converted.
  [[nodiscard]] Arithmetic conversions() const {
    if (c_.order == ThreadOrder::kUnrolled && c_.casts) return {};  // the cast's switch converts too
    Arithmetic convert;
    if (c_.functor == Functor::kCopy) {
      for (const Operand& o : c_.inputs) convert = convert + conversion(o.type, c_.output.type);
    } else if (bits_of(c_.output.type) == 16) {
      convert = static_cast<double>(c_.inputs.size()) * conversion(c_.output.type, DataType::kFp32);
      if (c_.functor != Functor::kFill) convert = convert + conversion(DataType::kFp32, c_.output.type);
    }
    return convert;
  }

  [[nodiscard]] double setup() const {
    const auto inputs = static_cast<double>(c_.inputs.size());
    switch (c_.order) {
      case ThreadOrder::kStrided:
        return kStridedSetup;
      case ThreadOrder::kUnrolled:
        return c_.casts ? kCastSetup : kUnrolledSetup;
      case ThreadOrder::kVectorized:
        break;
    }
    return inputs > 0 ? kVectorizedSetup + kVectorizedPerInput * inputs : kFillSetup;
  }

  /// The arithmetic of one step.
  void build_compute() {
    const FunctorCost& cost = cost_of(c_.functor);
    const double per_thread = static_cast<double>(c_.elements_per_thread) / static_cast<double>(steps_);
    const bool binary = c_.functor == Functor::kAdd || c_.functor == Functor::kMul;
    double before = setup() + cost.scalars + (binary && c_.inputs.size() == 1 ? 1 : 0);  // the other operand, a scalar
    std::uint32_t wavefronts = kWavefrontsPerWarp;
    double tensor_counted = cost.fp16_moves * per_thread;
    Arithmetic work =
        per_thread * (Arithmetic{.fma = cost.fma, .alu = cost.alu + widened(cost), .mufu = cost.mufu} + conversions());
    if (casts_) {
      Arithmetic load = offset_code(kCastPerLoad);
      load.chain = issue_chain(load.total(), kCastClocks);
      between_loads_ = compute_operation(load, warps_);
      work = offset_code(kCastPerStore * static_cast<double>(steps_));
      work.chain = issue_chain(work.total(), kCastClocks);
      wavefronts = kCastWavefronts;
    } else if (c_.order == ThreadOrder::kUnrolled) {
      work = work + offset_code(kUnrolledPerElement * per_thread);
    } else if (c_.order == ThreadOrder::kStrided) {
      const bool where = c_.functor == Functor::kWhere;  // of three operands, one a scalar
      const std::size_t operands = c_.inputs.size() + (where ? 2 : 1);
      work = work + offset_code(strided_instructions(operands, c_.dims) * per_thread);
      tensor_counted += kStridedTensorCounted * per_thread;
      if (where) {
        tensor_counted += (c_.dims - 1.0) / static_cast<double>(steps_);
        wavefronts = c_.dims + 1;
      }
    }
    if (c_.functor == Functor::kFill && bits_of(c_.output.type) < 32) work.alu += kPackedFill;
    if (c_.counted) {
      before = c_.counted->other;
      work = *c_.counted;
      work.other = 0;
    }
    setup_slots_ = rounded(before);
    compute_ = compute_operation(work, warps_);
    Arithmetic first = work;
    first.chain = std::max(work.chain, issue_chain(work.total())) + issue_chain(before);
    setup_chain_ = compute_operation(first, warps_).dependent_latency - compute_.dependent_latency;
    compute_.pc = 2;
    compute_.smem_read_wavefronts = rounded(static_cast<double>(wavefronts * warps_) / static_cast<double>(steps_));
    compute_.tensor_insts = rounded(tensor_counted * warps_) + c_.counted_tensor * warps_;
    between_loads_.pc = 4;
    between_loads_.smem_read_wavefronts = compute_.smem_read_wavefronts;
  }

  [[nodiscard]] Operation base_op(MemDir dir, std::uint32_t instructions) const {
    Operation op;
    op.kind = OpKind::kMemory;
    op.pipe = Pipe::kLsu;
    op.pc = dir == MemDir::kLoad ? 1 : 3;
    op.pipe_work = instructions;
    op.issue_slots = instructions;
    op.warp_insts = instructions * warps_;
    op.mem.dir = dir;
    if (dir == MemDir::kLoad) op.completes[0] = Signal{TokenClass::kScoreboard, 0, SignalAt::kDataVisible, 1, 0};
    return op;
  }

  /// The operations that load or store `count` elements of one operand from element `first` on.
  std::uint32_t access(const Operand& o, std::uint64_t base, MemDir dir, std::uint64_t first, std::uint64_t count,
                       std::span<Operation> out) const {
    const std::uint64_t bits = bits_of(o.type);
    const std::uint32_t vector = c_.order == ThreadOrder::kVectorized ? c_.vector : 1;
    const auto lane_bytes = std::max(1U, static_cast<std::uint32_t>(vector * bits / 8));
    const std::uint32_t split = (lane_bytes + kMaxLaneBytes - 1) / kMaxLaneBytes;
    const auto groups = static_cast<std::uint32_t>(ceil_div(count, std::uint64_t{c_.block} * vector));
    const std::uint32_t instructions = groups * split;
    const auto bytes_at = [&](std::uint64_t element) { return element * bits / 8; };
    switch (o.access) {
      case OperandAccess::kPerRow: {
        Operation& op = out[0] = base_op(dir, instructions);
        op.mem.address = base + bytes_at(first / o.extent);
        if (o.extent < c_.block) {  // lanes of one instruction differ
          op.mem.rows = 1;
          op.mem.row_bytes = static_cast<std::uint32_t>(
              std::max<std::uint64_t>(1, bytes_at((first % o.extent + count + o.extent - 1) / o.extent)));
          op.mem.row_pitch = op.mem.row_bytes;
          return 1;
        }
        op.mem.pattern = Pattern::kLanes;
        op.mem.rows = instructions;
        op.mem.row_pitch = static_cast<std::int64_t>(bytes_at(c_.block / o.extent));
        op.mem.lane_bytes = static_cast<std::uint8_t>(std::max<std::uint64_t>(1, bits / 8));
        return 1;
      }
      case OperandAccess::kTransposed:
        return transposed(o, base, dir, first, count, instructions, out);
      case OperandAccess::kPermuted:
        return permuted(o, base, dir, first, count, instructions, out);
      case OperandAccess::kPeriodic:
      case OperandAccess::kFull:
        break;
    }
    if (split > 1 && count == span_ && o.access == OperandAccess::kFull) {
      for (std::uint32_t g = 0; g < groups; ++g) {
        Operation& op = out[g] = base_op(dir, split);
        op.mem.pattern = Pattern::kLanes;
        op.mem.address = base + bytes_at(first) + std::uint64_t{g} * c_.block * lane_bytes;
        op.mem.rows = split;
        op.mem.row_pitch = kMaxLaneBytes;
        op.mem.lane_pitch = static_cast<std::int32_t>(lane_bytes);
        op.mem.warp_pitch = std::int64_t{kWarpLanes} * lane_bytes;
        op.mem.lane_bytes = kMaxLaneBytes;
      }
      return groups;
    }
    // Contiguous pieces; a periodic operand wraps.
    std::uint32_t n = 0;
    std::uint64_t at = o.access == OperandAccess::kPeriodic ? first % o.extent : first;
    const std::uint64_t limit = o.access == OperandAccess::kPeriodic ? o.extent : at + count;
    while (count > 0 && n < max_pieces_) {
      const std::uint64_t piece = std::min(count, limit - at);
      Operation& op = out[n];
      op = base_op(dir, n == 0 ? instructions : 0);
      ++n;
      op.mem.address = base + bytes_at(at);
      op.mem.rows = 1;
      op.mem.row_bytes = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (piece * bits + 7) / 8));
      op.mem.row_pitch = op.mem.row_bytes;
      count -= piece;
      at = 0;
    }
    return n;
  }

  /// A box of single elements, a row of the matrix apart, for every output row that the elements touch.
  std::uint32_t transposed(const Operand& o, std::uint64_t base, MemDir dir, std::uint64_t first, std::uint64_t count,
                           std::uint32_t instructions, std::span<Operation> out) const {
    const std::uint64_t bytes = std::max(1U, bits_of(o.type) / 8);
    std::uint32_t n = 0;
    while (count > 0 && n < max_pieces_) {
      const std::uint64_t at = first % o.extent;
      const std::uint64_t piece = std::min(count, o.extent - at);
      Operation& op = out[n];
      op = base_op(dir, n == 0 ? instructions : 0);
      ++n;
      op.mem.address = base + (at * o.inner + first / o.extent) * bytes;
      op.mem.rows = static_cast<std::uint32_t>(piece);
      op.mem.row_bytes = static_cast<std::uint32_t>(bytes);
      op.mem.row_pitch = static_cast<std::int64_t>(o.inner * bytes);
      op.mem.lane_bytes = static_cast<std::uint8_t>(bytes);
      op.mem.lane_pitch = static_cast<std::int32_t>(bytes);  // a lane each
      count -= piece;
      first += piece;
    }
    return n;
  }

  /// Boxes of runs: rows along `inner` are `middle` runs apart in memory.
  std::uint32_t permuted(const Operand& o, std::uint64_t base, MemDir dir, std::uint64_t first, std::uint64_t count,
                         std::uint32_t instructions, std::span<Operation> out) const {
    const std::uint64_t run_bytes = o.extent * bits_of(o.type) / 8;
    std::uint32_t n = 0;
    std::uint64_t run = first / o.extent;
    std::uint64_t runs = (first % o.extent + count + o.extent - 1) / o.extent;
    const bool part = count < o.extent;  // a CTA inside one run
    while (runs > 0 && n < max_pieces_) {
      const std::uint64_t inner = run % o.inner;
      const std::uint64_t middle = run / o.inner % o.middle;
      const std::uint64_t outer = run / o.inner / o.middle;
      const std::uint64_t rows = std::min(runs, o.inner - inner);
      Operation& op = out[n];
      op = base_op(dir, n == 0 ? instructions : 0);
      ++n;
      op.mem.address = base + ((outer * o.inner + inner) * o.middle + middle) * run_bytes;
      op.mem.rows = static_cast<std::uint32_t>(rows);
      op.mem.row_bytes = static_cast<std::uint32_t>(part ? count * bits_of(o.type) / 8 : run_bytes);
      op.mem.row_pitch = static_cast<std::int64_t>(o.middle * run_bytes);
      if (part) op.mem.address += first % o.extent * bits_of(o.type) / 8;
      runs -= rows;
      run += rows;
    }
    return n;
  }

  ElementwiseConfig c_;
  Launch launch_;
  Operation compute_;
  Operation between_loads_;  ///< casts: from a load's data to the next load
  bool casts_ = false;
  std::uint32_t warps_ = 4;
  std::uint64_t span_ = 1024;
  std::uint64_t steps_ = 1;       ///< that a thread's elements are taken in, one after another
  std::uint32_t max_pieces_ = 8;  ///< operations that one operand of a step may take
  std::uint32_t setup_slots_ = 0;
  std::uint32_t setup_chain_ = 0;  ///< that the set-up adds to the first step's arithmetic
};

}  // namespace

std::unique_ptr<TraceSource> make_elementwise(const ElementwiseConfig& config) {
  if (config.elements == 0 || config.block == 0 || config.vector == 0 || config.elements_per_thread == 0 ||
      config.elements_per_thread % config.vector != 0 || config.inputs.size() > kMaxInputs) {
    throw ModelBug("elementwise: inconsistent configuration");
  }
  return std::make_unique<Elementwise>(config);
}

}  // namespace strata

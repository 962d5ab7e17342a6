#include "workloads/kernels/elementwise.hpp"

#include <algorithm>

#include "sim/base/error.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kWarpLanes = 32;
constexpr std::uint32_t kMaxLaneBytes = 16;
constexpr std::uint64_t kAlignment = std::uint64_t{2} << 20;
constexpr std::uint64_t kFirstAddress = std::uint64_t{1} << 32;
constexpr std::uint32_t kMaxPieces = 8;  ///< operations that one operand of a CTA may take

// Warp instructions per warp beside loads, stores, conversions and the functor, from calibration rows.
constexpr double kVectorizedSetup = 17;  ///< indices, bounds, addresses: mul, isneginf, fill and fp32->bf16 copy agree
constexpr double kUnrolledSetup = 19;
constexpr double kUnrolledPerElement = 45;  ///< run-time type switch of a cast: 207 per warp of 4 elements
constexpr double kStridedSetup = 43;
constexpr double kStridedPerElementDim = 15;  ///< magic division: 92 at one dimension, 122 at two, two elements each
/// Multiply-high instructions that the tensor-pipe counter includes: one per element of a strided kernel; the where
/// kernel of two dimensions shows a third.
constexpr double kStridedTensorCounted = 1;
/// Shared-memory wavefronts every warp shows, and those of the cast's jump table and of where's operands.
constexpr std::uint32_t kWavefrontsPerWarp = 1;
constexpr std::uint32_t kUnrolledWavefronts = 3;

std::uint64_t align_up(std::uint64_t v) { return (v + kAlignment - 1) / kAlignment * kAlignment; }

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

/// Instructions to bring one element to fp32 or back: 16-bit types are unpacked singly and packed in pairs.
double conversion(DataType from, DataType to) {
  if (from == to) return 0;
  return bits_of(to) < bits_of(from) ? 0.5 : 1.0;
}

class Elementwise final : public TraceSource {
 public:
  explicit Elementwise(const ElementwiseConfig& config) : c_(config) {
    warps_ = (c_.block + kWarpLanes - 1) / kWarpLanes;
    span_ = std::uint64_t{c_.block} * c_.elements_per_thread;
    std::uint64_t next = kFirstAddress;
    const auto place = [&](const Operand& o, const std::string& name) {
      const std::uint64_t bytes = (stored_elements(o, c_.elements) * bits_of(o.type) + 7) / 8;
      launch_.buffers.push_back(Buffer{name, next, bytes});
      next += align_up(bytes);
      return bytes;
    };
    for (std::size_t i = 0; i < c_.inputs.size(); ++i) {
      launch_.work.compulsory_read_bytes += static_cast<double>(place(c_.inputs[i], "input " + std::to_string(i)));
    }
    launch_.work.compulsory_write_bytes = static_cast<double>(place(c_.output, "output"));
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
    build_compute();
  }

  [[nodiscard]] const Launch& launch() const override { return launch_; }

  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    if (cursor.state[0] != 0) return 0;
    cursor.state[0] = 1;
    const std::uint64_t first = id.cta * span_;
    const std::uint64_t count = first < c_.elements ? std::min(span_, c_.elements - first) : 0;
    std::uint32_t n = 0;
    if (count > 0) {
      for (std::size_t i = 0; i < c_.inputs.size(); ++i) {
        n += access(c_.inputs[i], launch_.buffers[i].base, MemDir::kLoad, first, count, out.subspan(n));
      }
    }
    const std::uint32_t loads = n;
    if (loads > 0) {
      out[0].issue_slots += setup_slots_;
      out[0].warp_insts += setup_slots_ * warps_;
    }
    out[n] = compute_;
    if (loads > 0) {
      out[n].waits[0] = Wait{TokenClass::kScoreboard, 0, loads};
    } else {
      out[n].issue_slots += setup_slots_;
      out[n].warp_insts += setup_slots_ * warps_;
    }
    ++n;
    if (count > 0) n += access(c_.output, launch_.buffers.back().base, MemDir::kStore, first, count, out.subspan(n));
    return n;
  }

 private:
  void build_compute() {
    const FunctorCost& cost = cost_of(c_.functor);
    const double per_thread = c_.elements_per_thread;
    double setup = kVectorizedSetup;
    double extra = 0;
    std::uint32_t wavefronts = kWavefrontsPerWarp;
    double tensor_counted = 0;
    if (c_.order == ThreadOrder::kUnrolled) {
      setup = kUnrolledSetup;
      extra = kUnrolledPerElement * per_thread;
      wavefronts = kUnrolledWavefronts;
    } else if (c_.order == ThreadOrder::kStrided) {
      setup = kStridedSetup;
      extra = kStridedPerElementDim * per_thread * c_.dims;
      tensor_counted = kStridedTensorCounted * per_thread;
      if (c_.functor == Functor::kWhere) {
        tensor_counted += c_.dims - 1.0;
        wavefronts = c_.dims + 1;
      }
    }
    double convert = 0;
    if (c_.order != ThreadOrder::kUnrolled) {  // the unrolled cast's switch converts too
      if (c_.functor == Functor::kCopy) {
        for (const Operand& o : c_.inputs) convert += conversion(o.type, c_.output.type);
      } else if (bits_of(c_.output.type) == 16) {  // arithmetic is in fp32
        convert = static_cast<double>(c_.inputs.size()) + (c_.functor == Functor::kFill ? 0 : 0.5);
      }
    }
    if (c_.counted) setup = c_.counted->other;
    setup_slots_ = static_cast<std::uint32_t>(setup + 0.5);
    const double alu = c_.counted ? c_.counted->alu : per_thread * (cost.alu + convert) + extra;
    const double fma = c_.counted ? c_.counted->fma : per_thread * cost.fma;
    const double mufu = c_.counted ? c_.counted->mufu : per_thread * cost.mufu;
    compute_.kind = OpKind::kCompute;
    compute_.pc = 2;
    compute_.issue_slots = static_cast<std::uint32_t>(alu + fma + mufu + 0.5);
    compute_.warp_insts = compute_.issue_slots * warps_;
    compute_.dependent_latency = compute_.issue_slots / std::max(1U, c_.elements_per_thread) + 1;
    // The slowest of the pipes: MUFU takes a quarter of the FMA rate, ALU half of it.
    compute_.pipe = Pipe::kAlu;
    compute_.pipe_work = static_cast<std::uint32_t>(alu + 0.5);
    if (4 * mufu > alu) {
      compute_.pipe = Pipe::kMufu;
      compute_.pipe_work = static_cast<std::uint32_t>(mufu + 0.5);
      compute_.dependent_latency = static_cast<std::uint32_t>(2 * cost.mufu + 1);  // in MUFU latencies
    } else if (fma > 2 * alu) {
      compute_.pipe = Pipe::kFma;
      compute_.pipe_work = static_cast<std::uint32_t>(fma + 0.5);
    }
    compute_.smem_read_wavefronts = wavefronts * warps_;
    compute_.tensor_insts = static_cast<std::uint32_t>(tensor_counted * warps_ + 0.5) + c_.counted_tensor * warps_;
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
    const std::uint32_t groups = c_.elements_per_thread / vector;
    const std::uint32_t instructions = groups * split;
    const auto bytes_at = [&](std::uint64_t element) { return element * bits / 8; };
    switch (o.access) {
      case OperandAccess::kPerRow: {
        Operation& op = out[0] = base_op(dir, instructions);
        op.mem.pattern = Pattern::kLanes;
        op.mem.address = base + bytes_at(first / o.extent);
        op.mem.rows = instructions;
        op.mem.row_pitch = static_cast<std::int64_t>(bytes_at(c_.block / o.extent));
        op.mem.lane_bytes = static_cast<std::uint8_t>(std::max<std::uint64_t>(1, bits / 8));
        return 1;
      }
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
    while (count > 0 && n < kMaxPieces) {
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

  /// Boxes of runs: rows along `inner` are `middle` runs apart in memory.
  std::uint32_t permuted(const Operand& o, std::uint64_t base, MemDir dir, std::uint64_t first, std::uint64_t count,
                         std::uint32_t instructions, std::span<Operation> out) const {
    const std::uint64_t run_bytes = o.extent * bits_of(o.type) / 8;
    std::uint32_t n = 0;
    std::uint64_t run = first / o.extent;
    std::uint64_t runs = (first % o.extent + count + o.extent - 1) / o.extent;
    const bool part = count < o.extent;  // a CTA inside one run
    while (runs > 0 && n < kMaxPieces) {
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
  std::uint32_t warps_ = 4;
  std::uint64_t span_ = 1024;
  std::uint32_t setup_slots_ = 0;
};

}  // namespace

std::unique_ptr<TraceSource> make_elementwise(const ElementwiseConfig& config) {
  if (config.elements == 0 || config.block == 0 || config.vector == 0 || config.elements_per_thread == 0 ||
      config.elements_per_thread % config.vector != 0 || config.inputs.size() > 3) {
    throw ModelBug("elementwise: inconsistent configuration");
  }
  return std::make_unique<Elementwise>(config);
}

}  // namespace strata

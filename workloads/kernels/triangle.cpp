#include "workloads/kernels/triangle.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/kernels/cta_program.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kWarpLanes = 32;
constexpr std::uint32_t kMaxRows = 8;  ///< row pieces of a CTA; more rows than that are taken as one piece, all kept

// Executed SASS (bool, 8 elements of a thread, H200): two 64-bit divisions and the offsets, then index, comparison and
// store of each element, 161 instructions of every warp; 129 of warps that keep an element, for its offsets, loads and
// comparisons; 8 zeros of warps with a thread that keeps none. 247 on average with 1024 columns, of whose warps 5/8
// keep something, 299 with 256, where all do. 2 on the tensor-pipe counter, 1 wavefront.
constexpr double kSetup = 97;
constexpr double kStored = 7;  ///< of an element, beside its store
constexpr double kLoadSetup = 9;
constexpr double kLoaded = 15;  ///< of an element, its load included
/// Clocks per instruction of a warp alone: 5.2 by stall samples (Nsight Compute, H200), fetches and memory left out.
constexpr double kClocks = 5.2;

class Triangle final : public TraceSource {
 public:
  explicit Triangle(const TriangleConfig& c) : c_(c) {
    warps_ = c.threads / kWarpLanes;
    const std::uint64_t ept = c.elements_per_thread;
    padded_ = (c.cols + ept - 1) / ept * ept;
    span_ = c.threads * ept;
    total_ = c.matrices * c.rows * padded_;
    launch_.name = c.name;
    launch_.family = "triangle";
    launch_.grid.x = static_cast<std::uint32_t>((total_ + span_ - 1) / span_);
    launch_.block.x = c.threads;
    launch_.registers_per_thread = c.registers;
    launch_.code_bytes = 6144;
    launch_.constant_lines = 6;  // executed SASS: sizes and strides of two tensors
    launch_.streams = {StreamInfo{0, static_cast<std::uint16_t>(warps_), "warps"}};
    const std::uint64_t bytes = c.matrices * c.rows * c.cols * bits_of(c.type) / 8;
    add_buffer(launch_, "input", bytes);
    add_buffer(launch_, "output", bytes);
    launch_.work.compulsory_read_bytes = kept_share() * static_cast<double>(bytes);
    launch_.work.compulsory_write_bytes = static_cast<double>(bytes);
  }

  [[nodiscard]] const Launch& launch() const override { return launch_; }

  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    if (cursor.state[0] != 0) return 0;
    cursor.state[0] = 1;
    std::uint32_t n = 0;
    out[n++] = arithmetic(kSetup);
    out[0].smem_read_wavefronts = warps_;
    out[0].tensor_insts = 2 * warps_;
    const double elements = c_.elements_per_thread;
    const double keeping = keeping_share(id.cta);
    const std::uint32_t loads = pieces(id.cta, MemDir::kLoad, keeping * elements, out.subspan(n));
    n += loads;
    Operation& work = out[n++];
    work =
        arithmetic(elements * kStored + keeping * (kLoadSetup + elements * (kLoaded - 1)) + (1 - keeping) * elements);
    work.pc = 2;
    if (loads > 0) work.waits[0] = Wait{TokenClass::kScoreboard, 0, loads};
    return n + pieces(id.cta, MemDir::kStore, elements, out.subspan(n));
  }

 private:
  /// Pipe utilisation (Nsight Compute, H200): 0.42 of the instructions on the ALU, 0.22 on the FMA pipe.
  [[nodiscard]] Operation arithmetic(double instructions) const {
    Arithmetic work = instructions * Arithmetic{.fma = 0.22, .alu = 0.42, .mufu = 0, .other = 0.36, .chain = 0};
    work.chain = issue_chain(work.total(), kClocks);
    return compute_operation(work, warps_);
  }

  [[nodiscard]] double kept_share() const {
    const auto side = static_cast<double>(std::min(c_.rows, c_.cols));
    return std::min(1.0, 0.5 * side * side / static_cast<double>(c_.rows * c_.cols) +
                             (c_.rows > c_.cols ? 1.0 - side / static_cast<double>(c_.rows) : 0.0));
  }

  /// Warps of a CTA with an element that is kept.
  [[nodiscard]] double keeping_share(std::uint64_t cta) const {
    if (padded_ * kMaxRows < span_) return 1;
    std::uint32_t keeping = 0;
    const std::uint64_t part = span_ / warps_;
    for (std::uint64_t first = cta * span_; first < (cta + 1) * span_; first += part) {
      bool keeps = false;
      for (std::uint64_t at = first; at < first + part && at < total_ && !keeps; at += padded_ - at % padded_) {
        std::uint64_t from = at % padded_;
        std::uint64_t to = std::min(c_.cols, from + (first + part - at));
        clip(at / padded_ % c_.rows, from, to);
        keeps = from < to;
      }
      keeping += keeps ? 1 : 0;
    }
    return static_cast<double>(keeping) / warps_;
  }

  /// The kept columns [first, last) of columns [from, to) of a row; loads touch these only.
  void clip(std::uint64_t row, std::uint64_t& from, std::uint64_t& to) const {
    const std::int64_t edge = static_cast<std::int64_t>(row) + c_.diagonal + (c_.upper ? 0 : 1);
    const auto bound = static_cast<std::uint64_t>(std::max<std::int64_t>(0, edge));
    if (c_.upper) {
      from = std::max(from, bound);
    } else {
      to = std::min(to, bound);
    }
  }

  /// `instructions` of a warp on average.
  std::uint32_t pieces(std::uint64_t cta, MemDir dir, double instructions, std::span<Operation> out) const {
    std::uint64_t at = cta * span_;
    const std::uint64_t end = std::min(total_, at + span_);
    const std::uint32_t element = std::max(1U, bits_of(c_.type) / 8);
    std::uint32_t n = 0;
    if (padded_ * kMaxRows < span_) {
      add_piece(dir, at * element, (end - at), instructions, out[n]);
      return 1;
    }
    while (at < end && n < kMaxRows) {
      const std::uint64_t row = at / padded_;
      std::uint64_t from = at % padded_;
      std::uint64_t to = std::min(padded_, from + (end - at));
      at += to - from;
      to = std::min(to, c_.cols);
      if (dir == MemDir::kLoad) clip(row % c_.rows, from, to);
      if (from >= to) continue;
      add_piece(dir, (row * c_.cols + from) * element, to - from, n == 0 ? instructions : 0, out[n]);
      ++n;
    }
    return n;
  }

  /// Instruction i touches element i of every thread: the same sectors each time.
  void add_piece(MemDir dir, std::uint64_t offset, std::uint64_t elements, double instructions, Operation& op) const {
    const std::uint32_t element = std::max(1U, bits_of(c_.type) / 8);
    const std::uint64_t base = launch_.buffers[dir == MemDir::kLoad ? 0 : 1].base;
    const auto sweeps = static_cast<std::uint32_t>(std::min<std::uint64_t>(c_.elements_per_thread, elements));
    op = access_step(dir, base, element * 8, 0, instructions, warps_).op;
    if (instructions == 0) op.issue_slots = op.pipe_work = op.warp_insts = 0;
    op.mem.address = base + offset;
    op.mem.rows = sweeps;
    op.mem.row_pitch = element;
    op.mem.row_bytes = static_cast<std::uint32_t>((elements - sweeps + 1) * element);
    if (sweeps > 1) {
      op.mem.lane_bytes = static_cast<std::uint8_t>(element);
      op.mem.lane_pitch = static_cast<std::int32_t>(c_.elements_per_thread * element);
    }
    if (sweeps > 1 && elements == span_) {
      op.mem.pattern = Pattern::kLanes;
      op.mem.warp_pitch = std::int64_t{op.mem.lane_pitch} * kWarpLanes;
    }
    if (dir == MemDir::kLoad) op.completes[0] = Signal{TokenClass::kScoreboard, 0, SignalAt::kDataVisible, 1, 0};
  }

  TriangleConfig c_;
  Launch launch_;
  std::uint32_t warps_ = 4;
  std::uint64_t padded_ = 0;
  std::uint64_t span_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

std::unique_ptr<TraceSource> make_triangle(const TriangleConfig& config) {
  if (config.matrices == 0 || config.rows == 0 || config.cols == 0 || config.elements_per_thread == 0 ||
      config.threads < kWarpLanes || config.threads % kWarpLanes != 0) {
    throw ModelBug("triangle: inconsistent configuration");
  }
  return std::make_unique<Triangle>(config);
}

}  // namespace strata

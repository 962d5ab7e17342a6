#include "workloads/kernels/cta_program.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/base/error.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kWarpLanes = 32;
constexpr std::uint64_t kPage = std::uint64_t{2} << 20;
constexpr std::uint64_t kFirstAddress = std::uint64_t{1} << 32;

std::uint64_t coordinate(const Launch& launch, std::uint64_t cta, CtaAxis axis) {
  switch (axis) {
    case CtaAxis::kX:
      return cta % launch.grid.x;
    case CtaAxis::kY:
      return cta / launch.grid.x % launch.grid.y;
    case CtaAxis::kZ:
      return cta / launch.grid.x / launch.grid.y;
    case CtaAxis::kYZ:
      return cta / launch.grid.x;
    case CtaAxis::kNone:
      break;
  }
  return 0;
}

/// The part of a tile that exists.
struct Range {
  std::uint64_t first_row = 0;
  std::uint64_t rows = 0;
  std::uint64_t first_col = 0;
  std::uint64_t cols = 0;
  double share = 0;  ///< of the stream's warps
};

/// `group` of `groups` takes its part of the tile's rows.
Range range_of(const Launch& launch, const CtaTile& t, std::uint64_t cta, std::uint64_t trip, std::uint32_t group,
               std::uint32_t groups) {
  Range r;
  const std::uint32_t rows = t.rows == 1 ? 1 : t.rows / groups;
  const std::uint64_t trip_cols = t.trip_cols == 0 && t.trip_rows == 0 ? t.cols : t.trip_cols;
  const std::uint64_t z = t.row_parts > 1 || t.z_rows != 0 ? coordinate(launch, cta, CtaAxis::kZ) : 0;
  const std::uint64_t block = coordinate(launch, cta, t.row_axis) * t.row_parts + z % t.row_parts;
  r.first_row = block * t.rows + trip * t.trip_rows + (t.rows == 1 ? 0 : group * rows);
  r.first_col = t.from_col + coordinate(launch, cta, t.col_axis) * t.cols + trip * trip_cols;
  if (r.first_row < t.rows_total) r.rows = std::min<std::uint64_t>(rows, t.rows_total - r.first_row);
  if (r.first_col < t.cols_total) r.cols = std::min(t.cols, t.cols_total - r.first_col);
  r.first_row += z / t.row_parts * t.z_rows;
  r.share = static_cast<double>(r.rows) / rows * static_cast<double>(ceil_div(r.cols, t.warp_cols)) /
            static_cast<double>(ceil_div(t.cols, t.warp_cols));
  return r;
}

std::uint32_t part(std::uint32_t count, double share) { return rounded(count * share); }

/// Counts per warp by the share of the warps that take part, counts of all warps by the stream's part of them too.
void scale(Operation& op, double share, std::uint32_t groups) {
  for (std::uint32_t* count : {&op.issue_slots, &op.pipe_work}) *count = part(*count, share);
  for (std::uint32_t* count : {&op.warp_insts, &op.tensor_insts, &op.smem_read_wavefronts, &op.smem_write_wavefronts}) {
    *count = part(*count, share / groups);
  }
}

class CtaProgramSource final : public TraceSource {
 public:
  explicit CtaProgramSource(CtaProgram program)
      : launch_(std::move(program.launch)), loops_(std::move(program.loops)), groups_(program.groups) {
    launch_.repeats_every =
        launch_.global_counters == 0 ? launch_.grid.x == launch_.num_ctas() ? 1 : launch_.grid.x : 0;
    std::uint16_t pc = 0;
    for (CtaLoop& loop : loops_) {
      for (CtaStep& step : loop.steps) step.op.pc = ++pc;
    }
    const auto warps = static_cast<std::uint16_t>(launch_.warps_per_cta() / groups_);
    for (std::uint32_t g = 0; g < groups_; ++g) {
      launch_.streams.push_back(StreamInfo{static_cast<std::uint16_t>(g * warps), warps, "warps"});
    }
  }

  [[nodiscard]] const Launch& launch() const override { return launch_; }

  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    std::uint64_t& loop = cursor.state[0];
    std::uint64_t& trip = cursor.state[1];
    std::uint64_t& loads = cursor.state[2];
    std::uint32_t n = 0;
    while (n == 0 && loop < loops_.size()) {
      const CtaLoop& l = loops_[loop];
      if (trip < l.trips) {
        const Range range = range_of(launch_, l.tile, id.cta, trip, id.stream, groups_);
        for (const CtaStep& step : l.steps) {
          if (step.bits != 0 && l.tile.rows == 1 && id.stream != 0) continue;
          if (emit(step, range, loads, out[n])) ++n;
        }
        ++trip;
      } else {
        ++loop;
        trip = 0;
      }
    }
    return n;
  }

 private:
  bool emit(const CtaStep& step, const Range& range, std::uint64_t& loads, Operation& out) const {
    const bool nothing = range.rows == 0 || range.cols == 0;
    if (nothing && (step.bits != 0 || !step.whole)) return false;
    out = step.op;
    scale(out, step.whole ? 1.0 : range.share, groups_);
    if (step.bits != 0) {
      address(step, range, launch_.warps_per_cta(), out.mem);
      if (out.mem.dir == MemDir::kLoad) {
        out.completes[0] = Signal{TokenClass::kScoreboard, 0, SignalAt::kDataVisible, 1, 0};
      }
    }
    if (step.waits && loads > 0) out.waits[0] = Wait{TokenClass::kScoreboard, 0, static_cast<std::uint32_t>(loads)};
    if (out.completes[0].cls == TokenClass::kScoreboard) ++loads;
    return true;
  }

  static void address(const CtaStep& step, const Range& range, std::uint32_t warps, MemoryRef& mem) {
    const std::uint64_t first_bit = range.first_col * step.bits;
    const std::uint64_t bytes = ceil_div(first_bit % 8 + range.cols * step.bits, 8);
    mem.address = step.base + range.first_row * step.pitch + first_bit / 8;
    mem.rows = static_cast<std::uint32_t>(step.pitch == 0 ? 1 : range.rows);
    mem.row_bytes = static_cast<std::uint32_t>(bytes);
    mem.row_pitch = static_cast<std::int64_t>(step.pitch);
    if (step.turned) {
      turn(step, range, warps, mem);
      return;
    }
    if (step.pitch != 0 && step.pitch * 8 == step.bits) {
      mem.address = step.base + range.first_row * step.pitch;
      mem.rows = 1;
      mem.row_bytes = static_cast<std::uint32_t>(range.rows * step.pitch);
    }
    const std::uint64_t instruction = std::uint64_t{step.lane_bytes} * kWarpLanes * warps;
    if (step.lane_bytes != 0 && bytes % instruction == 0) {
      mem.pattern = Pattern::kLanes;
      mem.rows = static_cast<std::uint32_t>(bytes / instruction);
      mem.row_pitch = static_cast<std::int64_t>(instruction);
      mem.lane_bytes = static_cast<std::uint8_t>(step.lane_bytes);
      mem.lane_pitch = static_cast<std::int32_t>(step.lane_bytes);
      mem.warp_pitch = std::int64_t{step.lane_bytes} * kWarpLanes;
    }
    if (step.sweeps > 1) {  // instruction i touches element i of every vector
      const std::uint64_t element = std::max(1U, step.bits / 8);
      mem.rows = step.sweeps;
      mem.row_pitch = static_cast<std::int64_t>(element);
      mem.row_bytes = static_cast<std::uint32_t>(std::max<std::int64_t>(
          static_cast<std::int64_t>(element),
          static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>((step.sweeps - 1) * element)));
    }
  }

  /// Words of a tile's row go to rows of their own; a tile with fewer rows than warps is taken as one request.
  static void turn(const CtaStep& step, const Range& range, std::uint32_t warps, MemoryRef& mem) {
    const std::uint64_t element = step.bits / 8;
    mem.address = step.base + range.first_col * step.pitch + range.first_row * element;
    mem.rows = static_cast<std::uint32_t>(range.cols);
    mem.row_bytes = static_cast<std::uint32_t>(range.rows * element);
    if (range.rows != warps || range.cols > kWarpLanes) return;
    mem.pattern = Pattern::kLanes;
    mem.rows = 1;
    mem.lanes = static_cast<std::uint8_t>(range.cols);
    mem.lane_bytes = static_cast<std::uint8_t>(element);
    mem.lane_pitch = static_cast<std::int32_t>(step.pitch);
    mem.warp_pitch = static_cast<std::int64_t>(element);
  }

  Launch launch_;
  std::vector<CtaLoop> loops_;
  std::uint32_t groups_ = 1;
};

}  // namespace

std::unique_ptr<TraceSource> make_cta_program(CtaProgram program) {
  if (program.groups == 0 || program.launch.warps_per_cta() % program.groups != 0) {
    throw ModelBug("CTA program: groups do not divide the warps");
  }
  for (const CtaLoop& loop : program.loops) {
    const CtaTile& t = loop.tile;
    if (t.rows > 1 && t.rows % program.groups != 0) throw ModelBug("CTA program: groups do not divide the rows");
    if (loop.steps.size() > TraceSource::kMinFetch || t.rows == 0 || t.cols == 0 || t.warp_cols == 0) {
      throw ModelBug("CTA program: a loop with too many steps or an empty tile");
    }
    for (const CtaStep& s : loop.steps) {
      if (s.sweeps > 1 && t.rows > 1) throw ModelBug("CTA program: sweeps over several rows");
    }
  }
  return std::make_unique<CtaProgramSource>(std::move(program));
}

std::uint64_t add_buffer(Launch& launch, std::string name, std::uint64_t bytes) {
  std::uint64_t base = kFirstAddress;
  if (!launch.buffers.empty()) {
    const Buffer& last = launch.buffers.back();
    base = ceil_div(last.base + last.bytes, kPage) * kPage;
  }
  launch.buffers.push_back(Buffer{std::move(name), base, bytes});
  return base;
}

CtaStep access_step(MemDir dir, std::uint64_t base, std::uint32_t bits, std::uint64_t pitch, double instructions,
                    std::uint32_t warps) {
  CtaStep s;
  s.op.kind = OpKind::kMemory;
  s.op.pipe = Pipe::kLsu;
  s.op.pc = dir == MemDir::kLoad ? 1 : 3;
  s.op.issue_slots = std::max(1U, rounded(instructions));
  s.op.pipe_work = s.op.issue_slots;
  s.op.warp_insts = rounded(instructions * warps);
  s.op.mem.dir = dir;
  s.base = base;
  s.bits = bits;
  s.pitch = pitch;
  return s;
}

CtaStep compute_step(const Arithmetic& work, std::uint32_t warps, bool waits, double clocks) {
  CtaStep s;
  s.op = compute_operation(work, warps, clocks);
  s.op.pc = 2;
  s.waits = waits;
  return s;
}

}  // namespace strata

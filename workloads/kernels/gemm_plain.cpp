#include "workloads/kernels/gemm_plain.hpp"

#include <algorithm>
#include <array>

#include "sim/base/error.hpp"
#include "workloads/kernels/arithmetic.hpp"
#include "workloads/kernels/block_reduce.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kWord = 4;
constexpr std::uint32_t kNaiveSide = 16;
constexpr std::uint32_t kNaiveDepth = 4;  ///< a trip of the loop, which the compiler unrolls four times
constexpr std::uint32_t kTiledSide = 32;
constexpr std::uint32_t kWarpLanes = 32;
constexpr std::uint32_t kHalves = kWarpLanes / kNaiveSide;  ///< of a warp: rows of the CTA's block that it takes
constexpr std::uint32_t kTiledParts =
    4;  ///< operations of a tile's products, so that CTAs of an SM share its ports evenly

/// What the two kernels differ in.
struct Shape {
  std::uint32_t side;   ///< of a CTA's tile of C
  std::uint32_t depth;  ///< K elements of a step
  std::uint32_t warps;
};
constexpr Shape kNaiveShape{kNaiveSide, kNaiveDepth, kNaiveSide* kNaiveSide / kWarpLanes};
constexpr Shape kTiledShape{kTiledSide, kTiledSide, kTiledSide* kTiledSide / kWarpLanes};

class GemmPlain final : public TraceSource {
 public:
  explicit GemmPlain(const GemmPlainConfig& config)
      : c_(config), s_(config.tiled ? kTiledShape : kNaiveShape), addresses_(place_gemm(config.problem, 1)) {
    const auto tiles_m = static_cast<std::uint32_t>(ceil_div(static_cast<std::uint64_t>(c_.problem.m), s_.side));
    const auto tiles_n = static_cast<std::uint32_t>(ceil_div(static_cast<std::uint64_t>(c_.problem.n), s_.side));
    steps_ = ceil_div(static_cast<std::uint64_t>(c_.problem.k), s_.depth);
    launch_.name = c_.name;
    launch_.family = "gemm_plain";
    launch_.grid = c_.strided ? Dim3{tiles_m, tiles_n, 1} : Dim3{tiles_n, tiles_m, 1};
    launch_.block = Dim3{s_.side, s_.side, 1};
    launch_.registers_per_thread = c_.registers;
    launch_.smem_static_bytes = c_.tiled ? 2 * kTiledSide * (kTiledSide + c_.pad) * kWord : 0;
    launch_.streams = {StreamInfo{0, static_cast<std::uint16_t>(s_.warps), "warps"}};
    launch_.buffers = addresses_.buffers;
    launch_.work = gemm_work(c_.problem, 1);
    launch_.code_bytes = 4096;
    launch_.repeats_every = launch_.grid.x;
    plan();
  }

  [[nodiscard]] const Launch& launch() const override { return launch_; }

  /// state: 0 = next step + 1; 1 = loads issued.
  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    std::uint64_t& next = cursor.state[0];
    std::uint64_t& loads = cursor.state[1];
    if (next == 0) {
      next = 1;
      out[0] = setup_;
      return 1;
    }
    if (next > steps_ + 1) return 0;
    const std::uint64_t x = id.cta % launch_.grid.x * s_.side;
    const std::uint64_t y = id.cta / launch_.grid.x * s_.side;
    const std::uint64_t row = c_.strided ? x : y;
    const std::uint64_t col = c_.strided ? y : x;
    if (next == steps_ + 1) {
      ++next;
      return finish(row, col, loads, out);
    }
    const std::uint64_t k = (next++ - 1) * s_.depth;
    std::uint32_t n = 0;
    n += load(addresses_.a, row, k, c_.strided, 1, out[n]);
    n += load(addresses_.b, col, k, !c_.strided, 2, out[n]);
    loads += n;
    const std::uint32_t parts = c_.tiled ? kTiledParts : 1;
    for (std::uint32_t part = 0; part < parts; ++part) {
      if (accesses_.pipe_work > 0) out[n++] = accesses_;
      out[n++] = multiply_;
      Operation& first = out[n - (c_.tiled ? 2 : 1)];  // tiles are stored before they are read
      first.waits[0] = Wait{TokenClass::kScoreboard, 0, static_cast<std::uint32_t>(loads)};
    }
    return n;
  }

 private:
  void plan() {
    if (c_.tiled) {
      plan_tiled();
    } else {
      plan_naive();
    }
  }

  /// Warp instructions of four K elements in the compiled code (CUDA 13.0, sm_90a); 55 to 69 beside them.
  void plan_naive() {
    constexpr double kLoads = 8, kMultiplies = 4, kBeside = 58;
    constexpr double kClocks = 2.45;  // a warp alone, by the loops' control bits: 2.35 to 2.61
    const GemmProblem& p = c_.problem;
    double all = 29;
    if (p.b_k_contiguous && p.a_k_contiguous) all = 23;
    if (!p.b_k_contiguous && !p.a_k_contiguous) all = 31;
    setup_ = compute_operation(Arithmetic{.alu = kBeside / 2, .other = kBeside / 2, .chain = 16}, s_.warps);
    setup_.smem_read_wavefronts = 3 * s_.warps;
    const double rest = all - kLoads - kMultiplies;
    const Arithmetic trip{.fma = kMultiplies + rest / 3, .alu = rest * 2 / 3, .chain = kMultiplies};
    multiply_ = compute_operation(trip, s_.warps, kClocks);
  }

  /// The LSU is busy for so many wavefronts of a warp.
  void take_lsu(std::uint32_t wavefronts) {
    accesses_.kind = OpKind::kCompute;
    accesses_.pipe = Pipe::kLsu;
    accesses_.pc = 4;
    accesses_.issue_slots = 0;  // counted with the products
    accesses_.pipe_work = wavefronts;
  }

  /// 129 to 131 instructions a tile with padded rows: words of both operands; 99 to 101 without: the row of A is read
  /// four words at a time. Two barriers; tiles that are turned are stored with 32-way conflicts when unpadded.
  void plan_tiled() {
    constexpr std::uint32_t kWavefrontsOfWideRead = 2;  ///< all lanes read the same 16 B
    constexpr double kBeside = 48;
    const bool padded = c_.pad > 0;
    const std::uint32_t wide = padded ? 0 : kTiledSide / 4;
    const std::uint32_t words = padded ? 2 * kTiledSide : kTiledSide;
    const double all = padded ? 130 : 100;
    setup_ = compute_operation(Arithmetic{.alu = kBeside / 2, .other = kBeside / 2, .chain = 16}, s_.warps);
    setup_.smem_read_wavefronts = s_.warps;
    setup_.tensor_insts = s_.warps;
    Arithmetic work{.fma = kTiledSide + 4.0, .alu = 10, .other = 0};
    work.other = all - 2 - work.fma - work.alu;
    work.chain = kTiledSide + 2 * (barrier_steps(s_.warps) + kSharedSteps);
    constexpr double kPart = 1.0 / kTiledParts;
    multiply_ = compute_operation(kPart * work, s_.warps);
    const auto store_ways = [&](bool turned) { return turned && !padded ? kTiledSide : 1U; };
    const std::uint32_t ways = store_ways(!c_.problem.a_k_contiguous) + store_ways(c_.problem.b_k_contiguous);
    // One data path for both: unpadded tiles that are turned cost time though they are read with fewer wavefronts.
    const std::uint32_t reads = words + wide * kWavefrontsOfWideRead;
    take_lsu((reads + ways) / kTiledParts);
    accesses_.smem_read_wavefronts = s_.warps * reads / kTiledParts;
    accesses_.smem_write_wavefronts = s_.warps * ways / kTiledParts;
    accesses_.smem_conflicts = s_.warps * (ways - 2) / kTiledParts;
  }

  /// One operand's elements of a step. `fast`: neighbouring lanes take neighbouring rows along M or N; with K
  /// contiguous such lanes are a row apart. A tiled kernel always reads along the contiguous dimension.
  std::uint32_t load(const OperandView& view, std::uint64_t row, std::uint64_t k, bool fast, std::uint16_t pc,
                     Operation& op) const {
    const auto extent = static_cast<std::uint64_t>(view.extent);
    const auto depth = static_cast<std::uint64_t>(view.k);
    if (row >= extent || k >= depth) return 0;
    const auto rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(s_.side, extent - row));
    const auto deep = static_cast<std::uint32_t>(std::min<std::uint64_t>(s_.depth, depth - k));
    const std::uint32_t instructions = c_.tiled ? 1 : deep;
    op = Operation{};
    op.kind = OpKind::kMemory;
    op.pipe = Pipe::kLsu;
    op.pc = pc;
    op.issue_slots = op.pipe_work = instructions;
    op.warp_insts = instructions * s_.warps;
    op.completes[0] = Signal{TokenClass::kScoreboard, 0, SignalAt::kDataVisible, 1, 0};
    const std::uint64_t first = view.k_contiguous ? row : k;
    const std::uint64_t along = view.k_contiguous ? k : row;
    op.mem.address = view.base + first * static_cast<std::uint64_t>(view.pitch_bytes) + along * kWord;
    op.mem.row_pitch = view.pitch_bytes;
    op.mem.rows = view.k_contiguous ? rows : deep;
    op.mem.row_bytes = (view.k_contiguous ? deep : rows) * kWord;
    if (view.k_contiguous && !c_.tiled && (fast || rows == s_.side)) {  // lanes a row apart, 16 or those of two halves
      op.mem.pattern = Pattern::kLanes;
      op.mem.rows = deep;
      op.mem.row_pitch = kWord;
      op.mem.lane_pitch = static_cast<std::int32_t>(view.pitch_bytes);
      op.mem.lanes = static_cast<std::uint8_t>(fast ? rows : kHalves);
      op.mem.warp_pitch = fast ? 0 : kHalves * view.pitch_bytes;
      op.mem.lane_bytes = kWord;
    }
    return 1;
  }

  std::uint32_t finish(std::uint64_t row, std::uint64_t col, std::uint64_t loads, std::span<Operation> out) const {
    const GemmProblem& p = c_.problem;
    const auto rows = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(s_.side, static_cast<std::uint64_t>(p.m) - std::min<std::uint64_t>(row, p.m)));
    const auto cols = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(s_.side, static_cast<std::uint64_t>(p.n) - std::min<std::uint64_t>(col, p.n)));
    if (rows == 0 || cols == 0) return 0;
    Operation op;
    op.kind = OpKind::kMemory;
    op.pipe = Pipe::kLsu;
    op.pc = 3;
    op.issue_slots = op.pipe_work = 1;
    op.warp_insts = s_.warps;
    op.mem.dir = MemDir::kStore;
    op.mem.address = addresses_.c_base + row * static_cast<std::uint64_t>(addresses_.c_pitch_bytes) + col * kWord;
    op.mem.rows = rows;
    op.mem.row_bytes = cols * kWord;
    op.mem.row_pitch = addresses_.c_pitch_bytes;
    // The lanes of a warp hold two neighbouring columns of 16 rows. Sectors that warps touch one after the other leave
    // once if both come close in time: 0.33 to 0.80 of the requests of eight launches go on. Here those of half of the
    // rows do, as in GEMMs.
    Operation merged = op;
    if (c_.strided) {
      merged.mem.rows = rows / 2;
      merged.issue_slots = merged.pipe_work = 0;
      merged.warp_insts = 0;
      op.mem.address += merged.mem.rows * static_cast<std::uint64_t>(addresses_.c_pitch_bytes);
      op.mem.pattern = Pattern::kLanes;
      op.mem.rows = 1;
      op.mem.lane_pitch = static_cast<std::int32_t>(addresses_.c_pitch_bytes);
      op.mem.lanes = static_cast<std::uint8_t>(rows - merged.mem.rows);
      op.mem.lane_bytes = 2 * kWord;
      op.mem.warp_pitch = std::int64_t{2} * kWord;
    }
    std::uint32_t n = 0;
    if (c_.reads_c) {
      out[n] = op;
      out[n].mem.dir = MemDir::kLoad;
      out[n++].completes[0] = Signal{TokenClass::kScoreboard, 0, SignalAt::kDataVisible, 1, 0};
    }
    out[n] = op;
    out[n].waits[0] = Wait{TokenClass::kScoreboard, 0, static_cast<std::uint32_t>(loads + n)};
    if (c_.strided && merged.mem.rows > 0) out[++n] = merged;
    return n + 1;
  }

  GemmPlainConfig c_;
  Shape s_;
  GemmAddresses addresses_;
  std::uint64_t steps_ = 0;
  Operation setup_;
  Operation accesses_;  ///< the LSU's time for a step's accesses to banks: conflicts of loads, shared-memory wavefronts
  Operation multiply_;  ///< of a step, or one of its parts
  Launch launch_;
};

}  // namespace

std::unique_ptr<TraceSource> make_gemm_plain(const GemmPlainConfig& config, const TargetFacts& target) {
  const std::vector<Diagnostic> problems = check_gemm_problem(config.problem, target, 0);
  if (!problems.empty()) {
    throw InputError(problems);
  }
  return std::make_unique<GemmPlain>(config);
}

}  // namespace strata

#include "workloads/kernels/rotary.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/kernels/arithmetic.hpp"
#include "workloads/kernels/cta_program.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kWarps = 8;
constexpr std::uint32_t kTableVector = 4;  ///< fp32 elements of an access

class Rotary final : public TraceSource {
 public:
  explicit Rotary(const RotaryConfig& config) : c_(config) {
    const std::uint64_t bytes = c_.tokens * c_.heads * c_.head_dim * bits_of(c_.type) / 8;
    const std::uint64_t table = c_.tokens * half() * 4;
    rows_of_cta_ = std::max<std::uint64_t>(1, kThreads * c_.vector / half());
    launch_.name = c_.name;
    launch_.family = "rotary";
    launch_.grid.x = static_cast<std::uint32_t>((rows() + rows_of_cta_ - 1) / rows_of_cta_);
    launch_.block.x = kThreads;
    launch_.registers_per_thread = c_.registers;
    launch_.streams = {StreamInfo{0, kWarps, "warps"}};
    launch_.code_bytes = 4096;
    x_ = add_buffer(launch_, "input", bytes);
    cos_ = add_buffer(launch_, "cosines", table);
    sin_ = add_buffer(launch_, "sines", table);
    y_ = add_buffer(launch_, "output", bytes);
    launch_.work.compulsory_read_bytes = static_cast<double>(bytes + 2 * table);
    launch_.work.compulsory_write_bytes = static_cast<double>(bytes);
    launch_.work.fp32_flops = 3.0 * static_cast<double>(rows() * c_.head_dim);
  }

  [[nodiscard]] const Launch& launch() const override { return launch_; }

  std::uint32_t fetch(const StreamId& id, StreamCursor& cursor, std::span<Operation> out) const override {
    if (cursor.state[0] != 0) return 0;
    cursor.state[0] = 1;
    const std::uint64_t first = id.cta * rows_of_cta_;
    const auto count = static_cast<std::uint32_t>(std::min(rows_of_cta_, rows() - first));
    // Compiled code (CUDA 13.0, sm_90a): 113 and 163 instructions with accesses of four and eight elements.
    const bool wide = c_.vector > kTableVector;
    out[0] = compute_operation(wide ? Arithmetic{.fma = 26, .alu = 31, .mufu = 2, .other = 16}
                                    : Arithmetic{.fma = 22, .alu = 27, .mufu = 2, .other = 16},
                               kWarps);
    out[0].smem_read_wavefronts = kWarps;
    out[0].tensor_insts = kWarps;
    out[1] = half_rows(MemDir::kLoad, x_, first, count, 0);
    out[2] = half_rows(MemDir::kLoad, x_, first, count, 1);
    out[3] = angles(cos_, first, count);
    out[4] = angles(sin_, first, count);
    out[5] = compute_operation(wide ? Arithmetic{.fma = 40, .alu = 40} : Arithmetic{.fma = 20, .alu = 20}, kWarps);
    out[5].waits[0] = Wait{TokenClass::kScoreboard, 0, 4};
    out[6] = half_rows(MemDir::kStore, y_, first, count, 0);
    out[7] = half_rows(MemDir::kStore, y_, first, count, 1);
    return 8;
  }

 private:
  [[nodiscard]] std::uint64_t half() const { return c_.head_dim / 2; }
  [[nodiscard]] std::uint64_t rows() const { return c_.tokens * c_.heads; }

  [[nodiscard]] static Operation access(MemDir dir, std::uint32_t instructions) {
    Operation op = access_step(dir, 0, 0, 0, instructions, kWarps).op;
    if (dir == MemDir::kLoad) op.completes[0] = Signal{TokenClass::kScoreboard, 0, SignalAt::kDataVisible, 1, 0};
    return op;
  }

  /// One half of `count` heads.
  [[nodiscard]] Operation half_rows(MemDir dir, std::uint64_t base, std::uint64_t first, std::uint32_t count,
                                    std::uint64_t which) const {
    const std::uint64_t bytes = bits_of(c_.type) / 8;
    Operation op = access(dir, 1);
    op.mem.address = base + (first * c_.head_dim + which * half()) * bytes;
    op.mem.rows = count;
    op.mem.row_bytes = static_cast<std::uint32_t>(half() * bytes);
    op.mem.row_pitch = static_cast<std::int64_t>(c_.head_dim * bytes);
    return op;
  }

  /// The table's rows of the tokens that `count` heads belong to.
  [[nodiscard]] Operation angles(std::uint64_t base, std::uint64_t first, std::uint32_t count) const {
    const std::uint64_t token = first / c_.heads;
    const std::uint64_t tokens = (first + count - 1) / c_.heads - token + 1;
    Operation op = access(MemDir::kLoad, c_.vector / kTableVector);
    op.mem.address = base + token * half() * 4;
    op.mem.rows = static_cast<std::uint32_t>(tokens);
    op.mem.row_bytes = static_cast<std::uint32_t>(half() * 4);
    op.mem.row_pitch = op.mem.row_bytes;
    return op;
  }

  RotaryConfig c_;
  Launch launch_;
  std::uint64_t rows_of_cta_ = 1;
  std::uint64_t x_ = 0, cos_ = 0, sin_ = 0, y_ = 0;
};

}  // namespace

std::unique_ptr<TraceSource> make_rotary(const RotaryConfig& config) {
  const std::uint32_t v = config.vector;
  if (config.tokens == 0 || config.heads == 0 || config.head_dim == 0 || v % kTableVector != 0 || v == 0 ||
      config.head_dim % (2 * std::uint64_t{v}) != 0) {
    throw ModelBug("rotary: inconsistent configuration");
  }
  return std::make_unique<Rotary>(config);
}

}  // namespace strata

#include "workloads/kernels/gemm_mma_sync.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata {

namespace {

constexpr std::uint32_t kMaxAccumulatorRegisters = 192;  ///< fragments and addresses need the rest of 255
constexpr std::uint32_t kMmaRows = 16;
constexpr std::uint32_t kOtherRegisters = 72;  ///< fragments of one K step, addresses, loop state

std::uint32_t k_of(const GemmMmaSyncConfig& c) { return c.mma_k != 0 ? c.mma_k : mma_sync_k(c.problem.input); }

void check_type(const GemmMmaSyncConfig& c, const TargetFacts& target, std::vector<Diagnostic>& problems) {
  const DataType type = c.problem.input;
  const bool known = type == DataType::kFp16 || type == DataType::kBf16 || type == DataType::kTf32 ||
                     type == DataType::kInt8 || type == DataType::kFp8;
  if (!known || (type == DataType::kFp8 && !target.has_wgmma)) {
    problems.push_back({{},
                        0,
                        0,
                        "dtype",
                        fmt::format("{} has no mma.sync on {}; expected fp16, bf16, tf32, int8{}", to_string(type),
                                    target.architecture, target.has_wgmma ? " or fp8" : "")});
  }
}

void check_instruction(const GemmMmaSyncConfig& c, std::vector<Diagnostic>& problems) {
  const auto add = [&](const char* key, std::string message) {
    problems.push_back({{}, 0, 0, key, std::move(message)});
  };
  if (c.tile_k % (k_of(c) * c.warp_slices) != 0) {
    add("tile-k", fmt::format("{} is not a multiple of mma.sync's K, {} elements of {}{}", c.tile_k, k_of(c),
                              to_string(c.problem.input), c.warp_slices > 1 ? ", in every warp slice" : ""));
  }
  check_accumulators(c, kMaxAccumulatorRegisters, problems);
}

/// Clocks per instruction of a warp alone in a loop that loads through registers: 3.2 and 3.5 by stall samples of two
/// kernels of CUTLASS (Nsight Compute, H200), barriers and global loads left out.
constexpr double kStagedClocks = 3.35;

/// Of the instruction on an H100, whose dependent_latency counts it: 24 clk for 32 bytes of K, 17 for 16.
double mma_latency(const GemmMmaSyncConfig& c) { return 10 + 14.0 * k_of(c) * bits_of(c.problem.input) / 256; }

Operation plan_multiply(const GemmMmaSyncConfig& c, const GemmCtaPlan& plan) {
  const GemmProblem& p = c.problem;
  const std::uint32_t warps = plan.stream_warps;
  const std::uint32_t slice_k = c.tile_k / c.warp_slices;
  const std::uint32_t steps = slice_k / k_of(c);
  const std::uint32_t mmas = c.warp_m / 16 * (c.warp_n / 8) * steps;
  const std::uint32_t element_bytes = plan.addresses.a.element_bytes;
  const std::uint32_t fragment_bytes = (c.warp_m + c.warp_n) * slice_k * element_bytes;
  // ldmatrix.x4 brings 512 B a warp; it transposes 16-bit elements only, others are read 4 B a lane.
  const bool transposed = !p.a_k_contiguous || !p.b_k_contiguous;
  const std::uint32_t bytes_per_read = transposed && bits_of(p.input) != 16 ? 128 : 512;
  const auto reads = static_cast<std::uint32_t>(ceil_div(fragment_bytes, bytes_per_read));
  const auto minimum = warps * static_cast<std::uint32_t>(ceil_div(fragment_bytes, 128));
  // Eight rows of 16 B per ldmatrix phase: without a swizzle, rows `tile_k` apart meet in the same banks.
  const std::uint32_t row_bytes = c.tile_k * element_bytes;
  const std::uint32_t distinct = std::max(1U, 128 / std::max(row_bytes, 16U));
  const std::uint32_t ways = c.swizzle ? 1 : std::max(1U, 8 / distinct);

  Operation op;
  op.kind = OpKind::kMmaSync;
  op.pc = 3;
  op.pipe = Pipe::kTensor;
  op.pipe_work = mmas;
  op.waits[0] = plan.tile_arrived();
  // The loads' address arithmetic is interleaved with the multiply-adds.
  op.issue_slots = mmas + reads + plan.overhead_per_k_tile(steps);
  op.warp_insts = warps * op.issue_slots;
  op.tensor_insts = warps * mmas;
  // Barrier and first ldmatrix take about two multiply-add latencies; then accumulators chain along K.
  op.dependent_latency = 2 + steps;
  if (plan.through_registers) {
    op.dependent_latency += static_cast<std::uint32_t>(kStagedClocks * op.issue_slots / mma_latency(c));
  }
  op.mma_m = 16;
  op.mma_n = 8;
  op.mma_k = static_cast<std::uint16_t>(k_of(c));
  op.mma_bits = static_cast<std::uint8_t>(p.input == DataType::kTf32 ? 19 : bits_of(p.input));
  op.mma_count = mmas;
  op.smem_read_wavefronts = minimum * ways + plan.fill_wavefronts();
  op.smem_conflicts = minimum * (ways - 1);
  return op;
}

}  // namespace

std::uint32_t mma_sync_k(DataType type) { return type == DataType::kTf32 ? 8 : 256 / bits_of(type); }

std::uint32_t gemm_mma_sync_registers(const GemmMmaSyncConfig& c) {
  if (c.registers_per_thread != 0) {
    return c.registers_per_thread;
  }
  return std::min(255U, (c.accumulators() + kOtherRegisters + 7) / 8 * 8);
}

std::vector<Diagnostic> check_gemm_mma_sync(const GemmMmaSyncConfig& c, const TargetFacts& target) {
  std::vector<Diagnostic> problems;
  check_type(c, target, problems);
  if (!problems.empty()) {
    return problems;
  }
  problems = check_gemm_cta(c, gemm_mma_sync_registers(c), target, kMmaRows);
  if (problems.empty()) {
    check_instruction(c, problems);
  }
  return problems;
}

std::string describe_gemm_mma_sync(const GemmMmaSyncConfig& c) {
  return describe_gemm_cta(c) + (c.swizzle ? "" : ", no swizzle");
}

std::unique_ptr<TraceSource> make_gemm_mma_sync(const GemmMmaSyncConfig& config, const TargetFacts& target) {
  const std::vector<Diagnostic> problems = check_gemm_mma_sync(config, target);
  if (!problems.empty()) {
    throw InputError(problems);
  }
  GemmCtaPlan plan = plan_gemm_cta(config, gemm_mma_sync_registers(config), false);
  plan.multiply = plan_multiply(config, plan);
  lead_with(plan.overhead_per_k_tile(config.tile_k / config.warp_slices / k_of(config)), plan);
  load_amid(plan);
  plan.launch.family = "gemm_mma_sync";
  if (plan.launch.name.empty()) {
    plan.launch.name = plan.launch.family;
  }
  return make_gemm_cta_source(std::move(plan));
}

}  // namespace strata

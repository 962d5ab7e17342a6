#include "workloads/kernels/gemm_simt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace strata {

namespace {

constexpr std::uint32_t kMaxAccumulatorRegisters = 208;  ///< fragments and addresses need the rest of 255
constexpr std::uint32_t kOtherRegisters = 28;            ///< addresses, predicates, loop state
constexpr std::uint32_t kFirstFragmentSteps = 15;        ///< barrier and first LDS, in ALU latencies
/// Of a warp alone in the main loop, per instruction: stall samples of seven kernels of cuBLAS and CUTLASS (Nsight
/// Compute, H200), with one and two warps a sub-partition, are 1.38 to 1.60 clk with 64 and 128 accumulators a thread
/// (2.1 with 32); instruction fetch is left out. Most of what is beyond 1 waits for LDS.
constexpr double kClocksPerInstruction = 1.47;

void check_threads(const GemmSimtConfig& c, std::vector<Diagnostic>& problems) {
  const auto add = [&](const char* key, std::string message) {
    problems.push_back({{}, 0, 0, key, std::move(message)});
  };
  if (c.problem.input != DataType::kFp32) {
    add("dtype", fmt::format("{} is not computed on the FMA pipe here; expected fp32", to_string(c.problem.input)));
  }
  if (c.thread_m < 1 || c.thread_n < 1 || c.warp_m % c.thread_m != 0 || c.warp_n % c.thread_n != 0 ||
      c.warp_m / c.thread_m * (c.warp_n / c.thread_n) != 32) {
    add("thread-m", fmt::format("threads of {}x{} do not make 32 lanes of warp tile {}x{}", c.thread_m, c.thread_n,
                                c.warp_m, c.warp_n));
  }
  if (c.tile_k % c.warp_slices != 0) {
    add("tile-k", fmt::format("{} is not a multiple of the {} warp slices", c.tile_k, c.warp_slices));
  }
  check_accumulators(c, kMaxAccumulatorRegisters, problems);
}

/// LDS of a thread's piece of one fragment: 16, 8 or 4 B at a time.
std::uint32_t fragment_reads(std::uint32_t elements) {
  const std::uint32_t width = elements % 4 == 0 ? 4 : (elements % 2 == 0 ? 2 : 1);
  return elements / width;
}

Operation plan_multiply(const GemmSimtConfig& c, const GemmCtaPlan& plan) {
  const std::uint32_t warps = plan.stream_warps;
  const std::uint32_t slice_k = c.tile_k / c.warp_slices;
  const std::uint32_t multiplies = c.accumulators() * slice_k;
  const std::uint32_t reads = (fragment_reads(c.thread_m) + fragment_reads(c.thread_n)) * slice_k;
  Operation op;
  op.kind = OpKind::kCompute;
  op.pc = 3;
  op.pipe = Pipe::kFma;
  op.pipe_work = multiplies;
  op.waits[0] = plan.tile_arrived();
  const std::uint32_t instructions = multiplies + reads + plan.overhead_per_k_tile(slice_k);
  op.issue_slots = instructions + multiplies * c.conflicts_per_hundred / 100;
  op.warp_insts = warps * instructions;
  op.dependent_latency = (c.fragments_ahead ? 0 : kFirstFragmentSteps) +
                         static_cast<std::uint32_t>(issue_chain(op.issue_slots, kClocksPerInstruction));
  op.smem_read_wavefronts = warps * (c.thread_m + c.thread_n) * c.lds_wavefronts / 4 * slice_k + plan.fill_wavefronts();
  return op;
}

}  // namespace

GemmSimtConfig::GemmSimtConfig() {
  problem.input = problem.output = DataType::kFp32;
  tile_k = 8;
  warp_m = 32;
  stages = 3;
  costs = simt_costs();
}

GemmCtaCosts simt_costs() {
  GemmCtaCosts costs;
  costs.prologue = 250;
  costs.per_k_tile = 8;
  costs.per_k_step = 0;
  costs.per_load_tenths = 65;
  costs.per_element_tenths = 23;
  return costs;
}

std::uint32_t gemm_simt_registers(const GemmSimtConfig& c) {
  if (c.registers_per_thread != 0) {
    return c.registers_per_thread;
  }
  // Two sets of fragments: one in use, one on its way.
  return std::min(255U, (c.accumulators() + 2 * (c.thread_m + c.thread_n) + kOtherRegisters + 7) / 8 * 8);
}

std::vector<Diagnostic> check_gemm_simt(const GemmSimtConfig& c, const TargetFacts& target) {
  std::vector<Diagnostic> problems = check_gemm_cta(c, gemm_simt_registers(c), target);
  if (problems.empty()) {
    check_threads(c, problems);
  }
  return problems;
}

std::string describe_gemm_simt(const GemmSimtConfig& c) {
  return describe_gemm_cta(c) + fmt::format(", threads of {}x{}", c.thread_m, c.thread_n);
}

std::unique_ptr<TraceSource> make_gemm_simt(const GemmSimtConfig& config, const TargetFacts& target) {
  const std::vector<Diagnostic> problems = check_gemm_simt(config, target);
  if (!problems.empty()) {
    throw InputError(problems);
  }
  GemmCtaPlan plan = plan_gemm_cta(config, gemm_simt_registers(config), true);
  plan.multiply = plan_multiply(config, plan);
  lead_with(plan.overhead_per_k_tile(config.tile_k / config.warp_slices), plan);
  load_amid(plan);
  plan.launch.family = "gemm_simt";
  plan.launch.constant_lines = 9;  // executed: 8 to 10 in five kernels of cuBLAS
  if (plan.launch.name.empty()) {
    plan.launch.name = plan.launch.family;
  }
  return make_gemm_cta_source(std::move(plan));
}

}  // namespace strata

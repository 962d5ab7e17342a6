#include "workloads/kernels/gemm_wmma.hpp"

#include <algorithm>
#include <utility>

namespace strata {

namespace {

Operation plan_multiply(const GemmWmmaConfig& c, const GemmCtaPlan& plan) {
  const std::uint32_t warps = plan.stream_warps;
  const std::uint32_t steps = c.tile_k / c.mma_k;
  const std::uint32_t mmas = c.warp_m / 16 * (c.warp_n / 8) * steps;
  // The table counts all of a K tile: loads, stores and the barrier are operations of their own.
  const std::uint32_t apart = plan.load_a.issue_slots + plan.load_b.issue_slots + plan.stage_tile.issue_slots + 1;
  Operation op;
  op.kind = OpKind::kMmaSync;
  op.pc = 3;
  op.pipe = Pipe::kTensor;
  op.pipe_work = mmas;
  op.waits[0] = {TokenClass::kScoreboard, 1, 0};
  op.issue_slots = std::max(c.insts_per_k_tile, apart + mmas) - apart;  // narrow copies may be more than were counted
  op.warp_insts = warps * op.issue_slots;
  op.tensor_insts = warps * mmas;
  op.dependent_latency = 2 + steps;
  op.mma_m = 16;
  op.mma_n = 8;
  op.mma_k = static_cast<std::uint16_t>(c.timed_k != 0 ? c.timed_k : c.mma_k);
  op.mma_bits = static_cast<std::uint8_t>(bits_of(c.problem.input));
  op.mma_count = mmas;
  return op;
}

/// Fragments come through the LSU, which is busy for their wavefronts. A generic load takes it longer though it reads
/// shared memory: two and a half clk an SM, from the two bf16 calibration launches.
Operation plan_fragments(const GemmWmmaConfig& c, const GemmCtaPlan& plan) {
  constexpr std::uint32_t kGenericHalfCycles = 5;
  Operation op;
  op.kind = OpKind::kCompute;
  op.pc = 11;
  op.pipe = Pipe::kLsu;
  op.pipe_work = c.fragment_wavefronts + c.generic_loads * (kGenericHalfCycles - 2) / 2;
  op.issue_slots = 0;  // counted with the multiply-adds
  op.smem_read_wavefronts = plan.stream_warps * c.fragment_wavefronts;
  op.smem_conflicts = plan.stream_warps * c.fragment_conflicts;
  return op;
}

/// Rows along K are 64 B and a pad of 16 B: eight lanes of a 16-byte store fall on the same banks twice.
void add_store_conflicts(const GemmWmmaConfig& c, GemmCtaPlan& plan) {
  constexpr std::uint32_t kWavefrontBytes = 128;
  const auto add = [&](const OperandView& view, std::uint32_t rows) {
    if (!view.k_contiguous) return;
    const std::uint32_t minimum = rows * c.tile_k * view.element_bytes / kWavefrontBytes / plan.streams;
    plan.stage_tile.smem_write_wavefronts += minimum * (c.k_contiguous_ways - 1);
    plan.stage_tile.smem_conflicts += minimum * (c.k_contiguous_ways - 1);
  };
  add(plan.addresses.a, c.tile_m);
  add(plan.addresses.b, c.tile_n);
  plan.stage_tile.pipe_work = plan.stage_tile.smem_write_wavefronts / plan.stream_warps;  // the data path of reads too
}

}  // namespace

std::unique_ptr<TraceSource> make_gemm_wmma(const GemmWmmaConfig& config, const TargetFacts& target) {
  const std::vector<Diagnostic> problems = check_gemm_cta(config, config.registers_per_thread, target);
  if (!problems.empty()) {
    throw InputError(problems);
  }
  GemmCtaPlan plan = plan_gemm_cta(config, config.registers_per_thread, false);
  add_store_conflicts(config, plan);
  plan.multiply = plan_multiply(config, plan);
  lead_with(config.lead_insts, plan);
  plan.fragments = plan_fragments(config, plan);
  plan.launch.family = "gemm_wmma";
  if (plan.launch.name.empty()) {
    plan.launch.name = plan.launch.family;
  }
  return make_gemm_cta_source(std::move(plan));
}

}  // namespace strata

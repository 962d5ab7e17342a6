#include "workloads/kernels/block_reduce.hpp"

#include <bit>

namespace strata {
namespace {

constexpr std::uint32_t kWarpLevels = 5;

Arithmetic tree(const TreeLevel& level, std::uint32_t levels) {
  Arithmetic one = level.combine;
  one.other += level.shuffles;
  one.chain += kShuffleSteps;
  return levels * one;
}

}  // namespace

double barrier_steps(std::uint32_t warps) { return (14.7 + 2.0 * warps) / 4; }

CtaStep warp_reduce_step(const TreeLevel& level, std::uint32_t lanes, std::uint32_t warps) {
  const auto levels = static_cast<std::uint32_t>(std::bit_width(lanes) - 1);
  CtaStep step = compute_step(tree(level, levels), warps);
  step.op.smem_read_wavefronts = levels * level.shuffles * warps;
  return step;
}

CtaStep block_reduce_step(const TreeLevel& level, std::uint32_t warps) {
  // Every warp: tree, store, three barriers, load. From SASS: about 15 instructions around them.
  Arithmetic all = tree(level, kWarpLevels);
  all.other += 8;
  all.alu += 7;
  // The first warp: load, tree, store; the others wait for it at the barrier.
  const Arithmetic first = tree(level, kWarpLevels);
  all.chain += 3 * barrier_steps(warps) + first.chain + 4 * kSharedSteps;
  CtaStep step = compute_step(all, warps);
  step.op.warp_insts += rounded(first.total()) + 5;
  step.op.smem_read_wavefronts = kWarpLevels * level.shuffles * (warps + 1) + warps + 1;
  step.op.smem_write_wavefronts = warps + 1;
  return step;
}

}  // namespace strata

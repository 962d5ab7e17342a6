#include "models/hw/sm/occupancy.hpp"

#include <algorithm>
#include <array>

#include "sim/base/error.hpp"

namespace strata {

namespace {
/// Shared memory is cut out of the unified memory in steps: compute capabilities 8.0 and 9.0, without the steps below
/// 32 KiB, since L1 hits end at 224 KiB even for a kernel without shared memory (measured on an H200).
std::int64_t carve_out(std::int64_t used) {
  constexpr std::array<std::int64_t, 7> kSteps{32, 64, 100, 132, 164, 196, 228};  // KiB
  for (const std::int64_t step : kSteps) {
    if (used <= step * 1024) {
      return step * 1024;
    }
  }
  return used;
}
}  // namespace

SmOccupancy occupancy(const GpuConfig& gpu, const Launch& launch) {
  const std::uint32_t warps = launch.warps_per_cta();
  const std::uint64_t threads = launch.block.count();
  if (threads == 0 || launch.num_ctas() == 0) {
    throw InputError(Diagnostic{{}, 0, 0, "grid/block", "a launch needs at least one CTA and one thread"});
  }
  if (launch.registers_per_thread > static_cast<std::uint32_t>(gpu.registers.max_per_thread)) {
    throw InputError(Diagnostic{{},
                                0,
                                0,
                                "registers",
                                std::to_string(launch.registers_per_thread) + " per thread, but " + gpu.chip.name +
                                    " allows " + std::to_string(gpu.registers.max_per_thread)});
  }
  const auto unit = static_cast<std::uint32_t>(gpu.registers.allocation_unit);
  const std::uint32_t regs_per_warp = (launch.registers_per_thread * 32 + unit - 1) / unit * unit;
  const std::int64_t smem = std::int64_t{launch.smem_static_bytes} + launch.smem_dynamic_bytes;
  if (smem > gpu.smem.max_cta_bytes) {
    throw InputError(Diagnostic{{},
                                0,
                                0,
                                "shared memory",
                                std::to_string(smem) + " B per CTA, but " + gpu.chip.name + " allows " +
                                    std::to_string(gpu.smem.max_cta_bytes) + " B; use a smaller tile or fewer stages"});
  }
  SmOccupancy out;
  out.smem_per_cta = smem + gpu.smem.reserved_cta_bytes;
  struct Limit {
    std::int64_t ctas;
    const char* name;
  };
  const Limit limits[] = {
      {gpu.registers.registers / std::max<std::int64_t>(1, std::int64_t{regs_per_warp} * warps), "registers"},
      {gpu.smem.max_bytes / std::max<std::int64_t>(1, out.smem_per_cta), "shared memory"},
      {gpu.sm.max_warps / static_cast<std::int64_t>(std::max(1U, warps)), "warps"},
      {gpu.sm.max_threads / static_cast<std::int64_t>(threads), "threads"},
      {gpu.sm.max_ctas, "CTAs"},
  };
  const Limit* least = &limits[0];
  for (const Limit& l : limits) {
    if (l.ctas < least->ctas) {
      least = &l;
    }
  }
  if (least->ctas < 1) {
    throw InputError(Diagnostic{{},
                                0,
                                0,
                                least->name,
                                "one CTA of " + std::to_string(threads) + " threads, " +
                                    std::to_string(launch.registers_per_thread) + " registers per thread and " +
                                    std::to_string(smem) + " B of shared memory does not fit on an SM of " +
                                    gpu.chip.name});
  }
  out.ctas = static_cast<std::uint32_t>(least->ctas);
  out.limiter = least->name;
  out.warps = out.ctas * warps;
  out.l1_bytes = std::max<std::int64_t>(gpu.smem.unified_bytes - carve_out(out.smem_per_cta * out.ctas), 16 * 1024);
  return out;
}

}  // namespace strata

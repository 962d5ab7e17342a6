// From the units' state after a run to a Result.
#include <algorithm>

#include "models/hw/system/gpu.hpp"

namespace strata {

Result Gpu::result_at(Tick finish) const {
  const Launch& launch = source_.launch();
  const TimeBase& t = context_.time;
  Result r;
  r.gpu = config_.chip.name;
  r.kernel = launch.name;
  r.family = launch.family;
  r.sm_clock_mhz = t.sm_mhz;
  r.l2_clock_mhz = t.l2_mhz;
  r.hbm_clock_mhz = t.hbm_mhz;
  r.sm_cycles = t.sm_cycles(finish);
  r.duration_us = t.microseconds(finish);
  r.counters = context_.counters;
  r.grid_ctas = launch.num_ctas();
  r.events = context_.events.processed();
  r.work = WorkSummary{launch.work.tensor_flops, to_string(launch.work.tensor_type), launch.work.fp32_flops,
                       launch.work.compulsory_read_bytes, launch.work.compulsory_write_bytes};
  const SmOccupancy& occ = environment_.occupancy;
  r.occupancy.ctas_per_sm = occ.ctas;
  r.occupancy.warps_per_sm = occ.warps;
  r.occupancy.limiter = occ.limiter;

  const double n = static_cast<double>(sms_.size());
  const double span = static_cast<double>(std::max<Tick>(1, finish));
  double active = 0;
  for (const Sm& sm : sms_) {
    active += t.sm_cycles(sm.active_ticks());
    for (std::size_t i = 0; i < kNumStackReasons; ++i) {
      r.cycle_stack[i] += t.sm_cycles(sm.stack()[i]) / n;
    }
    // After an SM's last work: the kernel's end for the launch's share, idleness for the rest.
    const Tick rest = finish - sm.frontier();
    const Tick after = std::min(rest, launch_after_);
    r.cycle_stack[static_cast<std::size_t>(StackReason::kLaunch)] += t.sm_cycles(after) / n;
    r.cycle_stack[static_cast<std::size_t>(StackReason::kIdle)] += t.sm_cycles(rest - after) / n;
    r.utilization.tensor += static_cast<double>(sm.tensor_busy()) / span / n;
    r.utilization.issue += static_cast<double>(sm.issue_busy()) / span / n;
    r.utilization.fp32 += static_cast<double>(sm.pipe_busy(Pipe::kFma)) / span / n;
    r.utilization.mufu += static_cast<double>(sm.pipe_busy(Pipe::kMufu)) / span / n;
    r.utilization.shared_memory += static_cast<double>(sm.smem_busy()) / span / n;
    r.utilization.l1 += static_cast<double>(sm.lsu_busy()) / span / n;
  }
  r.sm_active_cycles_avg = active / n;
  r.utilization.crossbar =
      static_cast<double>(crossbar_.gpc_busy_ticks()) / span / static_cast<double>(crossbar_.num_gpcs());
  r.utilization.l2 = static_cast<double>(l2_.slice_busy_ticks()) / span / static_cast<double>(l2_.num_slices());
  r.utilization.fabric = static_cast<double>(l2_.fabric_busy_ticks()) / span / 2.0;
  r.utilization.hbm = static_cast<double>(hbm_.busy_ticks()) / span / static_cast<double>(hbm_.num_channels());
  return r;
}

}  // namespace strata

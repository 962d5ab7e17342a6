/// A plausible result for tests of the writers.
#pragma once

#include "sim/result/result.hpp"

namespace strata::test {

inline Result sample_result() {
  Result r;
  r.gpu = "h100-sxm5-80gb";
  r.kernel = "gemm <bf16>, \"TN\"";
  r.family = "nvjet";
  r.description = "tile 128x256x64, 4 stages";
  r.sm_clock_mhz = 1600;
  r.sm_clock_source = "given";
  r.l2_clock_mhz = 1707;
  r.hbm_clock_mhz = 2619;
  r.sm_cycles = 320000;
  r.sm_active_cycles_avg = 310000.125;
  r.duration_us = 200;
  r.counters.add(Counter::kDramReadSectors, 1'000'000);
  r.counters.add(Counter::kDramWriteSectors, 500'000);
  r.counters.add(Counter::kDeliveredSectors, 40'000'000);
  r.counters.add(Counter::kLrcMergedSectors, 12);
  r.cycle_stack[static_cast<std::size_t>(StackReason::kLaunch)] = 4000;
  r.cycle_stack[static_cast<std::size_t>(StackReason::kTensor)] = 256000;
  r.cycle_stack[static_cast<std::size_t>(StackReason::kHbm)] = 60000;
  r.utilization.tensor = 0.8;
  r.utilization.hbm = 0.08;
  r.bottleneck = Bottleneck::kTensor;
  r.bottleneck_reason = "tensor cores busy 80 % of the kernel";
  r.occupancy = {1, 12, "shared memory"};
  r.grid_ctas = 132;
  r.work = {1.374e11, "bf16", 0, 67'108'864, 33'554'432};
  r.notes = {"tile chosen by prediction"};
  r.host_seconds = 0.5;
  r.events = 99;
  return r;
}

}  // namespace strata::test

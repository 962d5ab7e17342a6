/// Barriers: __syncthreads and named barriers by threads, mbarriers, cluster barriers.
/// validation/microbench/barrier.cu.
#pragma once

#include <memory>

#include "workloads/kernels/microbench/program.hpp"

namespace strata::microbench {

enum class BarrierKind : std::uint8_t {
  kCta,       ///< bar.sync over all warps
  kMbarrier,  ///< every thread arrives, every thread waits
  kCluster,   ///< arrive and wait of all threads of the cluster, relaxed
};

struct BarrierConfig {
  BarrierKind kind = BarrierKind::kCta;
  std::uint32_t warps = 1;
  std::uint32_t cluster = 1;
  bool count_in_register = false;  ///< BAR.SYNC with a register for the number of threads
  std::uint32_t iterations = 256;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_barriers(const BarrierConfig& config);

/// Two warps wake each other in turn through two mbarriers, `iterations` times, each after `work` clocks: half of what
/// a round takes beyond the work is from an arrival to the waiter's next instruction. @param alu_latency  of the
/// described GPU
[[nodiscard]] std::unique_ptr<TraceSource> make_mbarrier_wake(std::uint32_t work, std::uint32_t iterations,
                                                              std::uint32_t alu_latency = kAluLatency);

}  // namespace strata::microbench

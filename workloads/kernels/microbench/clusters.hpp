/// Shared memory of the other CTAs of a cluster: latency and bytes per clock. validation/microbench/dsmem_atomics.cu
/// and topology.cu.
#pragma once

#include <memory>

#include "workloads/kernels/microbench/program.hpp"

namespace strata::microbench {

struct RemoteReadConfig {
  std::uint32_t cluster = 2;
  std::uint32_t ctas = 2;
  std::uint32_t bytes = 16384;  ///< of one operation: all loads of a lap, or one bulk copy
  std::uint32_t operations = 32;
  std::uint32_t in_flight = 2;  ///< operations of loads
  bool bulk = false;            ///< one thread issues bulk copies, all of them in flight
};
/// Every CTA moves bytes between its own and its neighbour's shared memory, all at once.
[[nodiscard]] std::unique_ptr<TraceSource> make_remote_reads(const RemoteReadConfig& config);
/// A chain of `hops` dependent 4-byte loads from a neighbour.
[[nodiscard]] std::unique_ptr<TraceSource> make_remote_chase(std::uint32_t hops);

}  // namespace strata::microbench

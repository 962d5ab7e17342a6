/// Small traces with one question each: a latency, a rate, a bandwidth. Invariant tests and studies run them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workloads/spec/trace_source.hpp"

namespace strata {

/// One thread follows a chain of dependent 4-byte loads: cycles per load = the latency of the level that answers.
struct LoadChainConfig {
  std::vector<std::uint64_t> addresses;        ///< visited in order, one load each, every pass
  std::uint32_t passes = 2;                    ///< the first one warms the caches
  CachePolicy policy = CachePolicy::kDefault;  ///< kBypassL1 to see the L2
};
[[nodiscard]] std::unique_ptr<TraceSource> make_load_chain(LoadChainConfig config);

/// Addresses of a chain over `footprint_bytes` from `base` on, `stride_bytes` apart.
[[nodiscard]] std::vector<std::uint64_t> strided_addresses(std::uint64_t base, std::uint64_t footprint_bytes,
                                                           std::uint64_t stride_bytes);

/// One warp, `loads` dependent shared-memory loads of one wavefront each.
[[nodiscard]] std::unique_ptr<TraceSource> make_shared_chain(std::uint32_t loads);

/// Reads `reads` arrays and writes `writes` arrays of `bytes` each, once, with a grid-stride loop of 16-byte accesses.
/// read (1, 0), write (0, 1), copy (1, 1), triad (2, 1).
struct StreamConfig {
  std::uint64_t bytes = std::uint64_t{256} << 20;  ///< of each array; rounded up to whole steps of the loop
  std::uint32_t reads = 1;
  std::uint32_t writes = 0;
  std::uint32_t ctas = 264;
  std::uint32_t warps = 8;   ///< per CTA, run as one stream
  std::uint32_t unroll = 4;  ///< 16-byte accesses per thread and array in flight, 1..8
  std::uint32_t registers = 32;
  CachePolicy policy = CachePolicy::kDefault;
  std::uint32_t passes = 1;  ///< times the whole is done: from the second on it can hit the L2
};
[[nodiscard]] std::unique_ptr<TraceSource> make_stream(const StreamConfig& config);

/// Warpgroups that issue wgmma groups back to back: cycles per instruction at a given N.
struct WgmmaStreamConfig {
  std::uint32_t n = 128;  ///< 8..256
  std::uint32_t mma_k = 16;
  std::uint8_t bits = 16;
  bool a_in_registers = false;
  std::uint32_t per_group = 4;  ///< instructions of a commit group
  std::uint32_t groups = 256;   ///< per warpgroup
  std::uint32_t depth = 2;      ///< groups in flight
  std::uint32_t warpgroups = 1;
  std::uint32_t ctas = 1;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_wgmma_stream(const WgmmaStreamConfig& config);

/// Warps that issue independent mma.sync m16n8k16 back to back from registers.
struct MmaStreamConfig {
  std::uint32_t per_operation = 64;
  std::uint32_t operations = 64;
  std::uint32_t warps = 4;
  std::uint32_t ctas = 1;
  std::uint16_t mma_k = 16;
  std::uint8_t bits = 16;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_mma_stream(const MmaStreamConfig& config);

/// Warps that load 4-byte words from shared memory with a `ways`-way bank conflict, independent of one another.
struct BankConflictConfig {
  std::uint32_t ways = 1;  ///< 1 = none, up to 32
  std::uint32_t per_operation = 32;
  std::uint32_t operations = 64;
  std::uint32_t warps = 4;
  std::uint32_t ctas = 1;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_bank_conflicts(const BankConflictConfig& config);

/// `operations` runs of `per_operation` instructions for one pipe: its rate, or the issue rate.
struct ComputeStreamConfig {
  Pipe pipe = Pipe::kFma;
  std::uint32_t per_operation = 64;
  std::uint32_t operations = 64;
  std::uint32_t warps = 4;
  std::uint32_t ctas = 1;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_compute_stream(const ComputeStreamConfig& config);

/// CTAs that do nothing: the cost of a launch.
[[nodiscard]] std::unique_ptr<TraceSource> make_empty_kernel(std::uint32_t ctas, std::uint32_t warps = 4);

}  // namespace strata

/// Latencies: dependent loads by footprint and by pages, dependent shared-memory loads, one bulk copy at a time.
/// The same questions as validation/microbench/latency.cu.
#pragma once

#include <memory>

#include "workloads/kernels/microbench/program.hpp"

namespace strata::microbench {

/// One thread follows pointers through a full-period permutation of `lines` lines, `stride` bytes apart.
struct PointerChaseConfig {
  std::uint64_t lines = 1;
  std::uint64_t stride = kLineBytes;
  bool jitter = false;       ///< a line of each 2 MiB page lies at a different offset
  std::uint32_t passes = 0;  ///< reads of the whole set by 1024 threads beforehand
  std::uint64_t lag = 0;     ///< hops before the clock starts
  std::uint64_t hops = 1;
  bool through_l1 = false;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_pointer_chase(const PointerChaseConfig& config);

/// A chain of `hops` dependent 4-byte loads from shared memory by one thread.
[[nodiscard]] std::unique_ptr<TraceSource> make_shared_chase(std::uint32_t hops);

/// `copies` bulk copies, each of `rows` rows of `row_bytes`, each issued when the one before has arrived. A 1-D copy is
/// one row.
struct CopyChaseConfig {
  std::uint32_t rows = 1;
  std::uint32_t row_bytes = 16;
  std::uint64_t row_pitch = 0;  ///< bytes between rows
  std::uint64_t step = 0;       ///< bytes between copies; 0 = the same bytes again and again
  std::uint32_t copies = 256;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_copy_chase(const CopyChaseConfig& config);

}  // namespace strata::microbench

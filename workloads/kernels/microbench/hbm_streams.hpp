/// What the HBM delivers by access pattern: streams and mixes, bulk reads, random rows, one sector of every so many
/// bytes. validation/microbench/hbm.cu and hbm_traffic.cu.
#pragma once

#include <memory>

#include "workloads/kernels/microbench/program.hpp"

namespace strata::microbench {

/// A grid-stride loop of 16-byte accesses that walks all arrays in step; 512 threads a CTA, two CTAs per SM.
struct HbmStreamConfig {
  std::uint64_t bytes = 0;       ///< of each array
  std::uint64_t warm_bytes = 0;  ///< of each array before the clock starts, so that a rate is a steady one
  std::uint64_t pitch = 0;       ///< from one array to the next
  std::uint32_t reads = 1;
  std::uint32_t writes = 0;
  std::uint32_t unroll = 4;
  std::uint32_t ctas = 264;
  std::uint32_t passes = 1;         ///< times the arrays are walked
  std::uint8_t write_sectors = 15;  ///< which of the four sectors of a line are written
  bool after_flush = false;  ///< begins with an L2 full of another buffer's dirty lines, as bench.cuh's flush leaves
  std::uint32_t registers = 64;  ///< a thread; 64 lets two CTAs live on an SM
};
[[nodiscard]] std::unique_ptr<TraceSource> make_hbm_stream(const HbmStreamConfig& config);
/// The unrolling that hbm.cu uses for so many arrays read.
[[nodiscard]] std::uint32_t hbm_unroll(std::uint32_t reads);

/// One thread per CTA, bulk copies of 8 KiB, sixteen in flight.
struct HbmBulkConfig {
  std::uint64_t bytes = 0;
  std::uint32_t ctas = 132;
  bool after_flush = false;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_hbm_bulk_read(const HbmBulkConfig& config);

/// Every row of `row_bytes` lies at a pseudo-random place in 8 GiB.
struct RandomRowsConfig {
  std::uint32_t row_bytes = 32;
  std::uint32_t per_thread = 64;  ///< 16-byte words
  std::uint32_t ctas = 264;
  bool after_flush = false;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_random_rows(const RandomRowsConfig& config);

/// 32 bytes out of every `stride`, `count` times.
struct StridedConfig {
  std::uint32_t stride = 32;
  std::uint64_t count = 0;
  std::uint32_t ctas = 264;
  bool after_flush = false;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_strided_reads(const StridedConfig& config);

}  // namespace strata::microbench

/// validation/microbench/l1_rows.cu: loads whose lanes lie 16 B apart in the rows of a matrix.
#pragma once

#include <cstdint>
#include <memory>

#include "workloads/kernels/microbench/program.hpp"

namespace strata::microbench {

/// Two CTAs of four warps on every SM read tiles of 256 rows of 64 B, 2 B a lane and request: each lane brings 16 B,
/// element after element.
struct L1RowsConfig {
  std::uint32_t sms = 1;
  std::uint32_t pitch = 128;  ///< of the rows, bytes

  static constexpr std::uint32_t kMostTiles = 24;
  [[nodiscard]] std::uint32_t tiles() const;
  /// Requests of all warps of an SM.
  [[nodiscard]] std::uint64_t requests_per_sm() const;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_l1_rows(const L1RowsConfig& config);

}  // namespace strata::microbench

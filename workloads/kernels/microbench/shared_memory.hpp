/// Shared-memory instructions: cost by bank conflicts, width and padding, latency, and how many warps it takes.
/// validation/microbench/shared_memory.cu.
#pragma once

#include <memory>

#include "workloads/kernels/microbench/program.hpp"

namespace strata::microbench {

enum class SharedOp : std::uint8_t {
  kLoad32,
  kLoad64,
  kLoad128,
  kStore32,
  kStore128,
  kMatrix1,
  kMatrix2,
  kMatrix4,
  kStoreMatrix4
};

/// Wavefronts of one warp instruction whose lane l uses byte (l & mask) * pitch of 16 KiB: 32 banks of 4 bytes, 8-byte
/// accesses in two passes of half a warp, 16-byte ones in four; a matrix of ldmatrix is one pass of eight rows.
[[nodiscard]] std::uint32_t shared_wavefronts(SharedOp op, std::uint32_t pitch, std::uint32_t mask = 31);

struct SharedAccessConfig {
  SharedOp op = SharedOp::kLoad32;
  std::uint32_t pitch = 4;  ///< bytes from lane to lane, or row to row of a matrix
  std::uint32_t mask = 31;  ///< lanes that differ only outside it share an address
  std::uint32_t warps = 16;
  std::uint32_t smsps = 4;  ///< only warps of the first so many sub-partitions work
  std::uint32_t iterations = 64;
  bool chained = false;        ///< each instruction needs the one before
  std::uint32_t unrolled = 2;  ///< iterations between two turns of the compiled loop, which divides `iterations`
};
inline constexpr std::uint32_t kSharedPerIteration = 16;  ///< instructions between two uses of all the values read
[[nodiscard]] std::unique_ptr<TraceSource> make_shared_access(const SharedAccessConfig& config);
/// Warps of the configuration that work.
[[nodiscard]] std::uint32_t working_warps(const SharedAccessConfig& config);

/// The same loop over words that the L1 holds: plain loads, or cp.async of 16 bytes a lane.
[[nodiscard]] std::unique_ptr<TraceSource> make_l1_access(bool cp_async, std::uint32_t warps, std::uint32_t iterations);

}  // namespace strata::microbench

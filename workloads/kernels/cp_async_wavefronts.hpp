/// What the profiler's shared-memory wavefronts show of cp.async fills.
#pragma once

#include <cstdint>

namespace strata {

/// `l1tex__data_pipe_lsu_wavefronts_mem_shared` leaves fills out but for one wavefront per 560 B, whatever the width of
/// the copies. Wavefronts beside fragment reads per K tile or block of recorded launches: 58.5 for 32 KiB
/// (FlashAttention-2, 16 B a lane), 22 for 12 KiB and 19 for 10 KiB (fp32 GEMMs, 4 B a lane), 121 for 48 KiB (int8).
[[nodiscard]] inline std::uint32_t counted_fill_wavefronts(std::uint64_t bytes) {
  constexpr std::uint64_t kBytesPerWavefront = 560;
  return static_cast<std::uint32_t>((bytes + kBytesPerWavefront / 2) / kBytesPerWavefront);
}

}  // namespace strata

/// The copy engine: rings of bulk copies and tiles by warps, depth, bytes and row length, back-to-back issue,
/// multicast. validation/microbench/tma.cu.
#pragma once

#include <memory>

#include "workloads/kernels/microbench/program.hpp"

namespace strata::microbench {

/// Every warp has one issuing thread and a ring of its own over 256 KiB of its SM.
struct CopyRingConfig {
  std::uint32_t ctas = 1;
  std::uint32_t warps = 1;
  std::uint32_t stages = 2;
  std::uint32_t bytes = 2048;  ///< of a copy
  std::uint32_t rows = 0;      ///< of a tile; 0 = a 1-D copy
  bool store = false;
  std::uint32_t copies = 64;  ///< of each warp
  /// Clocks that the issuing thread spends on a copy before it can start the next. The loop writes the registers that
  /// the copy instruction reads, and waits until it has read them: 363 for a 1-D copy and 550 for a tile, the same for
  /// 256 B to 4 KiB and for two stages or more (tma.cu, bulk_size_1warps, tile128_size_1warps); 150 and 285 where the
  /// loop is unrolled over the stages (unrolled rows). With one stage the copy is never there at the first look, and
  /// one thread of its warp looks again so much later that 2 to 16 KiB take the same time: 588 and 775 (1stages).
  std::uint32_t thread_clocks = 363;
  /// Clocks of a turn of the loop that only waits, at the ring's end: with 8 stages of 16 KiB a copy takes 28 clk more
  /// than with few bytes, an eighth of 221.
  std::uint32_t drain_clocks = 0;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_copy_ring(const CopyRingConfig& config);

/// Eight copies issued in a row by one thread, then awaited, `laps` times.
[[nodiscard]] std::unique_ptr<TraceSource> make_copy_burst(std::uint32_t bytes, std::uint32_t rows, std::uint32_t laps);

/// Each CTA of a cluster fetches its share of every 16 KiB tile and multicasts it to all; one warp per stage of eight.
struct MulticastConfig {
  std::uint32_t cluster = 1;
  std::uint32_t ctas = 1;
  std::uint32_t tiles = 128;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_multicast(const MulticastConfig& config);
inline constexpr std::uint32_t kMulticastTileBytes = 16384;

/// Boxes of 64 elements of two bytes, side by side, one after the other. validation/microbench/tma_edges.cu.
struct EdgeBoxesConfig {
  std::uint32_t width = 0;   ///< elements of a row of the tensor
  std::uint32_t pitch = 0;   ///< bytes from one row to the next
  std::uint32_t height = 0;  ///< rows of the tensor
  std::uint32_t rows = 0;    ///< of a box
  std::uint32_t x = 0;       ///< of the first box
  std::uint32_t y = 0;       ///< of every box
  std::uint32_t boxes = 1;
  std::uint32_t cluster = 1;  ///< CTAs that receive each box from the first of them; 1 = a plain copy
};
[[nodiscard]] std::unique_ptr<TraceSource> make_edge_boxes(const EdgeBoxesConfig& config);

}  // namespace strata::microbench

/// Passes of a warp request through L1: what lanes that lie apart cost beyond their bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "models/hw/common/chunk.hpp"
#include "workloads/spec/bank_wavefronts.hpp"

namespace strata {

/// Of up to 16 bits; the baseline instruction set has no population count.
[[nodiscard]] constexpr std::uint32_t parity(std::uint32_t bits) {
  bits ^= bits >> 8;
  bits ^= bits >> 4;
  return 0x6996U >> (bits & 0xfU) & 1U;
}

/// Tags are looked up four a clk, one in each bank. Which bank holds a line: the pair of hashes, linear in the line's
/// bits, that gives the tag passes which the profiler counts (`l1tex__t_output_wavefronts`, H200) for 26 row pitches
/// from 666 to 8320 B: 2.00 to 4.7 a request, all within 0.12.
[[nodiscard]] inline std::uint32_t l1_tag_bank(std::uint64_t line) {
  constexpr std::uint64_t kLow = 0b110'1111'0110'1111;
  constexpr std::uint64_t kHigh = 0b111'1010'1011'0101;
  return parity(static_cast<std::uint32_t>(line & kHigh)) * 2 + parity(static_cast<std::uint32_t>(line & kLow));
}

struct L1Passes {
  double together = 0;  ///< clk of a request whose lines are all there: tag passes or wavefronts, whichever are more
  double apart = 0;     ///< wavefronts of one that misses or waits for a miss: each tag pass takes its own
};

/// @param row_lanes  cp.async: lanes of a row of the tile, whose data go to chunks of 16 B of that row, swizzled by
/// the
///                     row; lanes of one chunk column go one after the other. 0 = to registers
[[nodiscard]] inline L1Passes l1_passes(std::span<const std::uint64_t> lanes, std::uint32_t lane_bytes,
                                        std::uint32_t row_lanes) {
  constexpr std::uint32_t kLanes = 32;
  constexpr std::uint32_t kChunksOfWavefront = 8;
  std::array<std::uint64_t, kLanes> lines{};  // distinct, with the pass of each
  std::array<std::uint32_t, kLanes> pass_of{};
  std::array<std::uint32_t, 4> in_bank{};
  std::array<std::uint32_t, kLanes> pass_of_lane{};
  std::size_t known = 0;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::uint64_t line = lanes[i] / kLineBytes;
    const auto end = lines.begin() + static_cast<std::ptrdiff_t>(known);
    const auto at = static_cast<std::size_t>(std::find(lines.begin(), end, line) - lines.begin());
    if (at == known) {
      lines[known] = line;
      pass_of[known++] = in_bank[l1_tag_bank(line)]++;
    }
    pass_of_lane[i] = pass_of[at];
  }
  const std::uint32_t passes = *std::max_element(in_bank.begin(), in_bank.end());
  std::uint32_t apart = 0;
  std::array<std::uint64_t, kLanes> group{};
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    std::size_t n = 0;
    std::array<std::uint32_t, kChunksOfWavefront> written{};
    for (std::uint32_t i = 0; i < lanes.size(); ++i) {
      if (pass_of_lane[i] != pass) continue;
      group[n++] = lanes[i];
      if (row_lanes == 0) continue;
      const std::uint32_t row = i / row_lanes;
      ++written[(row * row_lanes + (i % row_lanes ^ row % row_lanes)) % kChunksOfWavefront];
    }
    apart += std::max(bank_wavefronts(std::span(group).first(n), lane_bytes), std::ranges::max(written));
  }
  return {static_cast<double>(std::max(passes, bank_wavefronts(lanes, lane_bytes))), static_cast<double>(apart)};
}

}  // namespace strata

/// Wavefronts: what one warp request takes of the memory that L1 and shared memory are.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace strata {

/// Passes over the 32 banks that the lanes of a request need: words of one bank go one after the other, lanes that name
/// the same word share it. A pass moves at most 128 bytes, so lanes of 8 and 16 bytes go in groups of 16 and 8.
/// Global accesses conflict by the same rule as shared ones, whatever lines their words belong to (measured: 32 lanes a
/// multiple of 128 B apart take 32 clk).
[[nodiscard]] inline std::uint32_t bank_wavefronts(std::span<const std::uint64_t> lanes, std::uint32_t lane_bytes) {
  constexpr std::uint32_t kBanks = 32;
  constexpr std::uint32_t kBankBytes = 4;
  const std::uint32_t words_per_lane = std::max(1U, lane_bytes / kBankBytes);
  const std::size_t group = std::max<std::size_t>(1, kBanks / words_per_lane);
  std::uint32_t wavefronts = 0;
  for (std::size_t first = 0; first < lanes.size(); first += group) {
    std::array<std::uint64_t, kBanks> seen;  // words of the group
    std::array<std::uint32_t, kBanks> ways{};
    std::size_t words = 0;
    for (const std::uint64_t lane : lanes.subspan(first, std::min(group, lanes.size() - first))) {
      for (std::uint32_t i = 0; i < words_per_lane; ++i) {
        const std::uint64_t word = lane / kBankBytes + i;
        const auto end = seen.begin() + static_cast<std::ptrdiff_t>(words);
        if (std::find(seen.begin(), end, word) == end) {
          seen[words++] = word;
          ++ways[word % kBanks];
        }
      }
    }
    wavefronts += *std::max_element(ways.begin(), ways.end());
  }
  return wavefronts;
}

/// The same for lanes in rows: `per_row` of them `lane_pitch` bytes apart, rows `row_pitch` apart.
[[nodiscard]] inline std::uint32_t bank_wavefronts(std::uint64_t address, std::int64_t lane_pitch,
                                                   std::uint32_t per_row, std::int64_t row_pitch, std::uint32_t lanes,
                                                   std::uint32_t lane_bytes) {
  std::array<std::uint64_t, 32> at{};
  lanes = std::min<std::uint32_t>(lanes, at.size());
  for (std::uint32_t l = 0; l < lanes; ++l) {
    at[l] = address + static_cast<std::uint64_t>(l % per_row * lane_pitch + l / per_row * row_pitch);
  }
  return bank_wavefronts(std::span(at).first(lanes), lane_bytes);
}

}  // namespace strata

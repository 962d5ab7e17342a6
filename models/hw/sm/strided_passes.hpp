/// Wavefronts of a warp request for elements that lie apart in the rows of a box.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "models/hw/sm/l1_passes.hpp"
#include "workloads/spec/operation.hpp"

namespace strata {

/// Of a few of a load's requests, averaged. CTAs that share an operand ask for the same tiles, so what came out is
/// kept.
class StridedPasses {
 public:
  /// @param per_row  lanes of a request in one row
  /// @param to_smem  cp.async, whose data go on into rows of a tile
  [[nodiscard]] L1Passes of(const MemoryRef& m, std::uint32_t per_row, bool to_smem) {
    const std::uint64_t mixed = (m.address * kOdd + static_cast<std::uint64_t>(m.row_pitch)) * kOdd + m.rows;
    Known& known = known_[(mixed ^ mixed >> 32) % known_.size()];
    if (known.address != m.address || known.row_pitch != m.row_pitch || known.rows != m.rows ||
        known.lane_pitch != m.lane_pitch || known.lane_bytes != m.lane_bytes || known.per_row != per_row ||
        known.to_smem != to_smem) {
      known = Known{m.address, m.row_pitch,  m.rows,  m.lane_pitch,
                    per_row,   m.lane_bytes, to_smem, work_out(m, per_row, to_smem)};
    }
    return known.passes;
  }

 private:
  static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;

  [[nodiscard]] static L1Passes work_out(const MemoryRef& m, std::uint32_t per_row, bool to_smem) {
    constexpr std::uint32_t kLanes = 32;
    constexpr std::uint32_t kSamples = 4;
    const std::uint32_t rows = std::max(1U, kLanes / per_row);
    const std::uint32_t groups = std::max(1U, m.rows / rows);
    const std::uint32_t elements = static_cast<std::uint32_t>(m.lane_pitch) / m.lane_bytes;
    L1Passes mean;
    for (std::uint32_t sample = 0; sample < kSamples; ++sample) {
      const std::uint32_t row = sample * groups / kSamples * rows;
      const std::uint32_t lanes = std::min(rows, std::max(1U, m.rows - std::min(row, m.rows))) * per_row;
      const std::uint32_t element = sample * elements / kSamples;
      std::array<std::uint64_t, kLanes> at{};
      for (std::uint32_t l = 0; l < lanes; ++l) {
        at[l] = m.address + static_cast<std::uint64_t>((row + l / per_row) * m.row_pitch) +
                static_cast<std::uint64_t>(l % per_row * m.lane_pitch) + std::uint64_t{element} * m.lane_bytes;
      }
      const L1Passes passes = l1_passes(std::span(at).first(lanes), m.lane_bytes, to_smem ? per_row : 0);
      mean.together += passes.together / kSamples;
      mean.apart += passes.apart / kSamples;
    }
    return mean;
  }

  struct Known {
    std::uint64_t address = 0;
    std::int64_t row_pitch = 0;
    std::uint32_t rows = 0;
    std::int32_t lane_pitch = 0;
    std::uint32_t per_row = 0;  ///< 0 = nothing known
    std::uint8_t lane_bytes = 0;
    bool to_smem = false;
    L1Passes passes;
  };
  std::array<Known, 1024> known_{};
};

}  // namespace strata

/// What CUDA launches on any GPU so far: a launch beyond it is a mistake of the file that lists it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "workloads/library/resolve.hpp"

namespace strata::app {

inline constexpr std::uint32_t kMaxRegisters = 255;        ///< of a thread
inline constexpr std::uint32_t kMaxCtaSmemBytes = 232448;  ///< 227 KiB

inline constexpr std::uint32_t kMaxCluster = 16;  ///< CTAs

/// Of a name, a shape or another text. The longest names of templated kernels have a few thousand bytes.
inline constexpr std::size_t kMaxCellBytes = std::size_t{1} << 16;

enum class LaunchCell : std::uint8_t { kGrid, kBlock, kCluster, kRegisters, kSmemDynamic, kSmemStatic };

/// A cell that no launch can have, and what it may hold.
struct ImpossibleCell {
  LaunchCell cell;
  std::string expected;  ///< "1 to 1024 threads, ..."
};

/// The first cell of a launch that is beyond what CUDA launches; nothing where all are possible.
[[nodiscard]] std::optional<ImpossibleCell> impossible_cell(const LaunchRow& row);

}  // namespace strata::app

/// The kernels that a GPU generation's libraries could run for an operator, named in the libraries' own grammars.
///
/// Tiles, clusters, stages and splits are every one that the grammar and the hardware's limits allow, not those that
/// some recording happened to show. Estimates are for discarding the hopeless; what is left has to be simulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/library/resolve.hpp"

namespace strata {

/// One way to compute an operator.
struct KernelCandidate {
  std::vector<LaunchRow> launches;  ///< in order: the kernel, and the sum of its parts where it splits
  double estimated_cycles = 0;      ///< comparable within one operator only
  std::string tile;                 ///< candidates with the same are variants of one another
  std::uint64_t ring_bytes =
      0;                  ///< that a CTA can have on their way, to which estimates are blind; 0 = does not matter
  double fill_bytes = 0;  ///< that all its CTAs load, which is what simulating it takes; 0 = little
};

/// The operators that have candidates, as `op` spells them.
[[nodiscard]] std::vector<std::string> operators_with_candidates();

/// Every candidate for the row's op, dtype and shape; its kernel and launch columns are not looked at.
/// Throws UnsupportedError when the operator has no candidates or its cells do not parse.
[[nodiscard]] std::vector<KernelCandidate> kernel_candidates(const LaunchRow& row, const TargetFacts& target);

/// The most promising candidates, best estimate first: at most `most`, at most two variants of a tile, none estimated
/// at more than half again the best. Behind them the deepest pipeline of each tile where these are shallower.
[[nodiscard]] std::vector<KernelCandidate> promising_candidates(std::vector<KernelCandidate> all, std::size_t most);

}  // namespace strata

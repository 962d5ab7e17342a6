/// Whether what a run says of the card's GPCs and their sides of the L2 can be.
#pragma once

#include <vector>

#include "validation/compare/microbench_origin.hpp"
#include "validation/compare/microbench_table.hpp"

namespace strata {

/// Throws InputError, with file and line, where rows of a run number GPCs or SMs that the card does not have, leave a
/// GPC out, contradict each other, or do not add up to its SMs. Rows over another unit are left out later.
void check_topology(const std::vector<MicrobenchRow>& rows, const MicrobenchOrigin& origin);

}  // namespace strata

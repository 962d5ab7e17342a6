/// Warnings about measured rows that no program prints.
#pragma once

#include "validation/compare/microbench_table.hpp"

namespace strata::app {

/// One line on stderr for each series that is not known, with file and line: it is left out; and for what origin.json
/// says to no effect.
void warn_of_unknown_series(const MicrobenchData& data);

}  // namespace strata::app

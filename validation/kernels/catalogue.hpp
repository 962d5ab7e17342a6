// Every kernel of the ladder, in its order.
#pragma once

#include "harness/kernel.hpp"

namespace ladder {

[[nodiscard]] const Catalogue& catalogue();

}  // namespace ladder

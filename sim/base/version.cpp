#include "sim/base/version.hpp"

namespace strata {

const char* version() { return STRATA_VERSION; }

}  // namespace strata

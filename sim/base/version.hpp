/// The program's version.
#pragma once

namespace strata {

/// "0.1.0".
[[nodiscard]] const char* version();

}  // namespace strata

/// Kernels that many profiles hold and no generator mirrors.
#pragma once

#include <string_view>

namespace strata {

/// Why a kernel of this canonical name is not simulated; empty where it is not one of those.
[[nodiscard]] std::string_view reason_not_modelled(std::string_view canonical);

}  // namespace strata

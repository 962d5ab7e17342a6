/// Text of others in our messages, cut to what a reader looks at.
#pragma once

#include <string>
#include <string_view>

namespace strata {

/// Words beyond 400 bytes, and a text beyond 4000, without their middles. UTF-8 characters stay whole.
[[nodiscard]] std::string shortened(std::string_view text);

}  // namespace strata

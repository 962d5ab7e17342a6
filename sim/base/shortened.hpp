/// Text of others in our messages, cut to what a reader looks at.
#pragma once

#include <string>
#include <string_view>

namespace strata {

/// Control characters but tabs and line ends as "\x1b": a terminal would act on them.
[[nodiscard]] std::string escaped(std::string_view text);

/// Words beyond 400 bytes, and a text beyond 4000, without their middles. UTF-8 characters stay whole. Escaped.
[[nodiscard]] std::string shortened(std::string_view whole);

}  // namespace strata

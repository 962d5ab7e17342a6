/// Long text on a terminal, broken at spaces.
#pragma once

#include <cstddef>
#include <string>

namespace strata::app {

/// `text` in lines of at most `width` characters, each after `indent` spaces and with a line end. A word longer than
/// a line stays whole.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t indent, std::size_t width);

/// Columns of the terminal that standard output is; 0 where it is none.
[[nodiscard]] std::size_t terminal_width();

}  // namespace strata::app

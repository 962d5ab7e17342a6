/// Numbers of things in words: "1 input", "2 inputs".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace strata {

/// `thing` in the singular; `rest` follows it in both numbers, as in "CTA" and "/SM".
template <std::integral Number>
[[nodiscard]] std::string counted(Number n, std::string_view thing, std::string_view rest = {}) {
  return std::to_string(n) + " " + std::string(thing) + (n == 1 ? "" : "s") + std::string(rest);
}

}  // namespace strata

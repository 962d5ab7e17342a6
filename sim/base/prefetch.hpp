/// Hints to the host's caches.
#pragma once

#include <cstddef>

namespace strata {

/// Asks for the line of the host's cache at `address`, to be read soon. The empty assembly keeps GCC 12 from taking a
/// function that does nothing but this for one without effect: it leaves out the calls of such a function.
[[gnu::always_inline]] inline void prefetch_line(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");
}

/// The same for all lines of an object.
[[gnu::always_inline]] inline void prefetch_lines(const void* object, std::size_t bytes) {
  constexpr std::size_t kHostLine = 64;
  for (std::size_t at = 0; at < bytes; at += kHostLine) {
    prefetch_line(static_cast<const char*>(object) + at);
  }
}

}  // namespace strata

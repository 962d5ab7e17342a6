/// What may be read as an input.
#pragma once

#include <string>

namespace strata {

/// Throws InputError where `path` is there but no regular file, before anything opens it: inputs are read more than
/// once, which a pipe does not allow, and opening a pipe that nobody writes to never returns. What is missing or may
/// not be looked at is left to whoever opens it.
void require_regular_file(const std::string& path);

/// "cannot be opened: ...", with the system's reason: to be called right after opening failed.
[[nodiscard]] std::string cannot_be_opened();

}  // namespace strata

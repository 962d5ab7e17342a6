#include "sim/base/input_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "sim/base/error.hpp"

namespace strata {

namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) {
    return "directory";
  }
  if (S_ISFIFO(mode)) {
    return "pipe";
  }
  return S_ISSOCK(mode) ? "socket" : "device";
}

}  // namespace

void require_regular_file(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    throw InputError(
        Diagnostic{path, 0, 0, {}, fmt::format("is a {}; expected a regular file", kind_of(info.st_mode))});
  }
}

std::string cannot_be_opened() {
  return errno == 0 ? std::string("cannot be opened") : fmt::format("cannot be opened: {}", std::strerror(errno));
}

}  // namespace strata

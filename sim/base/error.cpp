#include "sim/base/error.hpp"

namespace strata {

std::string to_string(const Diagnostic& d) {
  std::string out;
  if (!d.file.empty()) {
    out += d.file;
    if (d.line > 0) {
      out += ":" + std::to_string(d.line);
      if (d.column > 0) {
        out += ":" + std::to_string(d.column);
      }
    }
    out += ": ";
  }
  if (!d.key.empty()) {
    out += d.key + ": ";
  }
  return out + d.message;
}

namespace {
std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics) {
    if (!out.empty()) {
      out += "\n";
    }
    out += to_string(d);
  }
  return out;
}
}  // namespace

InputError::InputError(std::string message) : InputError(Diagnostic{{}, 0, 0, {}, std::move(message)}) {}
InputError::InputError(Diagnostic diagnostic) : InputError(std::vector<Diagnostic>{std::move(diagnostic)}) {}
InputError::InputError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join(diagnostics)), diagnostics_(std::move(diagnostics)) {}

}  // namespace strata

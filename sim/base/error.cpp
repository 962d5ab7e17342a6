#include "sim/base/error.hpp"

#include "sim/base/shortened.hpp"

namespace strata {

std::string to_string(const Diagnostic& d) {
  std::string place = escaped(d.file);
  if (!place.empty() && d.line > 0) {
    place.append(":").append(std::to_string(d.line));
    if (d.column > 0) {
      place.append(":").append(std::to_string(d.column));
    }
  }
  std::string out;
  for (const std::string& part : {place, shortened(d.key)}) {
    if (!part.empty()) {
      out.append(part).append(": ");
    }
  }
  return out.append(shortened(d.message));
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

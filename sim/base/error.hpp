/// Errors that reach a user. Libraries throw; only sim/app prints or exits.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace strata {

/// One problem in something the user gave us.
struct Diagnostic {
  std::string file;     ///< empty when the input was not a file
  int line = 0;         ///< 1-based; 0 when unknown
  int column = 0;       ///< 1-based; 0 when unknown
  std::string key;      ///< configuration key, CSV column or option; may be empty
  std::string message;  ///< what was found, what was expected, the nearest valid name
};

/// "file:line:col: key: message", without the parts that are unknown; long words are cut.
[[nodiscard]] std::string to_string(const Diagnostic& d);

/// The user's fault: bad usage or input. sim/app prints every diagnostic and exits with 2.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::string message);
  explicit InputError(Diagnostic diagnostic);
  explicit InputError(std::vector<Diagnostic> diagnostics);
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const noexcept { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// A launch that this program knows it cannot simulate; carries the reason in words.
class UnsupportedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Our fault: a broken invariant. sim/app exits with 3.
class ModelBug : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace strata

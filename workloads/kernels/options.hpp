/// Reading of kernel options: every problem of a command line is found before the first one is reported.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/kernels/catalogue.hpp"

namespace strata {

/// Typed access to KernelOptions. Each reader returns a usable value even after a problem; `finish()` throws one
/// InputError with all of them. Error texts name the option, what was given and what is allowed.
class OptionReader {
 public:
  /// @param specs  the options the kernel knows; any other one in `options` is a problem (the nearest is suggested).
  OptionReader(const KernelOptions& options, std::span<const OptionSpec> specs);

  /// Whether the user gave the option (a default from the specs does not count).
  [[nodiscard]] bool given(const std::string& name) const;

  /// An integer in [lowest, highest]; the spec's default, or `fallback` where that is empty, when it was not given.
  std::int64_t integer(const std::string& name, std::int64_t lowest, std::int64_t highest, std::int64_t fallback = 0);

  /// An integer that the user must give.
  std::int64_t required_integer(const std::string& name, std::int64_t lowest, std::int64_t highest);

  /// One of `allowed`, lower case compared exactly.
  std::string choice(const std::string& name, std::initializer_list<const char*> allowed);

  /// "1", "true", "yes", "on" or "0", "false", "no", "off".
  bool flag(const std::string& name);

  /// A data type by its name; `fallback` when nothing was given and there is no default.
  /// @param expected  the types that a message lists; empty = all
  DataType data_type(const std::string& name, DataType fallback, std::initializer_list<const char*> expected = {});

  /// The text as given, or the default.
  [[nodiscard]] std::string text(const std::string& name) const;

  /// Notes a problem of option `name`; the text says what was found and what was expected.
  void problem(const std::string& name, const std::string& message);

  [[nodiscard]] bool ok() const { return problems_.empty(); }
  void finish() const;  ///< throws InputError when there was a problem

 private:
  [[nodiscard]] const OptionSpec* spec(const std::string& name) const;

  const KernelOptions& options_;
  std::span<const OptionSpec> specs_;
  std::vector<Diagnostic> problems_;
};

/// What a switch says: "1", "true", "yes", "on" or "0", "false", "no", "off"; nothing for any other text.
[[nodiscard]] std::optional<bool> parse_switch(std::string_view text);

/// Insertions, deletions and substitutions that turn `a` into `b`.
[[nodiscard]] std::size_t word_distance(std::string_view a, std::string_view b);

/// "; did you mean 'X'?" with the candidate that begins with `word` or takes the fewest edits; nothing when none is
/// near.
[[nodiscard]] std::string nearest_hint(std::string_view word, std::span<const std::string> candidates);

}  // namespace strata

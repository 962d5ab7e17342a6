// The words after a kernel's name: what it may be asked for, and what was asked.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace ladder {

/// A kernel does not take this shape, or the words make no sense; the message is one line for the user.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws Refusal(reason) unless `condition` holds.
inline void require(bool condition, const std::string& reason) {
  if (!condition) throw Refusal(reason);
}

/// One word that a kernel takes: `--name VALUE`.
struct Key {
  std::string name;
  double fallback;      // used when the word is absent
  std::string meaning;  // one phrase for `list`
};

/// The values of a kernel's keys, defaults filled in.
class Shape {
 public:
  /// @param words `--key value` pairs. Errors: Refusal for an unknown key, a missing or malformed value.
  Shape(const std::vector<Key>& keys, const std::vector<std::string>& words);

  /// @return the value of `key`, which the kernel declared. Errors: Refusal unless it is a positive whole number.
  [[nodiscard]] long size(const std::string& key) const;
  /// @return the value of `key` as it was given.
  [[nodiscard]] double real(const std::string& key) const { return values_.at(key); }
  /// @return whether `key` is not zero.
  [[nodiscard]] bool flag(const std::string& key) const { return values_.at(key) != 0; }

 private:
  std::map<std::string, double> values_;
};

}  // namespace ladder

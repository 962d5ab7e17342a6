#include "shape.hpp"

#include <cmath>
#include <cstdlib>

namespace ladder {

namespace {

std::string key_list(const std::vector<Key>& keys) {
  std::string text;
  for (const Key& key : keys) text += (text.empty() ? "--" : ", --") + key.name;
  return text.empty() ? "none" : text;
}

double number(const std::string& key, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  require(!text.empty() && *end == '\0' && std::isfinite(value), "--" + key + " " + text + ": not a number");
  return value;
}

}  // namespace

Shape::Shape(const std::vector<Key>& keys, const std::vector<std::string>& words) {
  for (const Key& key : keys) values_[key.name] = key.fallback;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    require(words[i].rfind("--", 0) == 0, "expected --key VALUE, found '" + words[i] + "'");
    const std::string key = words[i].substr(2);
    require(values_.count(key) == 1, "unknown key --" + key + "; this kernel takes " + key_list(keys));
    require(i + 1 < words.size(), "--" + key + " needs a value");
    values_[key] = number(key, words[i + 1]);
  }
}

long Shape::size(const std::string& key) const {
  const double value = values_.at(key);
  require(value >= 1 && value == std::floor(value) && value < 2147483648.0,
          "--" + key + " must be a positive whole number under 2^31");
  return static_cast<long>(value);
}

}  // namespace ladder

// Text to value and back for one field.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <iterator>
#include <type_traits>

#include "sim/config/gpu_fields.hpp"

namespace strata {

namespace {

struct Suffix {
  std::string_view name;
  std::int64_t scale;
};
constexpr Suffix kByteSuffixes[] = {{"KiB", 1024}, {"MiB", 1024 * 1024}, {"GiB", 1024LL * 1024 * 1024},
                                    {"KB", 1000},  {"MB", 1000 * 1000},  {"GB", 1000LL * 1000 * 1000},
                                    {"B", 1}};

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) {
    s.remove_prefix(1);
  }
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) {
    s.remove_suffix(1);
  }
  return s;
}

std::string quoted(std::string_view text) {
  return text.size() > 80 ? fmt::format("'{}...'", text.substr(0, 80)) : fmt::format("'{}'", text);
}

std::optional<double> to_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

bool is_bytes(const Field& field) { return field.unit == "byte"; }

/// A whole number; with a byte suffix, the product has to be whole ("1.5KiB" is 1536).
std::optional<std::int64_t> to_size(std::string_view text) {
  if (const auto plain = to_integer(text)) {
    return plain;
  }
  for (const Suffix& suffix : kByteSuffixes) {
    if (text.size() > suffix.name.size() && text.ends_with(suffix.name)) {
      const auto number = to_number(trim(text.substr(0, text.size() - suffix.name.size())));
      if (!number) {
        return std::nullopt;
      }
      const double bytes = *number * static_cast<double>(suffix.scale);
      if (bytes != std::floor(bytes) || std::fabs(bytes) > 9e15) {
        return std::nullopt;
      }
      return static_cast<std::int64_t>(bytes);
    }
  }
  return std::nullopt;
}

std::string expected_range(const Field& field) { return "expected " + field_range(field); }

std::optional<std::string> out_of_range(const Field& field, double value, std::string_view text) {
  if (value >= field.min && value <= field.max) {
    return std::nullopt;
  }
  return fmt::format("{} is out of range: {}", text, expected_range(field));
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t bar = words.find('|');
    if (words.substr(0, bar) == word) {
      return true;
    }
    words = bar == std::string_view::npos ? std::string_view{} : words.substr(bar + 1);
  }
  return false;
}

template <typename Int>
std::optional<std::string> parse_integer(const Field& field, std::string_view text, Int& out) {
  const auto value = is_bytes(field) ? to_size(text) : to_integer(text);
  if (!value) {
    return fmt::format("{} is not a whole number{}: {}", quoted(text),
                       is_bytes(field) ? " of bytes (suffixes KiB MiB GiB KB MB GB)" : "", expected_range(field));
  }
  if (auto problem = out_of_range(field, static_cast<double>(*value), text)) {
    return problem;
  }
  out = static_cast<Int>(*value);  // the table's range fits the member: checked by a test
  return std::nullopt;
}

std::optional<std::string> parse_list(const Field& field, std::string_view text, std::vector<int>& out) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
    return fmt::format("{} is not a list such as [16, 18]: {}", quoted(text), expected_range(field));
  }
  std::string_view rest = trim(text.substr(1, text.size() - 2));
  std::vector<int> values;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = trim(rest.substr(0, comma));
    int value = 0;
    if (auto problem = parse_integer(field, item, value)) {
      return "element " + std::to_string(values.size() + 1) + ": " + *problem;
    }
    values.push_back(value);
    if (comma == std::string_view::npos) {
      break;
    }
    rest = trim(rest.substr(comma + 1));
    if (rest.empty()) {
      return fmt::format("{} ends in a comma", quoted(text));
    }
  }
  if (values.empty() || values.size() > 64) {
    return fmt::format("list of {} elements: expected 1 to 64", values.size());
  }
  out = std::move(values);
  return std::nullopt;
}

struct Parser {
  const Field& field;
  std::string_view text;

  std::optional<std::string> operator()(int* out) const { return parse_integer(field, text, *out); }
  std::optional<std::string> operator()(std::int64_t* out) const { return parse_integer(field, text, *out); }
  std::optional<std::string> operator()(double* out) const {
    const auto value = to_number(text);
    if (!value) {
      return fmt::format("{} is not a finite number: {}", quoted(text), expected_range(field));
    }
    if (auto problem = out_of_range(field, *value, text)) {
      return problem;
    }
    *out = *value;
    return std::nullopt;
  }
  std::optional<std::string> operator()(std::string* out) const {
    if (text.empty() || (!field.words.empty() && !has_word(field.words, text))) {
      return fmt::format("{} is not allowed: {}", quoted(text), expected_range(field));
    }
    *out = std::string(text);
    return std::nullopt;
  }
  std::optional<std::string> operator()(std::vector<int>* out) const { return parse_list(field, text, *out); }
};

struct Printer {
  std::string operator()(const int* v) const { return std::to_string(*v); }
  std::string operator()(const std::int64_t* v) const { return std::to_string(*v); }
  std::string operator()(const double* v) const { return fmt::format("{}", *v); }  // shortest that reads back exactly
  std::string operator()(const std::string* v) const { return *v; }
  std::string operator()(const std::vector<int>* v) const { return fmt::format("[{}]", fmt::join(*v, ", ")); }
};

}  // namespace

std::string field_range(const Field& field) {
  if (field.unit == "words") {
    if (field.words.empty()) {
      return "any text";
    }
    std::string out = "one of ";
    for (const char c : field.words) {
      out += c == '|' ? std::string(", ") : std::string(1, c);
    }
    return out;
  }
  return fmt::format("{} to {} {}", field.min, field.max, field.unit);
}

std::optional<std::string> parse_field(const Field& field, std::string_view text, GpuConfig& config) {
  return std::visit(Parser{field, trim(text)}, field.ref(config));
}

std::string field_text(const Field& field, const GpuConfig& config) {
  // ref() needs a mutable config to hand out pointers; the visitor only reads.
  return std::visit(Printer{}, field.ref(const_cast<GpuConfig&>(config)));
}

std::string binary_bytes(std::int64_t bytes) {
  constexpr std::int64_t kStep = 1024;
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes != 0 && bytes % kStep == 0 && unit + 1 < std::size(kUnits)) {
    bytes /= kStep;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

std::string field_words(const Field& field, const GpuConfig& config) {
  const std::string text = field_text(field, config);
  if (is_bytes(field)) {
    if (const auto bytes = to_integer(text)) {
      return binary_bytes(*bytes);
    }
  }
  // Words, switches, indices and ratios have no unit to name.
  for (const std::string_view plain : {"words", "flag", "index", "ratio"}) {
    if (field.unit == plain) {
      return text;
    }
  }
  const bool counted = field.unit != "MHz" && field.unit != "ns" && field.unit.find('/') == std::string_view::npos;
  return fmt::format("{} {}{}", text, field.unit, counted && text != "1" ? "s" : "");
}

std::optional<std::string> check_field(const Field& field, const GpuConfig& config) {
  GpuConfig scratch{};
  return parse_field(field, field_text(field, config), scratch);
}

}  // namespace strata

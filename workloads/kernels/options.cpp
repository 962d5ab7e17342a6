#include "workloads/kernels/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

namespace strata {

std::size_t word_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above + 1, row[j - 1] + 1, substituted});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string nearest_hint(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kFewEdits = 2;
  const auto hint = [](const std::string& candidate) { return fmt::format("; did you mean '{}'?", candidate); };
  const std::string* best = nullptr;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : candidates) {
    if (word.size() >= 2 && candidate.starts_with(word)) {
      return hint(candidate);
    }
    const std::size_t distance = word_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = &candidate;
    }
  }
  const bool near =
      best != nullptr && best_distance < best->size() && best_distance <= std::max(kFewEdits, best->size() / 3);
  return near ? hint(*best) : std::string{};
}

namespace {

std::string not_one_of(const std::string& value, std::initializer_list<const char*> allowed) {
  const std::vector<std::string> words(allowed.begin(), allowed.end());
  return fmt::format("'{}' is not known; expected one of {}{}", value, fmt::join(words, ", "),
                     nearest_hint(value, words));
}

}  // namespace

OptionReader::OptionReader(const KernelOptions& options, std::span<const OptionSpec> specs)
    : options_(options), specs_(specs) {
  std::vector<std::string> names;
  for (const OptionSpec& s : specs_) {
    names.push_back(s.name);
  }
  for (const auto& [name, value] : options_) {
    if (spec(name) == nullptr) {
      problem(name, fmt::format("unknown option{}", nearest_hint(name, names)));
    }
  }
}

const OptionSpec* OptionReader::spec(const std::string& name) const {
  const auto it = std::find_if(specs_.begin(), specs_.end(), [&](const OptionSpec& s) { return s.name == name; });
  return it == specs_.end() ? nullptr : &*it;
}

bool OptionReader::given(const std::string& name) const {
  const auto it = options_.find(name);
  return it != options_.end() && !it->second.empty();
}

DataType OptionReader::data_type(const std::string& name, DataType fallback,
                                 std::initializer_list<const char*> expected) {
  const std::string given_text = text(name);
  if (given_text.empty()) return fallback;
  try {
    return parse_data_type(given_text);
  } catch (const InputError& e) {
    if (expected.size() > 0) {
      problem(name, not_one_of(given_text, expected));
    } else {
      for (const Diagnostic& d : e.diagnostics()) problem(name, d.message);
    }
  }
  return fallback;
}

std::string OptionReader::text(const std::string& name) const {
  if (given(name)) {
    return options_.at(name);
  }
  const OptionSpec* s = spec(name);
  return s == nullptr ? std::string{} : s->default_value;
}

std::int64_t OptionReader::integer(const std::string& name, std::int64_t lowest, std::int64_t highest,
                                   std::int64_t fallback) {
  const std::string value = text(name);
  if (value.empty()) {
    return fallback;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc::result_out_of_range) {
    problem(name, fmt::format("{} does not fit 64 bits; expected {} to {}", value, lowest, highest));
    return fallback;
  }
  if (error != std::errc{} || end != value.data() + value.size()) {
    problem(name, fmt::format("'{}' is not an integer; expected {} to {}", value, lowest, highest));
    return fallback;
  }
  if (number < lowest || number > highest) {
    problem(name, fmt::format("{} is out of range; expected {} to {}", number, lowest, highest));
    return fallback;
  }
  return number;
}

std::int64_t OptionReader::required_integer(const std::string& name, std::int64_t lowest, std::int64_t highest) {
  if (text(name).empty()) {
    problem(name, fmt::format("is required; expected an integer from {} to {}", lowest, highest));
    return lowest;
  }
  return integer(name, lowest, highest, lowest);
}

std::string OptionReader::choice(const std::string& name, std::initializer_list<const char*> allowed) {
  std::string value = text(name);
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) {
    return value;
  }
  problem(name, not_one_of(value, allowed));
  return *allowed.begin();
}

std::optional<bool> parse_switch(std::string_view text) {
  if (text == "1" || text == "true" || text == "yes" || text == "on") {
    return true;
  }
  if (text == "0" || text == "false" || text == "no" || text == "off") {
    return false;
  }
  return std::nullopt;
}

bool OptionReader::flag(const std::string& name) {
  const std::string value = text(name);
  const std::optional<bool> on = value.empty() ? false : parse_switch(value);
  if (!on) {
    problem(name, fmt::format("'{}' is not a switch; expected on or off", value));
  }
  return on.value_or(false);
}

void OptionReader::problem(const std::string& name, const std::string& message) {
  problems_.push_back(Diagnostic{{}, 0, 0, name, message});
}

void OptionReader::finish() const {
  if (!problems_.empty()) {
    throw InputError(problems_);
  }
}

}  // namespace strata

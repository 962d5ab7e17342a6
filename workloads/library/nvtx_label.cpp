#include "workloads/library/nvtx_label.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/library/name_words.hpp"
#include "workloads/spec/launch.hpp"

namespace strata {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_data_type(std::string_view word) {
  try {
    (void)parse_data_type(std::string(word));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

/// "4096x512" to its numbers; empty when the word is anything else.
std::vector<std::int64_t> sizes_of(std::string_view word) {
  std::vector<std::int64_t> out;
  const char* at = word.data();
  const char* const end = at + word.size();
  while (at != end) {
    std::int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    const bool more = next != end && *next == 'x' && next + 1 != end;
    if (error != std::errc{} || value < 1 || (next != end && !more)) {
      return {};
    }
    out.push_back(value);
    at = more ? next + 1 : next;
  }
  return out;
}

/// Whether a word is meant as sizes, well or badly.
bool is_number(std::string_view word) {
  const std::size_t digit = word.starts_with('-') ? 1 : 0;
  return word.size() > digit && std::isdigit(static_cast<unsigned char>(word[digit])) != 0;
}

/// The part of "4096x0x64" that is no size.
std::string_view first_bad_size(std::string_view word) {
  for (;;) {
    const std::size_t x = word.find('x');
    const std::string_view part = word.substr(0, x);
    if (x == std::string_view::npos || sizes_of(part).empty()) return part;
    word.remove_prefix(x + 1);
  }
}

[[noreturn]] void refuse_number(std::string_view label, std::string_view number) {
  throw UnsupportedError(
      fmt::format("the NVTX range '{}' has '{}' for a size; expected a whole number from 1 on", label, number));
}

/// The number behind a letter: ("h32", 'h') is 32; 0 when the word is anything else. Throws UnsupportedError where the
/// number is none from 1 on.
std::int64_t number_behind(std::string_view label, std::string_view word, char letter) {
  if (word.empty() || word.front() != letter || !is_number(word.substr(1))) {
    return 0;
  }
  const std::vector<std::int64_t> number = sizes_of(word.substr(1));
  if (number.size() != 1) refuse_number(label, word.substr(1));
  return number[0];
}

/// attn_<backend>_b<batch>_h<heads>[_<kv heads>]_q<queries>_k<keys>_d<head dim>_<c|f>[_<dtype>]
std::optional<OperatorCells> attention_label(std::string_view label, std::vector<std::string_view> words) {
  if (words[0] != "attn" && words[0] != "attention") {
    return std::nullopt;
  }
  std::string dtype = "bf16";
  if (is_data_type(words.back())) {
    dtype = words.back();
    words.pop_back();
  }
  if (words.size() == 8 && !words[3].empty()) {
    words.insert(words.begin() + 4, words[3].substr(1));  // without kv heads: as many as heads
  }
  if (words.size() != 9) {
    return std::nullopt;
  }
  const std::vector<std::int64_t> kv_heads = sizes_of(words[4]);
  const std::array<std::int64_t, 6> n{number_behind(label, words[2], 'b'),    number_behind(label, words[3], 'h'),
                                      kv_heads.size() == 1 ? kv_heads[0] : 0, number_behind(label, words[5], 'q'),
                                      number_behind(label, words[6], 'k'),    number_behind(label, words[7], 'd')};
  for (const std::int64_t value : n) {
    if (value == 0) return std::nullopt;
  }
  if (words[8] != "c" && words[8] != "f") {
    return std::nullopt;
  }
  return OperatorCells{"attention", dtype,
                       fmt::format("{},{},{}", fmt::join(n, ","), words[8] == "c" ? 1 : 0, words[1])};
}

/// <op>_<dtype>[_<layout>]_<sizes>
std::optional<OperatorCells> words_label(std::string_view label) {
  std::vector<std::string_view> words = words_of(label);
  if (auto attention = attention_label(label, words)) {
    return attention;
  }
  const std::string_view last = words.back();
  const std::vector<std::int64_t> sizes = sizes_of(last);
  words.pop_back();
  std::string shape = fmt::format("{}", fmt::join(sizes, ","));
  if (!words.empty() && is_layout(words.back())) {
    shape += fmt::format(",{}", words.back());
    words.pop_back();
  }
  if (words.size() < 2 || !is_data_type(words.back()) || !is_number(last)) {
    return std::nullopt;
  }
  if (sizes.empty()) refuse_number(label, first_bad_size(last));
  if (sizes.size() < 2) return std::nullopt;
  const std::string dtype(words.back());
  words.pop_back();
  return OperatorCells{fmt::format("{}", fmt::join(words, "_")), dtype, shape};
}

/// "<op> <dtype> <shape>"
std::optional<OperatorCells> spaced_label(std::string_view label) {
  const std::size_t first = label.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : label.find(' ', first + 1);
  if (second == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view dtype = label.substr(first + 1, second - first - 1);
  const std::string_view shape = trim(label.substr(second + 1));
  if (!is_data_type(dtype) || shape.empty() || std::isdigit(static_cast<unsigned char>(shape.front())) == 0) {
    return std::nullopt;
  }
  return OperatorCells{std::string(label.substr(0, first)), std::string(dtype), std::string(shape)};
}

/// The lists in "[[16, 64], [64, 32], []]"; where the text is no such list, returns what of it is none.
std::optional<std::string_view> read_sizes(std::string_view text, RecordedOperator& op) {
  int depth = 0;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    if (*at == '[') {
      if (++depth == 2) op.arguments.emplace_back();
      ++at;
    } else if (*at == ']') {
      ++at;
      if (--depth == 0) return std::nullopt;
    } else if (*at == ' ' || *at == ',') {
      ++at;
    } else {
      std::int64_t value = 0;
      const auto [next, error] = std::from_chars(at, end, value);
      const bool whole = next == end || std::string_view(" ,]").find(*next) != std::string_view::npos;
      if (error != std::errc{} || !whole || depth < 2) {
        const std::string_view rest = text.substr(static_cast<std::size_t>(at - text.data()));
        return rest.substr(0, rest.find_first_of(" ,]"));
      }
      op.arguments.back().dims.push_back(value);
      at = next;
    }
  }
  return "the end of the text";
}

/// "<operator>, ..., sizes = [[...], ...]"
std::optional<OperatorCells> framework_label(std::string_view label) {
  constexpr std::string_view kSizes = "sizes = ";
  const std::size_t name_end = label.find(',');
  if (name_end == std::string_view::npos || label.substr(0, name_end).find("::") == std::string_view::npos) {
    return std::nullopt;
  }
  RecordedOperator op;
  op.name = label.substr(0, name_end);
  const std::size_t at = label.find(kSizes);
  if (at == std::string_view::npos) {
    throw UnsupportedError(
        fmt::format("the NVTX range of {} has no sizes; use emit_nvtx(record_shapes=True)", op.name));
  }
  if (const auto bad = read_sizes(label.substr(at + kSizes.size()), op)) {
    throw UnsupportedError(
        fmt::format("the sizes in the NVTX range of {} are not lists of numbers: found '{}'", op.name, *bad));
  }
  return cells_of_operator(op);
}

}  // namespace

std::optional<OperatorCells> parse_nvtx_label(std::string_view label) {
  label = trim(label);
  if (auto cells = framework_label(label)) {
    return cells;
  }
  if (auto cells = spaced_label(label)) {
    return cells;
  }
  return words_label(label);
}

}  // namespace strata

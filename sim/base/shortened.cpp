#include "sim/base/shortened.hpp"

#include <algorithm>

namespace strata {

namespace {

constexpr std::size_t kLongestWord = 400;
constexpr std::size_t kLongestText = 4000;

/// `text` with at most about `most` bytes: its first two thirds, dots, and its end, which often holds what was
/// expected.
std::string without_middle(std::string_view text, std::size_t most) {
  if (text.size() <= most) {
    return std::string(text);
  }
  const auto inside_character = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; };
  std::size_t head = most * 2 / 3;
  while (head > 0 && inside_character(head)) {
    --head;
  }
  std::size_t tail = text.size() - most / 4;
  while (tail + 1 < text.size() && inside_character(tail)) {
    ++tail;
  }
  return std::string(text.substr(0, head)).append("...").append(text.substr(tail));
}

}  // namespace

std::string escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr unsigned char kDelete = 0x7F;
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte >= ' ' && byte != kDelete) || c == '\t' || c == '\n') {
      out += c;
    } else {
      out += "\\x";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 0xFU];
    }
  }
  return out;
}

std::string shortened(std::string_view whole) {
  const std::string shown = escaped(whole);
  std::string_view text = shown;
  constexpr std::string_view kBlank = " \t\n";
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(kBlank), text.size());
    out += without_middle(text.substr(0, end), kLongestWord);
    text.remove_prefix(end);
    const std::size_t blanks = std::min(text.find_first_not_of(kBlank), text.size());
    out += text.substr(0, blanks);
    text.remove_prefix(blanks);
  }
  return without_middle(out, kLongestText);
}

}  // namespace strata

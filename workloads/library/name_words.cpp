#include "workloads/library/name_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include "sim/base/error.hpp"

namespace strata {

namespace {

constexpr std::uint32_t kHighest = 4096;

bool begins_with_digit(std::string_view word) { return !word.empty() && word.front() >= '0' && word.front() <= '9'; }

}  // namespace

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find('_'); at != std::string_view::npos; at = text.find('_')) {
    words.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  words.push_back(text);
  return words;
}

bool parse_dims(std::string_view word, std::span<std::uint32_t> out) {
  const char* at = word.data();
  const char* end = at + word.size();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i > 0) {
      if (at == end || *at != 'x') {
        return false;
      }
      ++at;
    }
    const auto [next, error] = std::from_chars(at, end, out[i]);
    if (error != std::errc{} || out[i] < 1 || out[i] > kHighest) {
      return false;
    }
    at = next;
  }
  return at == end;
}

std::optional<std::uint32_t> number_after(std::string_view word, std::string_view prefix) {
  std::array<std::uint32_t, 1> value{};
  if (!word.starts_with(prefix) || !parse_dims(word.substr(prefix.size()), value)) {
    return std::nullopt;
  }
  return value[0];
}

void refuse_word(std::string_view word, std::string_view expected) {
  throw UnsupportedError(fmt::format("'{}' of the name is not understood; expected {}", word, expected));
}

void keep_unknown(std::string_view word, std::vector<std::string>& unknown) {
  const std::string_view sizes = word.substr(std::min(word.find_first_of("0123456789"), word.size()));
  const std::size_t x = sizes.find('x');
  if (x != std::string_view::npos && begins_with_digit(sizes.substr(x + 1)) &&
      sizes.find_first_not_of("0123456789x") == std::string_view::npos) {
    refuse_word(word, "no other sizes");
  }
  unknown.emplace_back(word);
}

std::optional<std::uint32_t> size_after(std::string_view word, std::string_view prefix) {
  const auto number = number_after(word, prefix);
  if (!number && word.starts_with(prefix) && begins_with_digit(word.substr(prefix.size()))) {
    refuse_word(word, fmt::format("{} and a number from 1 to {}", prefix, kHighest));
  }
  return number;
}

bool take_sizes(std::string_view word, TileSizes& out) {
  if (!begins_with_digit(word)) {
    return false;
  }
  std::array<std::uint32_t, 2> pair{};
  const bool is_pair = parse_dims(word, pair);
  if (out.tile_n == 0) {
    if (!is_pair) refuse_word(word, "a tile such as 128x64");
    out.tile_n = pair[0];
    out.tile_m = pair[1];
  } else {
    if (!is_pair || out.tile_k != 0) refuse_word(word, "a tile, then once K tile and stages such as 32x3");
    out.tile_k = pair[0];
    out.stages = pair[1];
  }
  return true;
}

void expect_access(std::string_view prefix, std::uint32_t elements, DataType type) {
  constexpr std::uint32_t kMostBits = 128;
  const std::uint32_t most = std::max(1U, kMostBits / bits_of(type));
  if (!std::has_single_bit(elements) || elements > most) {
    throw UnsupportedError(fmt::format("'{}{}' of the name: expected a power of two up to {}, which are 16 B of {}",
                                       prefix, elements, most, to_string(type)));
  }
}

std::optional<DataType> operand_type(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, DataType>, 16> kTypes{{
      {"f16", DataType::kFp16},
      {"fp16", DataType::kFp16},
      {"bf16", DataType::kBf16},
      {"f32", DataType::kFp32},
      {"fp32", DataType::kFp32},
      {"tf32", DataType::kTf32},
      {"s8", DataType::kInt8},
      {"i8", DataType::kInt8},
      {"u8", DataType::kInt8},
      {"s4", DataType::kInt4},
      {"u4", DataType::kInt4},
      {"i32", DataType::kInt32},
      {"s32", DataType::kInt32},
      {"e4m3", DataType::kFp8},
      {"e5m2", DataType::kFp8},
      {"f64", DataType::kFp64},
  }};
  const auto* found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.first == word; });
  return found == kTypes.end() ? std::nullopt : std::optional<DataType>(found->second);
}

std::optional<TypePair> operand_type_pair(std::string_view word) {
  for (std::size_t cut = 2; cut + 2 <= word.size(); ++cut) {
    const std::optional<DataType> first = operand_type(word.substr(0, cut));
    const std::optional<DataType> second = operand_type(word.substr(cut));
    if (first && second) {
      return TypePair{*first, *second};
    }
  }
  return std::nullopt;
}

bool is_layout(std::string_view word) {
  return word.size() == 2 && word.find_first_not_of("ntNT") == std::string_view::npos;
}

}  // namespace strata

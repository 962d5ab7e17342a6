#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/spec/launch.hpp"

namespace strata {
namespace {

struct Spelling {
  std::string_view text;
  DataType type;
};

/// The first ten are the canonical names in the order of the enumeration; the rest are what frameworks call them.
constexpr std::array kSpellings = {
    Spelling{"fp64", DataType::kFp64},    Spelling{"fp32", DataType::kFp32},     Spelling{"tf32", DataType::kTf32},
    Spelling{"fp16", DataType::kFp16},    Spelling{"bf16", DataType::kBf16},     Spelling{"fp8", DataType::kFp8},
    Spelling{"int8", DataType::kInt8},    Spelling{"int32", DataType::kInt32},   Spelling{"int4", DataType::kInt4},
    Spelling{"bool", DataType::kBool},    Spelling{"double", DataType::kFp64},   Spelling{"float64", DataType::kFp64},
    Spelling{"float", DataType::kFp32},   Spelling{"float32", DataType::kFp32},  Spelling{"half", DataType::kFp16},
    Spelling{"float16", DataType::kFp16}, Spelling{"bfloat16", DataType::kBf16}, Spelling{"e4m3", DataType::kFp8},
    Spelling{"fp8_e4m3", DataType::kFp8}, Spelling{"e5m2", DataType::kFp8},      Spelling{"fp8_e5m2", DataType::kFp8},
    Spelling{"float8", DataType::kFp8},
};
constexpr std::size_t kNumCanonical = 10;

/// Types of frameworks that are not simulated.
constexpr std::array<std::string_view, 34> kOthers = {
    "int64",
    "int16",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uint4",
    "long",
    "int",
    "short",
    "byte",
    "char",
    "i8",
    "u8",
    "i32",
    "i64",
    "complex32",
    "complex64",
    "complex128",
    "complexfloat",
    "complexdouble",
    "fp4",
    "fp6",
    "e2m1",
    "mxfp4",
    "mxfp8",
    "nvfp4",
    "qint8",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3",
    "quint8",
    "float8_e8m0",
    "float8_e4m3fnuz",
};

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

bool names_data_type(const std::string& text) {
  const std::string lower = lower_case(text);
  return std::find(kOthers.begin(), kOthers.end(), lower) != kOthers.end() ||
         std::any_of(kSpellings.begin(), kSpellings.end(), [&](const Spelling& s) { return s.text == lower; });
}

DataType parse_data_type(const std::string& text) {
  const std::string lower = lower_case(text);
  for (const Spelling& s : kSpellings) {
    if (s.text == lower) return s.type;
  }
  std::string names(kSpellings[0].text);
  for (std::size_t i = 1; i < kNumCanonical; ++i) names.append(", ").append(kSpellings[i].text);
  const auto nearest =
      std::min_element(kSpellings.begin(), kSpellings.end(), [&](const Spelling& a, const Spelling& b) {
        return edit_distance(lower, a.text) < edit_distance(lower, b.text);
      });
  std::string message = fmt::format("'{}' is not a data type; expected one of {}", text.substr(0, 64), names);
  if (edit_distance(lower, nearest->text) <= 2) message += fmt::format("; did you mean '{}'?", nearest->text);
  throw InputError(Diagnostic{{}, 0, 0, "dtype", message});
}

}  // namespace strata

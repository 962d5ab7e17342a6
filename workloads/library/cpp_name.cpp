#include "workloads/library/cpp_name.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string>

#include "sim/base/error.hpp"

namespace strata {
namespace {

struct CppType {
  std::string_view text;
  DataType type;
};
constexpr std::array kTypes = {
    CppType{"float", DataType::kFp32},
    CppType{"double", DataType::kFp64},
    CppType{"c10::BFloat16", DataType::kBf16},
    CppType{"c10::Half", DataType::kFp16},
    CppType{"__nv_bfloat16", DataType::kBf16},
    CppType{"__half", DataType::kFp16},
    CppType{"bool", DataType::kBool},
    CppType{"int", DataType::kInt32},
    CppType{"unsigned int", DataType::kInt32},
    CppType{"long", DataType::kFp64},
    CppType{"long long", DataType::kFp64},
    CppType{"unsigned long", DataType::kFp64},
    CppType{"unsigned long long", DataType::kFp64},
    CppType{"c10::complex<float>", DataType::kFp64},
    CppType{"c10::complex<c10::Half>", DataType::kFp32},
    CppType{"short", DataType::kFp16},
    CppType{"unsigned short", DataType::kFp16},
    CppType{"unsigned char", DataType::kInt8},
    CppType{"signed char", DataType::kInt8},
    CppType{"char", DataType::kInt8},
    CppType{"c10::Float8_e4m3fn", DataType::kFp8},
    CppType{"c10::Float8_e5m2", DataType::kFp8},
    CppType{"__nv_fp8_e4m3", DataType::kFp8},
    CppType{"__nv_fp8_e5m2", DataType::kFp8},
};

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Whether the '>' or '<' at `i` is part of "->", "<=", "<<" and the like of an operator's name.
bool is_arrow(std::string_view text, std::size_t i) { return text[i] == '>' && i > 0 && text[i - 1] == '-'; }

std::string_view argument(const std::vector<std::string_view>& arguments, std::size_t i, const char* expected) {
  if (i >= arguments.size()) {
    throw UnsupportedError(fmt::format("the kernel name has {} template arguments; argument {} should be {}",
                                       arguments.size(), i + 1, expected));
  }
  return arguments[i];
}

struct ArgumentList {
  std::vector<std::string_view> arguments;
  bool ends = false;  ///< with its bracket
};

ArgumentList list_of(std::string_view canonical, std::string_view name) {
  ArgumentList list;
  const std::size_t at = canonical.find(std::string(name) + '<');
  if (at == std::string_view::npos) return list;
  std::size_t first = at + name.size() + 1;
  int depth = 0;
  for (std::size_t i = first; i < canonical.size() && !list.ends; ++i) {
    const char c = canonical[i];
    if (is_arrow(canonical, i)) continue;
    const bool opens = c == '<' || c == '(' || c == '[' || c == '{';
    const bool closes = c == '>' || c == ')' || c == ']' || c == '}';
    if (depth == 0 && (c == ',' || c == '>')) {
      list.arguments.push_back(trim(canonical.substr(first, i - first)));
      first = i + 1;
      list.ends = c == '>';
    } else {
      depth += opens ? 1 : (closes ? -1 : 0);
    }
  }
  return list;
}

}  // namespace

std::optional<DataType> cpp_data_type(std::string_view text) {
  text = trim(text);
  for (const CppType& t : kTypes) {
    if (t.text == text) return t.type;
  }
  return std::nullopt;
}

std::vector<std::string_view> template_arguments(std::string_view canonical, std::string_view name) {
  return list_of(canonical, name).arguments;
}

std::vector<std::string_view> whole_arguments(std::string_view canonical, std::string_view name) {
  ArgumentList list = list_of(canonical, name);
  if (!list.ends) {
    throw UnsupportedError(
        fmt::format("the kernel name is cut short within the template arguments of {}; record whole names", name));
  }
  return list.arguments;
}

std::optional<std::uint32_t> cpp_integer(std::string_view text) {
  text = trim(text);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

DataType type_argument(const std::vector<std::string_view>& arguments, std::size_t i) {
  const std::string_view text = argument(arguments, i, "a type");
  if (const auto type = cpp_data_type(text)) return *type;
  throw UnsupportedError(fmt::format("template argument {} is '{}', not a type of a known size", i + 1, text));
}

std::uint32_t integer_argument(const std::vector<std::string_view>& arguments, std::size_t i) {
  const std::string_view text = argument(arguments, i, "an integer");
  if (const auto value = cpp_integer(text)) return *value;
  throw UnsupportedError(fmt::format("template argument {} is '{}', not an integer", i + 1, text));
}

}  // namespace strata

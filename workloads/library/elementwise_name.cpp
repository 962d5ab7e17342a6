#include "workloads/library/elementwise_name.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "sim/base/error.hpp"
#include "workloads/library/cpp_name.hpp"

namespace strata {
namespace {

constexpr std::string_view kVectorized = "vectorized_elementwise_kernel<";
constexpr std::string_view kUnrolled = "unrolled_elementwise_kernel<";
constexpr std::string_view kStrided = "elementwise_kernel<";
constexpr std::uint32_t kWarp = 32;
constexpr std::uint32_t kMostThreads = 1024;
/// The kernel's pointers, in releases of 2024 on and before.
constexpr std::string_view kArrays[] = {"std::array<char*, ", "at::detail::Array<char*, "};

/// Types of a comma-separated list that ends at the bracket `close`; stops at the first that is not a type.
std::vector<DataType> type_list(std::string_view text, std::size_t at, char close) {
  std::vector<DataType> types;
  while (at < text.size()) {
    std::size_t end = at;
    for (int depth = 0; end < text.size(); ++end) {  // c10::complex<float> is one type
      const char c = text[end];
      if (depth == 0 && (c == ',' || c == '(' || c == close)) break;
      depth += c == '<' ? 1 : (c == '>' ? -1 : 0);
      if (depth < 0) break;
    }
    if (end == text.size()) break;
    const auto type = cpp_data_type(text.substr(at, end - at));
    if (!type) break;
    types.push_back(*type);
    if (text[end] != ',') break;
    at = end + 1;
  }
  return types;
}

/// The argument types of the first lambda that has any: the functor itself, not those that dispatch to it.
std::vector<DataType> lambda_types(std::string_view text) {
  constexpr std::string_view kLambda = "lambda(";
  for (std::size_t at = text.find(kLambda); at != std::string_view::npos; at = text.find(kLambda, at + 1)) {
    std::vector<DataType> types = type_list(text, at + kLambda.size(), ')');
    if (!types.empty()) return types;
  }
  return {};
}

/// The template arguments of the functor `name<...>`, if the kernel's name has it.
std::vector<DataType> template_types(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  return at == std::string_view::npos ? std::vector<DataType>{} : type_list(text, at + name.size(), '>');
}

/// The element type of a functor of PyTorch's that takes and gives one type, its first template argument. Names of
/// strided kernels hold a lambda in its place.
std::optional<DataType> functor_type(std::string_view name, std::string_view head) {
  const bool vectorized = head.ends_with(kVectorized);
  if (!vectorized && !head.ends_with(kUnrolled)) return std::nullopt;
  const std::size_t place = vectorized ? 1 : 0;
  const auto arguments = template_arguments(name, head.substr(0, head.size() - 1));
  if (arguments.size() <= place) return std::nullopt;
  const std::string_view functor = arguments[place];
  const std::size_t open = functor.find('<');
  if (open == std::string_view::npos || functor.find("lambda") != std::string_view::npos) return std::nullopt;
  const std::vector<DataType> types = type_list(functor, open + 1, '>');
  return types.empty() ? std::nullopt : std::optional(types.front());
}

std::uint32_t number_at(std::string_view text, std::size_t at) {
  std::uint32_t value = 0;
  if (at < text.size()) std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

/// A name that was cut off would be taken for a kernel that computes nothing known.
void expect_arguments(std::string_view name, std::string_view head) {
  const bool unrolled = head.ends_with(kUnrolled);
  const std::size_t fewest = unrolled ? 2 : 3;
  const std::size_t arguments = template_arguments(name, head.substr(0, head.size() - 1)).size();
  if (arguments < fewest) {
    throw UnsupportedError(
        fmt::format("the kernel name is cut short: it has {} whole template arguments; expected {}", arguments,
                    unrolled ? "a functor and an array of pointers"
                             : (head.ends_with(kVectorized) ? "a vector width, a functor and an array of pointers"
                                                            : "threads, elements per thread and a functor")));
  }
}

void read_types(std::string_view name, std::string_view head, ElementwiseName& e) {
  // AUnaryFunctor<arg1, arg2, result, op> holds the first argument, BUnaryFunctor the second.
  if (const auto t = template_types(name, "AUnaryFunctor<"); t.size() >= 3) {
    e.inputs = {t[1]};
    e.output = t[2];
  } else if (const auto b = template_types(name, "BUnaryFunctor<"); b.size() >= 3) {
    e.inputs = {b[0]};
    e.output = b[2];
  } else if (const auto two = template_types(name, "BinaryFunctor<"); two.size() >= 3) {
    e.inputs = {two[0], two[1]};
    e.output = two[2];
  } else if (const auto fill = template_types(name, "FillFunctor<"); !fill.empty()) {
    e.inputs = {};
    e.output = fill[0];
  } else if (const auto self = template_types(name, "CUDAFunctorOnSelf_add<"); !self.empty()) {
    e.inputs = {self[0]};
    e.output = self[0];
  } else if (const auto other = template_types(name, "CUDAFunctorOnOther_add<"); !other.empty()) {
    e.inputs = {other[0]};
    e.output = other[0];
  } else if (const auto add = template_types(name, "CUDAFunctor_add<"); !add.empty()) {
    e.inputs = {add[0], add[0]};
    e.output = add[0];
  } else if (const auto args = lambda_types(name); !args.empty()) {
    e.inputs = args;
    const bool masked = args.back() == DataType::kBool && name.find("masked_fill") != std::string_view::npos;
    e.output = masked ? args.front() : args.back();
  } else if (const auto type = functor_type(name, head)) {
    e.inputs = {};  // as many as there are pointers, all of the output's type
    e.output = *type;
  } else {
    return;
  }
  e.knows_types = true;
  for (const char* predicate : {"isneginf", "isposinf", "isnan", "isinf", "isfinite", "logical_", "compare"}) {
    if (name.find(predicate) != std::string_view::npos) e.output = DataType::kBool;
  }
  if (name.find("bfloat16_copy_kernel") != std::string_view::npos) e.output = DataType::kBf16;
  if (name.find("float16_copy_kernel") != std::string_view::npos && e.output != DataType::kBf16) {
    e.output = DataType::kFp16;
  }
}

}  // namespace

bool is_elementwise_name(std::string_view canonical) {
  const std::string_view head = canonical.substr(0, canonical.find('<') + 1);
  for (const std::string_view kernel : {kVectorized, kUnrolled, kStrided}) {
    // Whole identifiers only: index_elementwise_kernel gathers, others lay their template arguments out differently.
    const std::size_t before = head.size() - kernel.size();
    if (head.ends_with(kernel) && (before == 0 || head[before - 1] == ':')) return true;
  }
  return false;
}

ElementwiseName parse_elementwise_name(std::string_view name) {
  ElementwiseName e;
  const std::string_view head = name.substr(0, name.find('<') + 1);
  expect_arguments(name, head);
  std::size_t array = std::string_view::npos;
  std::uint32_t pointers = 0;
  for (const std::string_view text : kArrays) {
    array = name.find(text);
    if (array == std::string_view::npos) continue;
    pointers = number_at(name, array + text.size());
    if (pointers == 0) {
      throw UnsupportedError(
          "the array of pointers of the name has none; expected one of the output and of each input");
    }
    break;
  }
  e.functor = functor_class(name);
  read_types(name, head, e);
  if (head.ends_with(kVectorized)) {
    e.order = ThreadOrder::kVectorized;
    e.vector = number_at(name, head.size());
  } else if (head.ends_with(kUnrolled)) {
    e.order = ThreadOrder::kUnrolled;
    e.casts = name.find("LoadWithCast") != std::string_view::npos;
    if (array != std::string_view::npos) {
      const std::size_t close = name.find('>', array);
      if (close != std::string_view::npos) e.elements_per_thread = number_at(name, close + 3);
    }
    if (e.elements_per_thread == 0) e.elements_per_thread = 4;
  } else {
    e.order = ThreadOrder::kStrided;
    const std::size_t comma = name.find(',');
    if (comma != std::string_view::npos) e.elements_per_thread = number_at(name, comma + 2);
    e.threads = number_at(name, head.size());
    if (e.threads == 0 || e.threads > kMostThreads || e.threads % kWarp != 0) {
      throw UnsupportedError(fmt::format("{} threads per CTA in the name; expected a multiple of {} up to {}",
                                         e.threads, kWarp, kMostThreads));
    }
  }
  if (e.vector == 0 || (e.order == ThreadOrder::kStrided && e.elements_per_thread == 0)) {
    throw UnsupportedError("the kernel name lacks its vector width or elements per thread");
  }
  constexpr std::uint32_t kMostElements = 64;
  if (e.vector > 16 || !std::has_single_bit(e.vector) || e.elements_per_thread > kMostElements) {
    throw UnsupportedError(
        fmt::format("vectors of {} and {} elements per thread; expected 1, 2, 4, 8 or 16, and at most {}", e.vector,
                    e.elements_per_thread, kMostElements));
  }
  if (pointers > 0) {
    const std::size_t inputs = pointers - 1;
    if (inputs > kMaxInputs) {
      throw UnsupportedError(fmt::format("{} inputs; at most {} are modelled", inputs, kMaxInputs));
    }
    if (e.knows_types && inputs < e.inputs.size()) {
      throw UnsupportedError(fmt::format("{} pointers; the functor of the name needs {}, of its output and {} inputs",
                                         pointers, e.inputs.size() + 1, e.inputs.size()));
    }
    if (!e.knows_types || e.inputs.size() != inputs) {
      e.inputs.resize(inputs, e.inputs.empty() ? e.output : e.inputs.back());
    }
  }
  if (e.inputs.size() > kMaxInputs) {
    throw UnsupportedError(fmt::format("{} inputs; at most {} are modelled", e.inputs.size(), kMaxInputs));
  }
  return e;
}

}  // namespace strata

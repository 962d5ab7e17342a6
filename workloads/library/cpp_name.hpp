/// Reading of C++ template arguments in canonical kernel names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workloads/spec/launch.hpp"

namespace strata {

/// The storage type of a C++ spelling ("float", "c10::BFloat16", ...); 64-bit integers and complex<float> move like
/// fp64. Spaces around it do not matter.
[[nodiscard]] std::optional<DataType> cpp_data_type(std::string_view text);

/// The arguments of the first `name<...>` in a canonical kernel name, nested brackets kept whole; empty without one.
[[nodiscard]] std::vector<std::string_view> template_arguments(std::string_view canonical, std::string_view name);

/// The same, of a kernel that needs them: UnsupportedError where the name has none or ends before they do, as names
/// do that a profiler cut.
[[nodiscard]] std::vector<std::string_view> whole_arguments(std::string_view canonical, std::string_view name);

/// A non-negative integer that fills the whole text; true and false are 1 and 0 in canonical names.
[[nodiscard]] std::optional<std::uint32_t> cpp_integer(std::string_view text);

/// Argument `i` as a type or an integer; UnsupportedError that names the kernel and the argument when it is none.
[[nodiscard]] DataType type_argument(const std::vector<std::string_view>& arguments, std::size_t i);
[[nodiscard]] std::uint32_t integer_argument(const std::vector<std::string_view>& arguments, std::size_t i);

}  // namespace strata

/// The field table of GpuConfig: one line per member with key, unit, range and meaning. The YAML reader, the checks,
/// `describe`, `--set` and the effective-config writer are all made from it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/config/gpu_config.hpp"

namespace strata {

/// A pointer to one member of a GpuConfig.
using FieldRef = std::variant<int*, std::int64_t*, double*, std::string*, std::vector<int>*>;

struct Field {
  std::string_view key;  ///< "section.member"
  FieldRef (*ref)(GpuConfig&);
  std::string_view unit;     ///< "byte", "MHz", "SM cycle", ...; "words" for text
  double min;                ///< lowest value allowed, of each element for lists; unused for text
  double max;                ///< highest value allowed
  std::string_view meaning;  ///< one sentence
  std::string_view words{};  ///< text only: allowed words separated by '|'; empty = any non-empty text
};

/// All fields, in the order in which they are written and described.
[[nodiscard]] std::span<const Field> gpu_fields();
[[nodiscard]] std::vector<std::string> gpu_field_keys();

/// The field of a key. A key that lacks only its unit suffix ("l2.size" for "l2.size_bytes") is accepted.
/// nullptr when there is none.
[[nodiscard]] const Field* find_field(std::string_view key);

/// Writes `text` into the field's member: integers (with KiB MiB GiB KB MB GB where the unit is bytes), decimal
/// numbers, words, or lists as "[16, 16]". Checks type and range, not the relations between fields.
/// @return nothing on success, else what was found and what was expected.
[[nodiscard]] std::optional<std::string> parse_field(const Field& field, std::string_view text, GpuConfig& config);

/// The member's value as parse_field reads it back, bit for bit.
[[nodiscard]] std::string field_text(const Field& field, const GpuConfig& config);

/// The same for people, with its unit: "50 MiB", "1590 MHz", "20 ways".
[[nodiscard]] std::string field_words(const Field& field, const GpuConfig& config);

/// "50 MiB", "48 KiB", "24 B": in the largest power of 1024 that divides it.
[[nodiscard]] std::string binary_bytes(std::int64_t bytes);

/// What is wrong with the member's value, or nothing.
[[nodiscard]] std::optional<std::string> check_field(const Field& field, const GpuConfig& config);

/// "1 to 64", "one of a, b".
[[nodiscard]] std::string field_range(const Field& field);

}  // namespace strata

/// Reading of kernel names that are words joined by underscores.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/spec/launch.hpp"

namespace strata {

[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

/// "128x64x8" to as many numbers from 1 to 4096 as `out` has; false when the word is anything else.
[[nodiscard]] bool parse_dims(std::string_view word, std::span<std::uint32_t> out);

/// The number after `prefix`, from 1 to 4096: ("stage3", "stage") is 3.
[[nodiscard]] std::optional<std::uint32_t> number_after(std::string_view word, std::string_view prefix);

/// Throws UnsupportedError that names the word and what was expected.
[[noreturn]] void refuse_word(std::string_view word, std::string_view expected);

/// Keeps a word that is not understood, for a warning: libraries add words. Throws UnsupportedError where it gives
/// sizes ("cgasize2x1x1"), which change what runs.
void keep_unknown(std::string_view word, std::vector<std::string>& unknown);

/// The number of a word that is `prefix` and digits, as number_after(); nothing for other words. Throws
/// UnsupportedError where the number is none from 1 to 4096: a size of zero is no word that a library added.
[[nodiscard]] std::optional<std::uint32_t> size_after(std::string_view word, std::string_view prefix);

/// The sizes that names of GEMMs give as <t1>x<t2>, along N and M, and then <kTile>x<stages>.
struct TileSizes {
  std::uint32_t tile_n = 0;
  std::uint32_t tile_m = 0;
  std::uint32_t tile_k = 0;  ///< 0 = not in the name
  std::uint32_t stages = 0;
};
/// Takes a word that begins with a digit as the next sizes; false for other words. Throws UnsupportedError where it is
/// no two sizes or the name has them already.
bool take_sizes(std::string_view word, TileSizes& out);

/// Throws UnsupportedError where no access loads `elements` of the type: a power of two, 16 B at most.
/// @param prefix  of the number in the name: "align"
void expect_access(std::string_view prefix, std::uint32_t elements, DataType type);

/// The operand type that a word stands for: f16 fp16 bf16 f32 fp32 tf32 s8 i8 u8 s4 u4 i32 s32 e4m3 e5m2 f64.
[[nodiscard]] std::optional<DataType> operand_type(std::string_view word);

/// "bf16f32" to its two operand types.
struct TypePair {
  DataType first;
  DataType second;
};
[[nodiscard]] std::optional<TypePair> operand_type_pair(std::string_view word);

/// Whether the word is two letters n or t in either case, as layouts are written.
[[nodiscard]] bool is_layout(std::string_view word);

}  // namespace strata

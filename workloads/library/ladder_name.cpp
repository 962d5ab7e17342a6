#include "workloads/library/ladder_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/library/name_words.hpp"

namespace strata {

namespace {

constexpr std::string_view kPrefix = "strata_";

/// "4s" is 4.
std::uint32_t stages_of(std::string_view word) {
  std::array<std::uint32_t, 1> number{};
  return word.ends_with('s') && parse_dims(word.substr(0, word.size() - 1), number) ? number[0] : 0;
}

/// What a name says once: a second one would take the first one's place.
void expect_first(bool first, std::string_view word, std::string_view what) {
  if (!first) throw UnsupportedError(fmt::format("'{}' of the name is a second {}; expected one", word, what));
}

bool parse_shape(std::string_view word, LadderGemmName& out) {
  std::array<std::uint32_t, 3> tile{};
  std::array<std::uint32_t, 2> pair{};
  if (parse_dims(word, tile)) {
    expect_first(out.tile_m == 0, word, "tile");
    out.tile_m = tile[0];
    out.tile_n = tile[1];
    out.tile_k = tile[2];
  } else if (!parse_dims(word, pair)) {
    return false;
  } else if (out.tile_m == 0) {
    out.tile_m = pair[0];
    out.tile_n = pair[1];
  } else if (out.rung == "wgmma") {
    out.cluster_m = pair[0];
    out.cluster_n = pair[1];
  } else if (out.rung != "simt" ||
             pair != std::array{8U, 8U}) {  // the elements of a thread, of which there is one kind
    refuse_word(word, out.rung == "simt" ? "8x8 elements of a thread" : "no other sizes");
  }
  return true;
}

bool parse_flag(std::string_view word, LadderGemmName& out) {
  if (word == "sb" || word == "db") {
    out.stages = word == "sb" ? 1 : 2;
  } else if (word == "p0" || word == "p1") {
    out.pad = word == "p1" ? 1 : 0;
  } else if (word == "strided") {
    out.strided = true;
  } else if (word == "splitk") {
    out.split_k = true;
  } else if (word == "grouped") {
    out.grouped = true;
  } else {
    return false;
  }
  return true;
}

void parse_word(std::string_view word, LadderGemmName& out, bool& has_type) {
  if (parse_shape(word, out) || parse_flag(word, out)) {
    return;
  }
  if (const auto type = operand_type(word)) {
    expect_first(!std::exchange(has_type, true), word, "type");
    out.type = *type;
  } else if (is_layout(word)) {
    expect_first(out.layout.empty(), word, "layout");
    out.layout = std::string(word);
  } else if (const auto align = number_after(word, "al")) {
    out.align = *align;
  } else if (const std::uint32_t stages = stages_of(word); stages != 0) {
    out.stages = stages;
  } else {
    throw UnsupportedError(fmt::format("'{}' of the name is not understood", word));
  }
}

}  // namespace

LadderGemmName parse_ladder_gemm_name(std::string_view canonical) {
  const std::vector<std::string_view> words = words_of(canonical.substr(std::min(kPrefix.size(), canonical.size())));
  if (words.size() < 4) {
    throw UnsupportedError("the name is cut short; expected strata_gemm_<rung>_<tile>_..._<type>_<layout>");
  }
  LadderGemmName out;
  out.rung = std::string(words[1]);
  bool has_type = false;
  for (std::size_t i = 2; i < words.size(); ++i) {
    parse_word(words[i], out, has_type);
  }
  if (out.tile_m == 0 || out.layout.empty() || !has_type) {
    throw UnsupportedError("the name gives no tile, no type or no layout");
  }
  return out;
}

LadderRowName parse_ladder_row_name(std::string_view canonical) {
  std::vector<std::string_view> words = words_of(canonical.substr(std::min(kPrefix.size(), canonical.size())));
  LadderRowName out;
  const auto type = words.empty() ? std::nullopt : operand_type(words.back());
  const auto vector = words.size() < 3 ? std::nullopt : number_after(words[words.size() - 2], "v");
  if (!type || !vector) {
    throw UnsupportedError("expected strata_<operation>_v<elements>_<type>");
  }
  out.type = *type;
  out.vector = *vector;
  if (*type != DataType::kFp32 && *type != DataType::kBf16 && *type != DataType::kFp16) {
    throw UnsupportedError(fmt::format("'{}' of the name: expected f32, bf16 or f16", words.back()));
  }
  expect_access("v", out.vector, out.type);
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    out.operation += (i == 0 ? "" : "_") + std::string(words[i]);
  }
  return out;
}

void note_overruled_row(const LaunchRow& row, const std::string& operation, DataType type, BuiltKernel& built) {
  std::string plain;  // layer_norm is layernorm
  std::remove_copy(row.op.begin(), row.op.end(), std::back_inserter(plain), '_');
  // Steps of an attention or behind a product have its op and shape.
  const bool fits =
      plain.empty() || row.op == "attention" || row.op == "gemm" || row.op == operation || plain == operation;
  built.warning = fits ? overruled_type(row, type)
                       : fmt::format("an op of '{}'; the {} of the kernel's name is simulated", row.op, operation);
}

bool is_ladder_name(std::string_view canonical, std::span<const std::string_view> stems) {
  return canonical.starts_with(kPrefix) && std::any_of(stems.begin(), stems.end(), [&](std::string_view stem) {
           return canonical.substr(kPrefix.size()).starts_with(stem);
         });
}

}  // namespace strata

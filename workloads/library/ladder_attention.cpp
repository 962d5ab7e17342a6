#include "workloads/library/ladder_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/kernels/flash_attention_wgmma.hpp"
#include "workloads/kernels/ladder_attention.hpp"
#include "workloads/kernels/ladder_attention_wgmma.hpp"
#include "workloads/library/flash_attention_2_row.hpp"
#include "workloads/library/shape.hpp"

namespace strata {
namespace {

constexpr std::string_view kStem = "strata_attention_";

bool matches(std::string_view name) { return name.starts_with(kStem); }

std::optional<std::uint32_t> number_at(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + prefix.size(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

/// What a kernel's name says.
struct Name {
  std::vector<std::string_view> words;  ///< behind the stem

  explicit Name(std::string_view text) {
    text.remove_prefix(kStem.size());
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('_', at), text.size());
      words.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  [[nodiscard]] bool has(std::string_view word) const {
    return std::find(words.begin(), words.end(), word) != words.end();
  }
  /// The number behind `prefix` in the first word that is just that.
  [[nodiscard]] std::optional<std::uint32_t> number(std::string_view prefix) const {
    for (const std::string_view word : words) {
      if (const auto value = number_at(word, prefix)) return value;
    }
    return std::nullopt;
  }
  /// "128x64" and the like: the first two numbers.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> tile() const {
    for (const std::string_view word : words) {
      const std::size_t by = word.find('x');
      if (by == std::string_view::npos) continue;
      const auto rows = number_at(word.substr(0, by), "");
      const auto columns = number_at(word.substr(by + 1, word.find('x', by + 1) - by - 1), "");
      if (rows && columns) return std::pair{*rows, *columns};
    }
    return std::nullopt;
  }
};

DataType type_of(const Name& name) {
  const std::string_view last = name.words.back();
  if (last == "bf16") return DataType::kBf16;
  if (last == "f16") return DataType::kFp16;
  if (last == "f32") return DataType::kFp32;
  throw UnsupportedError(fmt::format("the kernel name ends in '{}'; expected bf16, f16 or f32", last));
}

LadderAttentionKernel kernel_of(const Name& name) {
  using Kernel = LadderAttentionKernel;
  struct Rung {
    std::string_view first, second;
    Kernel kernel;
  };
  static constexpr Rung kRungs[] = {
      {"unfused", "scores", Kernel::kUnfusedScores},
      {"unfused", "softmax", Kernel::kUnfusedSoftmax},
      {"unfused", "values", Kernel::kUnfusedValues},
      {"naive", "strided", Kernel::kNaiveStrided},
      {"naive", "coalesced", Kernel::kNaiveCoalesced},
      {"tiled", "", Kernel::kTiled},
      {"flash", "", Kernel::kFlash},
      {"mma", "", Kernel::kMma},
      {"decode", "split", Kernel::kDecodeSplit},
      {"decode", "grouped", Kernel::kDecodeGrouped},
      {"decode", "combine", Kernel::kDecodeCombine},
  };
  const std::string_view second = name.words.size() > 1 ? name.words[1] : std::string_view{};
  for (const Rung& rung : kRungs) {
    if (name.words.front() == rung.first && second.starts_with(rung.second)) return rung.kernel;
  }
  throw UnsupportedError(fmt::format("the ladder has no rung '{}'", name.words.front()));
}

/// Keys of a split: in the name of the kernels that split, in the shape's last cell for the one that combines.
std::uint32_t split_of(const Name& name, const LaunchRow& row) {
  for (const char* way : {"split", "grouped"}) {
    if (const auto keys = name.number(way)) return *keys;
  }
  const std::string backend = parse_attention_shape(row.shape).backend;
  for (const char* way : {"split", "grouped"}) {
    if (const auto keys = number_at(backend, way)) return *keys;
  }
  throw UnsupportedError(fmt::format("the shape's last cell is '{}'; expected split256 and the like", backend));
}

/// Rows of a CTA's query tile and keys of a block.
void read_tile(const Name& name, LadderAttentionConfig& c) {
  const auto tile = name.tile();
  constexpr std::uint32_t kMostRows = 256;
  if (tile) {
    for (const std::uint32_t rows : {tile->first, tile->second}) {
      if (rows < 1 || rows > kMostRows) {
        throw UnsupportedError(fmt::format("tile {}x{}; expected 1 to {} rows", tile->first, tile->second, kMostRows));
      }
    }
    c.query_rows = tile->first;
    c.key_rows = tile->second;
  }
  if (c.kernel == LadderAttentionKernel::kUnfusedScores || c.kernel == LadderAttentionKernel::kUnfusedValues) {
    c.query_rows = c.key_rows = 64;
  }
  const bool whole = c.kernel == LadderAttentionKernel::kTiled   ? c.query_rows == 32 && c.key_rows == 32
                     : c.kernel == LadderAttentionKernel::kFlash ? c.query_rows == 64 && c.key_rows == 64
                                                                 : true;
  if (!whole) throw UnsupportedError(fmt::format("tile {}x{} is not of the ladder", c.query_rows, c.key_rows));
}

AttentionShape shape_of(const Name& name, const LaunchRow& row, const TargetFacts& target) {
  AttentionShape s = attention_shape_of(row);
  s.dtype = type_of(name);
  const std::string_view rung = name.words.front();
  const bool tensor_cores = rung == "mma" || rung == "wgmma" || rung == "decode";
  const bool fp32_lanes = rung == "unfused" || rung == "naive" || rung == "tiled" || rung == "flash";
  if (s.dtype == DataType::kFp32 ? tensor_cores : fp32_lanes) {
    throw UnsupportedError(fmt::format("the name says {}; the ladder's {} kernels are compiled for {}",
                                       to_string(s.dtype), rung, tensor_cores ? "bf16 and f16" : "f32"));
  }
  s.causal = name.has("causal");
  const auto d = name.number("d");
  if (d && *d != s.head_dim) {
    throw UnsupportedError(fmt::format("the kernel is for head dim {}, the shape has {}", *d, s.head_dim));
  }
  check_attention_shape(s, target, 32, 128, true);
  if (s.causal && s.kv_len < s.q_len) throw UnsupportedError("a causal mask needs at least as many keys as queries");
  return s;
}

BuiltKernel make_wgmma(const Name& name, const AttentionShape& shape, const LaunchRow& row, const TargetFacts& target) {
  if (!target.has_tma || !target.has_wgmma) throw UnsupportedError(kNeedsWgmma);
  if (name.tile() != std::pair{128U, 128U}) throw UnsupportedError("the ladder's wgmma kernels have tiles of 128x128");
  LadderWgmmaConfig c;
  c.shape = shape;
  c.overlap = name.has("overlap");
  c.registers = row.registers.value_or(0);
  c.name = row.kernel;
  BuiltKernel built;
  built.source = make_ladder_wgmma(c);
  built.description =
      fmt::format("ladder attention, TMA + wgmma {}, {}", c.overlap ? "overlapped" : "serial", to_string(shape));
  return built;
}

BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const std::string canonical = canonical_kernel_name(row.kernel);
  const Name name(canonical);
  const AttentionShape shape = shape_of(name, row, target);
  BuiltKernel built;
  if (name.words.front() == "wgmma") {
    built = make_wgmma(name, shape, row, target);
  } else {
    LadderAttentionConfig c;
    c.kernel = kernel_of(name);
    c.shape = shape;
    c.padded = name.has("pad1");
    c.double_buffered = name.has("db");
    c.registers = row.registers.value_or(0);
    c.name = canonical;
    read_tile(name, c);
    if (name.words.front() == "decode") {
      if (shape.q_len != 1) throw UnsupportedError("decoding takes one query row");
      c.split_keys = split_of(name, row);
      constexpr std::uint32_t kMostKeys = 1U << 20;
      if (c.split_keys < 1 || c.split_keys > kMostKeys) {
        throw UnsupportedError(fmt::format("{} keys to a split; expected 1 to {}", c.split_keys, kMostKeys));
      }
    }
    built.source = make_ladder_attention(c);
    built.description = fmt::format("ladder attention, {}, {}", name.words.front(), to_string(shape));
  }
  expect_grid(row, built.source->launch().grid);
  take_named_cells(row, shape.causal, shape.dtype, built);
  return built;
}

}  // namespace

FamilyParser ladder_attention_family() { return FamilyParser{"ladder_attention", &matches, &make, "strata_attention"}; }

}  // namespace strata

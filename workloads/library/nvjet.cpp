#include "workloads/library/nvjet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/base/error.hpp"
#include "workloads/library/shape.hpp"

namespace strata {

namespace {

constexpr std::string_view kPrefix = "nvjet_sm90_";

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find('_'); at != std::string_view::npos; at = text.find('_')) {
    words.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  words.push_back(text);
  return words;
}

/// "128x64" to two numbers from 1 to 4096.
bool parse_pair(std::string_view word, std::uint32_t& first, std::uint32_t& second) {
  const char* end = word.data() + word.size();
  const auto one = std::from_chars(word.data(), end, first);
  if (one.ec != std::errc{} || one.ptr == end || *one.ptr != 'x') {
    return false;
  }
  const auto two = std::from_chars(one.ptr + 1, end, second);
  return two.ec == std::errc{} && two.ptr == end && first >= 1 && second >= 1 && first <= 4096 && second <= 4096;
}

std::optional<DataType> type_of(char letter) {
  switch (letter) {
    case 't':
      return DataType::kBf16;
    case 'h':
      return DataType::kFp16;
    case 's':
      return DataType::kFp32;
    case 'q':  // e4m3
    case 'r':  // e5m2
      return DataType::kFp8;
    default:
      return std::nullopt;
  }
}

/// "tst": input, accumulator, output; "qqtst": A, B, C, accumulator, output.
void parse_types(std::string_view word, NvjetName& out) {
  const bool long_form = word.size() == 5;
  if (word.size() != 3 && !long_form) {
    throw UnsupportedError(
        fmt::format("types '{}' of the name are not understood; expected three or five letters", word));
  }
  const std::optional<DataType> input = type_of(word[0]);
  const std::optional<DataType> output = type_of(word.back());
  if (!input || !output) {
    throw UnsupportedError(
        fmt::format("types '{}' of the name are not understood; known letters are h, q, r, s, t", word));
  }
  if (long_form && bits_of(*input) != bits_of(type_of(word[1]).value_or(DataType::kFp64))) {
    throw UnsupportedError(fmt::format("operands of different width ('{}') are not modelled", word));
  }
  out.input = *input == DataType::kFp32 ? DataType::kTf32 : *input;
  out.output = *output;
}

[[noreturn]] void bad_word(std::string_view word, const char* expected) {
  throw UnsupportedError(fmt::format("'{}' of the name is not understood; expected {}", word, expected));
}

}  // namespace

NvjetName parse_nvjet_name(std::string_view canonical) {
  if (!canonical.starts_with(kPrefix)) {
    throw UnsupportedError(fmt::format("'{}' does not begin with {}", canonical, kPrefix));
  }
  const std::vector<std::string_view> words = words_of(canonical.substr(kPrefix.size()));
  if (words.size() < 6) {
    throw UnsupportedError(
        "the name is cut short; expected <types>_<tile>_<kTile>x<stages>_<cluster>_<v|h>_bz..._<layout>");
  }
  NvjetName out;
  parse_types(words[0], out);
  if (!parse_pair(words[1], out.tile_n, out.tile_m)) {
    bad_word(words[1], "a tile such as 128x64");
  }
  if (!parse_pair(words[2], out.tile_k, out.stages)) {
    bad_word(words[2], "K tile and stages such as 64x4");
  }
  if (!parse_pair(words[3], out.cluster_n, out.cluster_m)) {
    bad_word(words[3], "a cluster such as 2x1");
  }
  if (words[4] != "v" && words[4] != "h") {
    bad_word(words[4], "the raster direction, v or h");
  }
  out.vertical = words[4] == "v";
  const std::string_view last = words.back();
  if (last.size() != 3 || last.find_first_not_of("NT") != std::string_view::npos) {
    bad_word(last, "three letters N or T");
  }
  out.layout = std::string(last.substr(0, 2));
  out.wgmma_m_along_n = last[2] == 'T';
  for (std::size_t i = 5; i + 1 < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "coopA") {
      out.consumers = ConsumerMode::kCooperativeM;
    } else if (word == "coopB") {
      out.consumers = ConsumerMode::kCooperativeN;
    } else if (word == "splitK") {
      out.split_k = true;
    } else if (word != "bz" && word != "algo2") {
      out.unknown.emplace_back(word);
    }
  }
  return out;
}

GemmTmaConfig nvjet_config(const LaunchRow& row, const TargetFacts& target, std::uint32_t raster_group,
                           RasterDirection raster) {
  const std::string canonical = canonical_kernel_name(row.kernel);
  const NvjetName name = parse_nvjet_name(canonical);
  const GemmCells shape = parse_gemm_shape(row.shape);
  GemmTmaConfig config;
  config.name = canonical;
  config.problem.m = shape.m;
  config.problem.n = shape.n;
  config.problem.k = shape.k;
  config.problem.input = name.input;
  config.problem.output = name.output;
  if (!parse_gemm_layout(name.layout, config.problem)) {
    throw UnsupportedError(fmt::format("layout '{}' of the name is not known", name.layout));
  }
  config.tile_m = name.tile_m;
  config.tile_n = name.tile_n;
  config.tile_k = name.tile_k;
  config.stages = name.stages;
  config.consumers = name.consumers;
  config.wgmma_m_along_n = name.wgmma_m_along_n;
  config.cluster_m = name.cluster_m;
  config.cluster_n = name.cluster_n;
  config.raster = raster;
  config.raster_group = raster_group;
  config.registers_per_thread = row.registers.value_or(168);
  config.smem_dynamic_bytes = row.smem_dynamic.value_or(0);
  const std::uint64_t size = config.cluster_size();
  const std::uint64_t tiles = ceil_div(ceil_div(static_cast<std::uint64_t>(shape.m), name.tile_m), name.cluster_m) *
                              ceil_div(ceil_div(static_cast<std::uint64_t>(shape.n), name.tile_n), name.cluster_n);
  std::uint64_t clusters = row.grid ? row.grid->count() / size : 0;
  if (name.split_k) {
    // The grid holds every slice of every tile when they fit at once; a launch row without it is filled the same way.
    const std::uint64_t room = clusters != 0 ? clusters : target.num_sms / size;
    const std::uint64_t k_tiles = ceil_div(static_cast<std::uint64_t>(shape.k), name.tile_k);
    config.split_k = static_cast<std::uint32_t>(std::min(std::max<std::uint64_t>(room / tiles, 2), k_tiles));
  }
  clusters = std::min(clusters, tiles * config.split_k);
  config.num_clusters = static_cast<std::uint32_t>(clusters);
  return config;
}

namespace {

bool matches_nvjet(std::string_view canonical) { return canonical.starts_with(kPrefix); }

BuiltKernel make_nvjet(const LaunchRow& row, const TargetFacts& target) {
  const GemmTmaConfig config = nvjet_config(row, target);
  BuiltKernel built;
  built.source = make_gemm_tma(config, target);
  built.description = describe_gemm_tma(config);
  for (const std::string& word : parse_nvjet_name(config.name).unknown) {
    built.notes.push_back(fmt::format("'{}' of the kernel's name has no effect in the model", word));
  }
  return built;
}

}  // namespace

FamilyParser nvjet_family() { return {"nvjet", matches_nvjet, make_nvjet, "nvjet_sm90_"}; }

}  // namespace strata

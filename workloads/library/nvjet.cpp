#include "workloads/library/nvjet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/error.hpp"
#include "workloads/kernels/cluster_places.hpp"
#include "workloads/library/gemm_launch.hpp"
#include "workloads/library/name_words.hpp"

namespace strata {

namespace {

constexpr std::string_view kPrefix = "nvjet_";
constexpr std::string_view kArchitecture = "sm90";

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
  if (!std::all_of(word.begin(), word.end(), [](char letter) { return type_of(letter).has_value(); })) {
    throw UnsupportedError(
        fmt::format("types '{}' of the name are not understood; known letters are h, q, r, s, t", word));
  }
  if (const char sum = word[word.size() - 2]; sum != 's' && (sum != 'h' || word[0] != 'h')) {
    throw UnsupportedError(fmt::format(
        "types '{}' of the name add up in '{}'; expected s (fp32), or h (fp16) of fp16 operands", word, sum));
  }
  if (long_form && bits_of(*input) != bits_of(type_of(word[1]).value_or(DataType::kFp64))) {
    throw UnsupportedError(fmt::format("operands of different width ('{}') are not modelled", word));
  }
  out.input = *input == DataType::kFp32 ? DataType::kTf32 : *input;
  out.output = *output;
}

void parse_pair(std::string_view word, const char* expected, std::uint32_t& first, std::uint32_t& second) {
  std::array<std::uint32_t, 2> pair{};
  if (!parse_dims(word, pair)) {
    refuse_word(word, expected);
  }
  first = pair[0];
  second = pair[1];
}

bool is_option(std::string_view word) { return word.starts_with("coop") || word == "splitK" || word == "algo2"; }

/// A word between bz and the layout.
void parse_option(std::string_view word, NvjetName& out) {
  if (word.starts_with("coop")) {
    if ((word != "coopA" && word != "coopB") || out.consumers != ConsumerMode::kPingPong) {
      refuse_word(word, "coopA or coopB, once");
    }
    out.consumers = word == "coopA" ? ConsumerMode::kCooperativeM : ConsumerMode::kCooperativeN;
  } else if (word == "splitK") {
    if (out.split_k) refuse_word(word, "it once");
    out.split_k = true;
  } else if (word == "algo2") {
    if (out.algo2) refuse_word(word, "it once");
    out.algo2 = true;
  } else {
    keep_unknown(word, out.unknown);
  }
}

/// Order of the cluster tiles. h: swept along M in bands of some cluster tiles along N; v: the other way round. Every
/// other band is swept backwards. The host sorts the clusters by GPC, so that neighbouring tiles share one. Source: the
/// parameters of 175 recorded launches (H200), as docs/model/nvjet.md tells.
void set_raster(GemmTmaConfig& config, bool vertical, const TargetFacts& target) {
  config.raster = vertical ? RasterDirection::kAlongN : RasterDirection::kAlongM;
  config.serpentine = true;
  config.tiles_by_gpc = true;
  const double across = vertical ? config.tile_m : config.tile_n;
  const double along = vertical ? config.tile_n : config.tile_m;
  config.raster_group = static_cast<std::uint32_t>(
      std::max<long>(1, std::lround(std::sqrt(resident_clusters(target, config.cluster_size()) * across / along))));
}

}  // namespace

NvjetName parse_nvjet_name(std::string_view canonical) {
  if (!canonical.starts_with(kPrefix)) {
    throw UnsupportedError(fmt::format("'{}' does not begin with {}", canonical, kPrefix));
  }
  std::vector<std::string_view> words = words_of(canonical.substr(kPrefix.size()));
  if (words[0] == kArchitecture) {
    words.erase(words.begin());
  } else if (number_after(words[0], "sm")) {
    throw UnsupportedError(
        fmt::format("architecture '{}' of the name is not modelled; expected {}, or none", words[0], kArchitecture));
  }
  constexpr std::size_t kFewest = 6;  // without a word on C
  if (words.size() < kFewest) {
    throw UnsupportedError(
        "the name is cut short; expected <types>_<tile>_<kTile>x<stages>_<cluster>_<v|h>_bz..._<layout>");
  }
  NvjetName out;
  parse_types(words[0], out);
  parse_pair(words[1], "a tile such as 128x64", out.tile_n, out.tile_m);
  parse_pair(words[2], "K tile and stages such as 64x4", out.tile_k, out.stages);
  parse_pair(words[3], "a cluster such as 2x1", out.cluster_n, out.cluster_m);
  if (words[4] != "v" && words[4] != "h") {
    refuse_word(words[4], "the raster direction, v or h");
  }
  out.vertical = words[4] == "v";
  const std::string_view last = words.back();
  if (last.size() != 3 || last.find_first_not_of("NT") != std::string_view::npos) {
    refuse_word(last, "three letters N or T");
  }
  out.layout = std::string(last.substr(0, 2));
  out.wgmma_m_along_n = last[2] == 'T';
  std::size_t option = kFewest - 1;
  if (words[option] == "bz" || words[option] == "badd") {
    out.c = words[option] == "bz" ? NvjetC::kNotRead : NvjetC::kAdded;
    ++option;
  } else if (option + 1 < words.size() && !is_option(words[option])) {
    refuse_word(words[option], "bz or badd after the raster direction");
  }
  for (; option + 1 < words.size(); ++option) {
    parse_option(words[option], out);
  }
  return out;
}

GemmTmaConfig nvjet_config(const LaunchRow& row, const TargetFacts& target) {
  const std::string canonical = canonical_kernel_name(row.kernel);
  const NvjetName name = parse_nvjet_name(canonical);
  GemmTmaConfig config;
  config.name = canonical;
  config.problem = gemm_problem_of(row, name.layout, name.input, name.output);
  const GemmProblem& shape = config.problem;
  config.tile_m = name.tile_m;
  config.tile_n = name.tile_n;
  config.tile_k = name.tile_k;
  config.stages = name.stages;
  config.consumers = name.consumers;
  config.wgmma_m_along_n = name.wgmma_m_along_n;
  config.cluster_m = name.cluster_m;
  config.cluster_n = name.cluster_n;
  config.registers_per_thread = row.registers.value_or(168);
  config.smem_dynamic_bytes = row.smem_dynamic.value_or(0);
  const std::uint64_t size = config.cluster_size();
  const std::uint64_t tiles = ceil_div(ceil_div(static_cast<std::uint64_t>(shape.m), name.tile_m), name.cluster_m) *
                              ceil_div(ceil_div(static_cast<std::uint64_t>(shape.n), name.tile_n), name.cluster_n) *
                              static_cast<std::uint64_t>(shape.batch);
  std::uint64_t clusters = row.grid ? row.grid->count() / size : 0;
  if (name.split_k) {
    // The grid holds every slice of every tile when they fit at once; a launch row without it is filled the same way.
    const std::uint64_t room = clusters != 0 ? clusters : resident_clusters(target, static_cast<std::uint32_t>(size));
    const std::uint64_t k_tiles = ceil_div(static_cast<std::uint64_t>(shape.k), name.tile_k);
    config.split_k = static_cast<std::uint32_t>(std::min(std::max<std::uint64_t>(room / tiles, 2), k_tiles));
  }
  config.reads_c = name.c == NvjetC::kAdded && config.split_k == 1;  // else the launch that adds up the slices reads it
  clusters = std::min(clusters, tiles * config.split_k);
  config.num_clusters = static_cast<std::uint32_t>(clusters);
  set_raster(config, name.vertical, target);
  return config;
}

namespace {

bool matches_nvjet(std::string_view canonical) { return canonical.starts_with(kPrefix); }

BuiltKernel make_nvjet(const LaunchRow& row, const TargetFacts& target) {
  constexpr std::uint64_t kThreads = 384;
  constexpr std::uint64_t kConsumers = 256;
  GemmTmaConfig config = nvjet_config(row, target);
  std::string warning;
  const LeastResources least{
      ring_bytes(config.tile_m, config.tile_n, config.tile_k, config.stages, config.problem.input),
      gemm_tma_accumulator_registers(config) * kConsumers / kThreads};
  if (const LaunchRow fitting = fitting_row(row, least, warning); !warning.empty()) {
    config = nvjet_config(fitting, target);
  }
  BuiltKernel built;
  built.source = make_gemm_tma(config, target);
  built.description = describe_gemm_tma(config);
  built.parts = config.split_k;
  const NvjetName name = parse_nvjet_name(config.name);
  note_name(row, name, warning, built);
  if (name.c == NvjetC::kAdded) {
    built.notes.emplace_back(config.reads_c
                                 ? "'badd' of the name is taken to add C; no launch with it is recorded"
                                 : "'badd' of the name: C, which the sum of the slices reads, is not modelled");
  } else if (name.c == NvjetC::kUnsaid) {
    built.notes.emplace_back("neither bz nor badd in the name: C is taken as not read");
  }
  return built;
}

}  // namespace

FamilyParser nvjet_family() { return {"nvjet", matches_nvjet, make_nvjet, "nvjet_sm90_", false, true, true}; }

}  // namespace strata

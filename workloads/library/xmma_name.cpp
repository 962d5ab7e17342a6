#include "workloads/library/xmma_name.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/library/name_words.hpp"

namespace strata {

namespace {

constexpr std::string_view kStem = "_xmma_gemm_";
constexpr std::size_t kHeadWords = 5;  ///< three of types, two of layouts

void parse_types(const std::vector<std::string_view>& words, XmmaName& out) {
  const auto tensors = operand_type_pair(words[0]);
  const auto multiply = operand_type_pair(words[1]);
  if (!tensors || !multiply) {
    throw UnsupportedError(fmt::format("types '{}_{}' of the name are not understood", words[0], words[1]));
  }
  out.input = multiply->first == DataType::kTf32 ? DataType::kTf32 : tensors->first;
  out.output = tensors->second;
}

/// What follows a prefix, as three numbers; throws where they are none.
bool parse_triple(std::string_view word, std::string_view prefix, std::array<std::uint32_t, 3>& out) {
  if (!word.starts_with(prefix)) {
    return false;
  }
  const std::string_view dims = word.substr(prefix.size());
  if (!parse_dims(dims, out)) {
    refuse_word(word, fmt::format("{}<A>x<B>x<C>, 1 to 4096 each", prefix));
  }
  return true;
}

/// Words that say how the kernel was built or entered, not what it does.
bool is_plain(std::string_view word) {
  static constexpr std::array<std::string_view, 12> kPlain{
      "execute", "kernel", "", "5x", "cublas", "trt", "segment", "k", "off", "aligna", "3x", "simpleAlpha"};
  return std::find(kPlain.begin(), kPlain.end(), word) != kPlain.end() || word.starts_with("alignc");
}

void parse_word(std::string_view word, XmmaName& out) {
  if (parse_triple(word, "tilesize", out.tile) || parse_triple(word, "warpsize", out.warps) ||
      parse_triple(word, "warpgroupsize", out.groups) || parse_triple(word, "tensor", out.instruction)) {
    return;
  }
  if (const auto stages = size_after(word, "stage")) {
    out.stages = *stages;
  } else if (const auto a = size_after(word, "aligna")) {
    out.align_elements = out.align_elements == 0 ? *a : std::min(out.align_elements, *a);
  } else if (const auto b = size_after(word, "alignb")) {
    out.align_elements = out.align_elements == 0 ? *b : std::min(out.align_elements, *b);
  } else if (word == "ffma") {
    out.ffma = true;
  } else if (word == "split" || word == "splitK") {
    out.splits_k = true;
  } else if (!is_plain(word)) {
    out.unknown.emplace_back(word);
  }
}

}  // namespace

std::optional<std::uint32_t> xmma_architecture(std::string_view canonical) {
  const std::size_t stem = canonical.find(kStem);
  return stem == std::string_view::npos ? std::nullopt : number_after(canonical.substr(0, stem), "sm");
}

XmmaName parse_xmma_name(std::string_view canonical) {
  const auto arch = xmma_architecture(canonical);
  if (!arch) {
    throw UnsupportedError("the name does not begin with sm<arch>_xmma_gemm_");
  }
  const std::vector<std::string_view> words = words_of(canonical.substr(canonical.find(kStem) + kStem.size()));
  if (words.size() <= kHeadWords || !is_layout(words[3])) {
    throw UnsupportedError(
        "the name is cut short; expected <types>_<types>_<type>_<layout>_<n|t>_tilesize<M>x<N>x<K>_...");
  }
  XmmaName out;
  out.arch = *arch;
  parse_types(words, out);
  out.layout = std::string(words[3]);
  for (std::size_t i = kHeadWords; i < words.size(); ++i) {
    parse_word(words[i], out);
  }
  if (out.tile[0] == 0) {
    throw UnsupportedError("the name lacks tilesize<M>x<N>x<K>");
  }
  if (out.align_elements != 0) {
    expect_access("align", out.align_elements, out.input);
  }
  return out;
}

}  // namespace strata

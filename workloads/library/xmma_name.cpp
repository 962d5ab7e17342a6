#include "workloads/library/xmma_name.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/library/name_words.hpp"
#include "workloads/library/tensor_instruction.hpp"

namespace strata {

namespace {

constexpr std::string_view kStem = "_xmma_gemm_";
constexpr std::size_t kHeadWords = 5;  ///< three of types, two of layouts

void parse_types(const std::vector<std::string_view>& words, XmmaName& out) {
  const auto tensors = operand_type_pair(words[0]);
  const auto multiply = operand_type_pair(words[1]);
  if (!tensors || !multiply || !operand_type(words[2])) {
    throw UnsupportedError(
        fmt::format("types '{}_{}_{}' of the name are not understood", words[0], words[1], words[2]));
  }
  const bool rounded = tensors->first == DataType::kFp32 && multiply->first == DataType::kTf32;
  if (multiply->first != tensors->first && !rounded) {
    throw UnsupportedError(
        fmt::format("types '{}_{}' of the name: operands of {} that are multiplied as {} are not "
                    "modelled",
                    words[0], words[1], to_string(tensors->first), to_string(multiply->first)));
  }
  out.input = multiply->first == DataType::kTf32 ? DataType::kTf32 : tensors->first;
  out.output = tensors->second;
}

/// What follows a prefix, as three numbers; throws where they are none.
bool parse_triple(std::string_view word, std::string_view prefix, std::array<std::uint32_t, 3>& out) {
  if (!word.starts_with(prefix)) {
    return false;
  }
  if (out[0] != 0) {
    refuse_word(word, fmt::format("{} once", prefix));
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
  return std::find(kPlain.begin(), kPlain.end(), word) != kPlain.end();
}

struct Alignments {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
};

/// Takes stage4, aligna8 and the like; false for other words.
bool parse_number(std::string_view word, std::string_view prefix, std::uint32_t& out) {
  const auto number = size_after(word, prefix);
  if (!number) return false;
  if (out != 0) refuse_word(word, fmt::format("{} once", prefix));
  out = *number;
  return true;
}

void parse_word(std::string_view word, Alignments& align, XmmaName& out) {
  if (parse_triple(word, "tilesize", out.tile) || parse_triple(word, "warpsize", out.warps) ||
      parse_triple(word, "warpgroupsize", out.groups) || parse_triple(word, "tensor", out.instruction) ||
      parse_number(word, "stage", out.stages) || parse_number(word, "aligna", align.a) ||
      parse_number(word, "alignb", align.b) || parse_number(word, "alignc", align.c)) {
    return;
  }
  if (word == "ffma") {
    out.ffma = true;
  } else if (word == "split" || word == "splitK") {
    out.splits_k = true;
  } else if (is_layout(word)) {
    refuse_word(word, "the layout once, behind the types");
  } else if (!is_plain(word)) {
    keep_unknown(word, out.unknown);
  }
}

/// Throws UnsupportedError where the words of an instruction contradict the others.
void check_instruction(const XmmaName& name) {
  const TensorInstruction i{name.instruction[0], name.instruction[1], name.instruction[2]};
  const std::string word = fmt::format("tensor{}x{}x{}", i.m, i.n, i.k);
  if (name.ffma && (i.k != 0 || name.input != DataType::kFp32)) {
    throw UnsupportedError(fmt::format("'ffma' of the name multiplies in fp32, which {} contradicts",
                                       i.k != 0 ? word : fmt::format("its operands of {}", to_string(name.input))));
  }
  if (i.k == 0) return;
  if (name.arch < 90) {
    expect_mma_sync(word, i, name.input);
  } else if (i.m != 64 || i.n % 8 != 0 || i.n > 256 || i.k * bits_of(name.input) != 256) {
    refuse_word(word, "an instruction of wgmma: tensor64x<8 to 256>x<32 B of K>");
  }
  expect_whole_instructions(i, name.tile[0], name.tile[1], name.tile[2]);
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
  if (words[4] != "n") {
    refuse_word(words[4], "n, the layout of C, behind that of A and B");
  }
  Alignments align;
  for (std::size_t i = kHeadWords; i < words.size(); ++i) {
    parse_word(words[i], align, out);
  }
  out.align_elements = align.a == 0 || align.b == 0 ? std::max(align.a, align.b) : std::min(align.a, align.b);
  if (out.tile[0] == 0) {
    throw UnsupportedError("the name lacks tilesize<M>x<N>x<K>");
  }
  if (out.align_elements != 0) {
    expect_access("align", out.align_elements, out.input);
  }
  check_instruction(out);
  return out;
}

}  // namespace strata

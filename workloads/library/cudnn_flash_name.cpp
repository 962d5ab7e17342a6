#include "workloads/library/cudnn_flash_name.hpp"

#include <algorithm>

#include "sim/base/error.hpp"
#include "workloads/library/name_words.hpp"

namespace strata {

namespace {

/// Words that say how the kernel was made, and numbers of variants. Kernels of bf16 are called f16 too.
bool is_plain(std::string_view word) {
  static constexpr std::array<std::string_view, 14> kPlain{"cudnn", "generated", "fort",  "native", "sdpa",
                                                           "sm80",  "sm90",      "flash", "fprop",  "wgmma",
                                                           "wmma",  "f16",       "knob",  "kernel0"};
  return std::find(kPlain.begin(), kPlain.end(), word) != kPlain.end() ||
         word.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

CudnnFlashName parse_cudnn_flash_name(std::string_view canonical) {
  constexpr std::string_view kCluster = "cga";
  CudnnFlashName out;
  std::array<std::uint32_t, 3> numbers{};
  for (const std::string_view word : words_of(canonical)) {
    if (word.starts_with(kCluster)) {
      const bool single =
          parse_dims(word.substr(kCluster.size()), numbers) && numbers[0] * numbers[1] * numbers[2] == 1;
      if (!single) {
        throw UnsupportedError("clusters of attention CTAs are not modelled");
      }
    } else if (parse_dims(word, numbers)) {
      if (out.warps[0] != 0) refuse_word(word, "tile and warps only");
      (out.tile[0] == 0 ? out.tile : out.warps) = numbers;
    } else if (!is_plain(word)) {
      keep_unknown(word, out.unknown);
    }
  }
  if (out.tile[0] == 0 || out.warps[0] == 0) {
    throw UnsupportedError("the kernel name lacks its tile and warps (as in 64x128x128_4x1x1)");
  }
  return out;
}

}  // namespace strata

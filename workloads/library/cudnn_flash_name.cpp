#include "workloads/library/cudnn_flash_name.hpp"

#include "sim/base/error.hpp"
#include "workloads/library/name_words.hpp"

namespace strata {

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
      (out.tile[0] == 0 ? out.tile : out.warps) = numbers;
    }
  }
  if (out.tile[0] == 0 || out.warps[0] == 0) {
    throw UnsupportedError("the kernel name lacks its tile and warps (as in 64x128x128_4x1x1)");
  }
  return out;
}

}  // namespace strata

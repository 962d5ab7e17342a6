#include "workloads/library/flash_attention_2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/library/flash_attention_2_row.hpp"
#include "workloads/library/flash_traits.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kRegisters = 255;  ///< of every recorded launch

bool matches(std::string_view name) { return has_flash_traits(name, "flash_fwd_kernel"); }

BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const FlashTraits traits = parse_flash_traits(canonical_kernel_name(row.kernel), 6);
  // Is_dropout, Is_causal, Is_local, Has_alibi, Is_even_MN, Is_even_K, Is_softcap, Return_softmax
  static constexpr const char* kRefused[] = {"dropout", nullptr, "a local window", "ALiBi",
                                             nullptr,   nullptr, "softcap",        "returning the softmax"};
  for (std::size_t i = 0; i < std::min<std::size_t>(traits.flags.size(), 8); ++i) {
    if (traits.flags[i] != 0 && kRefused[i] != nullptr) {
      throw UnsupportedError(fmt::format("{} is not modelled", kRefused[i]));
    }
  }
  FlashMmaConfig c = flash_config_of(row, traits, kRegisters, target);
  c.shape.causal = traits.flags[1] != 0;
  c.even_mn = traits.flags[4] != 0;
  BuiltKernel built;
  take_named_cells(row, traits.flags[1] != 0, traits.element, built);
  built.source = make_flash_attention_mma(c);
  expect_grid(row, built.source->launch().grid);
  built.description = fmt::format("FlashAttention-2 forward, {}, tile {}x{}", to_string(c.shape), c.block_m, c.block_n);
  return built;
}

}  // namespace

FamilyParser flash_attention_2_family() {
  return FamilyParser{"flash_attention_2", &matches, &make, "flash_fwd_kernel"};
}

}  // namespace strata

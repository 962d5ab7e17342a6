#include "workloads/library/flash_split_kv.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/counted.hpp"
#include "sim/base/error.hpp"
#include "workloads/library/flash_attention_2_row.hpp"
#include "workloads/library/flash_traits.hpp"

namespace strata {
namespace {

constexpr std::uint32_t kRegisters = 246;   ///< of the recorded launch: nothing is spilled
constexpr std::uint32_t kMostSplits = 128;  ///< of the public kernel

bool matches(std::string_view name) { return has_flash_traits(name, "flash_fwd_splitkv_kernel"); }

/// Splits where the row has no grid, as the library chooses them: those that keep the waves of CTAs (two an SM) full to
/// 85 % of the best, the fewest such, none without a block of its own.
std::uint32_t choose_splits(const FlashMmaConfig& c, const TargetFacts& target) {
  const std::uint32_t ctas = (c.shape.q_len + c.block_m - 1) / c.block_m * c.shape.batch * c.shape.heads;
  const std::uint32_t slots = 2 * std::max(1U, target.num_sms);
  if (ctas * 10 >= slots * 8) return 1;
  const std::uint32_t blocks = (c.shape.kv_len + c.block_n - 1) / c.block_n;
  const auto per_split = [&](std::uint32_t splits) { return (blocks + splits - 1) / splits; };
  const auto useful = [&](std::uint32_t splits) { return splits == 1 || per_split(splits) != per_split(splits - 1); };
  const auto efficiency = [&](std::uint32_t splits) {
    const double waves = static_cast<double>(ctas) * splits / slots;
    return waves / static_cast<double>((ctas * splits + slots - 1) / slots);
  };
  const std::uint32_t most = std::min({kMostSplits, slots, blocks});
  double best = 0;
  for (std::uint32_t splits = 1; splits <= most; ++splits) {
    if (useful(splits)) best = std::max(best, efficiency(splits));
  }
  for (std::uint32_t splits = 1; splits <= most; ++splits) {
    if (useful(splits) && efficiency(splits) >= 0.85 * best) return splits;
  }
  return 1;
}

void swap_groups(const LaunchRow& row, AttentionShape& s) {
  const std::uint32_t group = s.heads / std::max(1U, s.kv_heads);
  const bool per_kv_head = !row.grid || row.grid->z == s.batch * s.kv_heads;
  if (s.q_len == 1 && group > 1 && !s.causal && per_kv_head) {
    s.q_len = group;
    s.heads = s.kv_heads;
  }
}

BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const FlashTraits traits = parse_flash_traits(canonical_kernel_name(row.kernel), 8);
  // Is_causal, Is_local, Has_alibi, Is_even_MN, Is_even_K, Is_softcap, Split, Append_KV
  static constexpr const char* kRefused[] = {nullptr, "a local window", "ALiBi", nullptr,
                                             nullptr, "softcap",        nullptr, "appending to the cache"};
  for (std::size_t i = 0; i < 8; ++i) {
    if (traits.flags[i] != 0 && kRefused[i] != nullptr) {
      throw UnsupportedError(fmt::format("{} is not modelled", kRefused[i]));
    }
  }
  FlashMmaConfig c = flash_config_of(row, traits, kRegisters, target);
  c.shape.causal = traits.flags[0] != 0;
  c.even_mn = traits.flags[3] != 0;
  c.writes_partials = traits.flags[6] != 0;
  swap_groups(row, c.shape);
  if (c.writes_partials) {
    c.grid = FlashGrid::kTilesSplitsHeads;
    c.splits = row.grid ? row.grid->y : choose_splits(c, target);
    expect_splits(row, c, kMostSplits);
  }
  BuiltKernel built;
  built.parts = c.writes_partials ? c.splits : 1;
  take_named_cells(row, traits.flags[0] != 0, traits.element, built);
  built.source = make_flash_attention_mma(c);
  expect_grid(row, built.source->launch().grid);
  built.description = fmt::format("FlashAttention-2 forward, {}, tile {}x{}, {} of the keys", to_string(c.shape),
                                  c.block_m, c.block_n, counted(c.splits, "split"));
  return built;
}

}  // namespace

FamilyParser flash_split_kv_family() {
  return FamilyParser{"flash_split_kv", &matches, &make, "flash_fwd_splitkv_kernel"};
}

}  // namespace strata

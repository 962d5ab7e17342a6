#include "workloads/library/cudnn_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "sim/base/counted.hpp"
#include "sim/base/error.hpp"
#include "workloads/kernels/flash_attention_wgmma.hpp"
#include "workloads/library/cudnn_flash_name.hpp"
#include "workloads/library/flash_attention_2_row.hpp"
#include "workloads/library/gemm_launch.hpp"

namespace strata {
namespace {

constexpr std::string_view kStem = "sm90_flash_fprop_wgmma";

bool matches(std::string_view name) { return name.find(kStem) != std::string_view::npos; }

BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const std::string name = canonical_kernel_name(row.kernel);
  const CudnnFlashName numbers = parse_cudnn_flash_name(name);
  const std::array<std::uint32_t, 3>& tile = numbers.tile;
  if (tile[0] != 64 || numbers.warps[0] != 4) {
    throw UnsupportedError(fmt::format("tile of {} query rows by {} warps is not modelled", tile[0], numbers.warps[0]));
  }
  FlashWgmmaConfig c;
  c.shape = attention_shape_of(row);
  if (c.shape.head_dim != tile[2]) {
    throw UnsupportedError(fmt::format("head dim {} padded to {} is not modelled", c.shape.head_dim, tile[2]));
  }
  check_attention_shape(c.shape, target, 32, 256);
  c.block_n = tile[1];
  if (c.block_n == 0 || c.block_n % 32 != 0 || c.block_n > 256) {
    throw UnsupportedError(fmt::format("{} key rows of a step are not modelled", c.block_n));
  }
  c.schedule = AttentionSchedule::kDynamic;
  // Tiles start in the order of their rows: validation/data/h200-sxm-141gb/cudnn_tile_order.csv (cuDNN 9.19).
  c.longest_first = false;
  constexpr std::uint64_t kMostCtas = 1U << 16;  // a resident wave of any GPU, many times over
  if (row.grid && row.grid->count() > kMostCtas) {
    throw UnsupportedError(
        fmt::format("a grid of {} CTAs; this kernel's CTAs stay resident and take tile after tile", row.grid->count()));
  }
  c.persistent_ctas = row.grid ? static_cast<std::uint32_t>(row.grid->count()) : std::max(1U, target.num_sms);
  c.registers = row.registers.value_or(168);
  c.smem_dynamic_bytes = row.smem_dynamic.value_or(0);
  c.name = name;
  BuiltKernel built;
  note_unknown_words(numbers.unknown, built);
  built.warning = overruled_operator(row, "attention");
  built.source = make_flash_attention_wgmma(c);
  built.description = fmt::format("cuDNN attention forward, {}, tile 128x{}, {}, dynamic schedule", to_string(c.shape),
                                  c.block_n, counted(c.stages, "stage"));
  return built;
}

}  // namespace

FamilyParser cudnn_sm90_attention_family() {
  return FamilyParser{
      "cudnn_sm90_attention", &matches, &make, "cudnn_generated_fort_native_sdpa_sm90", false, true, true};
}

}  // namespace strata

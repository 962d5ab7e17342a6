#include "workloads/library/cudnn_sm80_attention.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/counted.hpp"
#include "sim/base/error.hpp"
#include "workloads/library/cudnn_flash_name.hpp"
#include "workloads/library/flash_attention_2_row.hpp"
#include "workloads/library/flash_traits.hpp"
#include "workloads/library/gemm_launch.hpp"

namespace strata {
namespace {

/// Warps that share rows: twelve recorded launches of 1 to 128 steps have 555 to 562 warp instructions a step, 284 of
/// them counted (d128), and 875 to 883 once, 439 at d64.
constexpr double kSharedRowsOverhead = 272;
constexpr double kSharedRowsOncePerOutput = 55;
constexpr std::uint32_t kRegisters = 183;    ///< of the recorded launches
constexpr std::uint32_t kResidentPerSm = 2;  ///< by their shared memory
constexpr std::uint32_t kMostChosenSplits = 8;
constexpr std::uint32_t kMostSplits = 128;  ///< that the kernel which adds them up is simulated for

bool matches(std::string_view name) { return name.find("sm80_flash_fprop") != std::string_view::npos; }

/// Splits where the row has no grid: as many as fill the resident CTAs. Recorded: 8 with 32 heads, none with 512.
std::uint32_t choose_splits(const FlashMmaConfig& c, std::uint32_t q_tiles, const TargetFacts& target) {
  if (!c.warps_share_rows) return 1;  // kernels for many queries have tiles enough
  const std::uint32_t ctas = q_tiles * c.shape.heads * c.shape.batch;
  const std::uint32_t steps = (c.shape.kv_len + c.block_n - 1) / c.block_n;
  return std::clamp(kResidentPerSm * target.num_sms / std::max(1U, ctas), 1U, std::min(kMostChosenSplits, steps));
}

void check_tile(const CudnnFlashName& name) {
  const bool shared = name.warps[1] > 1;
  const std::uint32_t warps = name.warps[0] * name.warps[1] * name.warps[2];
  const bool good = name.warps[2] == 1 && (name.warps[0] == 1 || name.warps[1] == 1) && warps <= 8 &&
                    name.tile[0] % (16 * name.warps[0]) == 0 && name.tile[0] <= 256 && name.tile[1] % 32 == 0 &&
                    name.tile[1] <= 256 && (!shared || name.tile[1] % (8 * name.warps[1]) == 0);
  if (!good) {
    throw UnsupportedError(fmt::format("tile {}x{} by warps {}x{}x{} is not modelled", name.tile[0], name.tile[1],
                                       name.warps[0], name.warps[1], name.warps[2]));
  }
}

/// Few queries of grouped heads run as one tile of a K/V head. Recorded: 32 heads of 8 K/V heads, one query, launch a
/// CTA for each K/V head and split, and read keys and values once.
void pack_group(AttentionShape& shape, std::uint32_t tile_rows) {
  const std::uint32_t group = shape.heads / shape.kv_heads;
  if (group > 1 && shape.q_len == 1 && group <= tile_rows) {
    shape.heads = shape.kv_heads;
    shape.q_len = group;
    shape.causal = false;  // every query is the last one
  }
}

BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  FlashMmaConfig c;
  c.name = canonical_kernel_name(row.kernel);
  const CudnnFlashName name = parse_cudnn_flash_name(c.name);
  check_tile(name);
  c.shape = attention_shape_of(row);
  if (c.shape.head_dim != name.tile[2]) {
    throw UnsupportedError(fmt::format("head dim {} padded to {} is not modelled", c.shape.head_dim, name.tile[2]));
  }
  check_attention_shape(c.shape, target, 32, 256);
  c.block_m = name.tile[0];
  const std::string shape_text = to_string(c.shape);
  pack_group(c.shape, c.block_m);
  c.block_n = name.tile[1];
  c.warps = name.warps[0] * name.warps[1];
  c.warps_share_rows = name.warps[1] > 1;
  c.overhead_per_block = c.warps_share_rows ? kSharedRowsOverhead : 0;
  c.once_per_output = c.warps_share_rows ? kSharedRowsOncePerOutput : 0;
  c.even_mn = c.shape.q_len % c.block_m == 0 && c.shape.kv_len % c.block_n == 0;
  c.registers = row.registers.value_or(kRegisters);
  c.smem_dynamic_bytes = row.smem_dynamic.value_or(0);
  c.grid = FlashGrid::kTilesHeadsBatch;
  const std::uint32_t q_tiles = (c.shape.q_len + c.block_m - 1) / c.block_m;
  c.splits = row.grid ? std::max(1U, row.grid->x / q_tiles) : choose_splits(c, q_tiles, target);
  c.writes_partials = c.splits > 1;
  expect_splits(row, c, kMostSplits);
  c.resident_ctas = flash_resident_ctas(c, target);
  BuiltKernel built;
  built.parts = c.splits;
  note_unknown_words(name.unknown, built);
  built.warning = overruled_operator(row, "attention");
  built.source = make_flash_attention_mma(c);
  expect_grid(row, built.source->launch().grid);
  built.description = fmt::format("cuDNN mma.sync attention forward, {}, tile {}x{}, {} of the keys", shape_text,
                                  c.block_m, c.block_n, counted(c.splits, "split"));
  return built;
}

}  // namespace

FamilyParser cudnn_sm80_attention_family() {
  return FamilyParser{"cudnn_sm80_attention", &matches, &make, "cudnn_generated_fort_native_sdpa_sm80"};
}

}  // namespace strata

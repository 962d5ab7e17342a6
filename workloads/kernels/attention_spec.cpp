#include "workloads/kernels/attention_spec.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/counted.hpp"
#include "sim/base/error.hpp"
#include "workloads/kernels/attention_common.hpp"
#include "workloads/kernels/flash_attention_mma.hpp"
#include "workloads/kernels/flash_attention_wgmma.hpp"
#include "workloads/kernels/options.hpp"

namespace strata {
namespace {

constexpr std::int64_t kMaxLength = 1 << 26;
constexpr std::int64_t kMaxHeads = 65535;  ///< grid.y and grid.z

std::vector<OptionSpec> options() {
  return {
      {"batch", OptionType::kInt, "1", false, "sequences, 1 to 65535"},
      {"heads", OptionType::kInt, "", false, "query heads, 1 to 65535"},
      {"kv-heads", OptionType::kInt, "", true, "key and value heads, 1 to heads, a divisor of it (default: heads)"},
      {"q-len", OptionType::kInt, "", false, "query rows per sequence and head, 1 to 2^26"},
      {"kv-len", OptionType::kInt, "", true, "key and value rows per sequence and head, 1 to 2^26 (default: q-len)"},
      {"head-dim", OptionType::kInt, "128", false,
       "elements of a head: 64, 96 or 128 (wgmma), 32 to 256 in steps of 32 (mma)"},
      {"causal", OptionType::kFlag, "off", false, "hide the keys after each query"},
      {"dtype", OptionType::kText, "bf16", false, "fp16 or bf16"},
      {"algorithm", OptionType::kText, "", true, "mma (FlashAttention-2 style) or wgmma (TMA, FlashAttention-3 style)"},
      {"block-m", OptionType::kInt, "", true, "query rows of a CTA: 64 or 128 (mma), 128 (wgmma)"},
      {"block-n", OptionType::kInt, "", true, "key rows of a step: 32 to 256"},
      {"stages", OptionType::kInt, "", true, "wgmma: ring slots for K and for V, 1 to 8"},
      {"schedule", OptionType::kText, "", true, "wgmma: dynamic (persistent CTAs) or plain (one tile per CTA)"},
      {"pipelined", OptionType::kFlag, "on", false, "wgmma: issue the next QK^T before this PV"},
  };
}

/// @param option  that makes the tile as large as it is
void check_smem(std::uint64_t bytes, const TargetFacts& target, const char* option, OptionReader& reader,
                const std::string& tile) {
  if (target.smem_per_cta_bytes > 0 && bytes > static_cast<std::uint64_t>(target.smem_per_cta_bytes)) {
    reader.problem(option, fmt::format("{} needs {} B of shared memory per CTA; the GPU has {} B", tile, bytes,
                                       target.smem_per_cta_bytes));
  }
}

BuiltKernel make_mma(const AttentionShape& shape, OptionReader& reader, const TargetFacts& target) {
  reader.finish();
  check_attention_shape(shape, target, 32, 256);
  FlashMmaConfig c;
  c.shape = shape;
  const std::int64_t fallback_n = shape.head_dim <= 64 ? 128 : 64;
  c.block_m = static_cast<std::uint32_t>(reader.integer("block-m", 64, 128, 128));
  c.block_n = static_cast<std::uint32_t>(reader.integer("block-n", 32, 256, fallback_n));
  if (c.block_m % 64 != 0) reader.problem("block-m", fmt::format("{}: must be 64 or 128", c.block_m));
  if (c.block_n % 32 != 0) reader.problem("block-n", fmt::format("{}: must be a multiple of 32", c.block_n));
  for (const char* name : {"stages", "schedule", "pipelined"}) {
    if (reader.given(name)) reader.problem(name, "is an option of --algorithm wgmma");
  }
  const std::uint64_t smem = flash_mma_smem_bytes(c);
  check_smem(smem, target, "block-n", reader, fmt::format("tile {}x{}xd{}", c.block_m, c.block_n, shape.head_dim));
  reader.finish();
  c.even_mn = shape.q_len % c.block_m == 0 && shape.kv_len % c.block_n == 0;
  const std::int64_t by_smem = smem > 0 ? target.smem_per_sm_bytes / static_cast<std::int64_t>(smem + 1024) : 2;
  c.resident_ctas = std::max(1U, target.num_sms) * static_cast<std::uint32_t>(std::clamp<std::int64_t>(by_smem, 1, 2));
  BuiltKernel built;
  built.description =
      fmt::format("mma.sync, {}, tile {}x{}, {} registers", to_string(shape), c.block_m, c.block_n, c.registers);
  if (const double spilled = flash_mma_spilled_bytes(c); spilled > 0) {
    constexpr double kMega = 1e6;
    built.notes.push_back(
        fmt::format("{:.1f} MB of the bytes stored by SMs are register spills, which stay in the L2 for the most part",
                    spilled / kMega));
  }
  built.source = make_flash_attention_mma(c);
  return built;
}

BuiltKernel make_wgmma(const AttentionShape& shape, OptionReader& reader, const TargetFacts& target) {
  reader.finish();
  check_attention_shape(shape, target, 64, 128);
  constexpr std::int64_t kStages = 2;
  FlashWgmmaConfig c;
  c.shape = shape;
  const std::int64_t block_m = reader.integer("block-m", 64, 128, kWgmmaAttentionBlockM);
  c.block_n = static_cast<std::uint32_t>(reader.integer("block-n", 32, 256, 128));
  c.stages = static_cast<std::uint32_t>(reader.integer("stages", 1, 8, kStages));
  const std::string schedule = reader.given("schedule") ? reader.choice("schedule", {"dynamic", "plain"}) : "dynamic";
  c.schedule = schedule == "plain" ? AttentionSchedule::kPlain : AttentionSchedule::kDynamic;
  c.pipelined = reader.flag("pipelined");
  const std::uint64_t tiles =
      std::uint64_t{(shape.q_len + kWgmmaAttentionBlockM - 1) / kWgmmaAttentionBlockM} * shape.heads * shape.batch;
  c.persistent_ctas = static_cast<std::uint32_t>(std::min<std::uint64_t>(std::max(1U, target.num_sms), tiles));
  c.writes_lse = true;
  if (block_m != kWgmmaAttentionBlockM) reader.problem("block-m", fmt::format("{}: must be 128 with wgmma", block_m));
  if (c.block_n % 32 != 0) reader.problem("block-n", fmt::format("{}: must be a multiple of 32", c.block_n));
  check_smem(flash_wgmma_smem_bytes(c), target, c.stages > kStages ? "stages" : "block-n", reader,
             fmt::format("tile 128x{}xd{} with {} stages", c.block_n, shape.head_dim, c.stages));
  reader.finish();
  BuiltKernel built;
  built.description = fmt::format("TMA + wgmma, {}, tile 128x{}, {}, {} schedule{}", to_string(shape), c.block_n,
                                  counted(c.stages, "stage"), schedule, c.pipelined ? ", pipelined" : "");
  built.source = make_flash_attention_wgmma(c);
  return built;
}

BuiltKernel make(const KernelOptions& given, const TargetFacts& target) {
  static const std::vector<OptionSpec> kOptions = options();
  OptionReader reader(given, kOptions);
  AttentionShape s;
  const auto as_u32 = [](std::int64_t v) { return static_cast<std::uint32_t>(v); };
  s.batch = as_u32(reader.integer("batch", 1, kMaxHeads));
  s.heads = as_u32(reader.required_integer("heads", 1, kMaxHeads));
  s.kv_heads = as_u32(reader.integer("kv-heads", 1, kMaxHeads, s.heads));
  s.q_len = as_u32(reader.required_integer("q-len", 1, kMaxLength));
  s.kv_len = as_u32(reader.integer("kv-len", 1, kMaxLength, s.q_len));
  s.head_dim = as_u32(reader.integer("head-dim", 32, 256));
  s.causal = reader.flag("causal");
  s.dtype = reader.data_type("dtype", s.dtype, {"fp16", "bf16"});
  const bool can_wgmma = target.has_wgmma && target.has_tma;
  const bool fits_wgmma = s.head_dim == 64 || s.head_dim == 96 || s.head_dim == 128;
  std::string algorithm = can_wgmma && fits_wgmma ? "wgmma" : "mma";
  const bool chosen = !reader.given("algorithm");
  if (!chosen) algorithm = reader.choice("algorithm", {"mma", "wgmma"});
  if (algorithm == "wgmma" && !can_wgmma) {
    reader.finish();
    throw UnsupportedError("flash_attention --algorithm wgmma needs TMA and wgmma, which " + target.architecture +
                           " does not have; use --algorithm mma");
  }
  BuiltKernel built = algorithm == "wgmma" ? make_wgmma(s, reader, target) : make_mma(s, reader, target);
  if (chosen) built.notes.push_back("algorithm " + algorithm + " chosen");
  return built;
}

}  // namespace

KernelSpec flash_attention_spec() {
  return KernelSpec{"flash_attention", "fused attention, forward: softmax(Q K^T / sqrt(d)) V without the score matrix",
                    options(), &make};
}

}  // namespace strata

#include "workloads/library/flash_attention_2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "workloads/kernels/flash_attention_mma.hpp"
#include "workloads/library/flash_attention_2_row.hpp"

namespace strata {
namespace {

constexpr std::string_view kTraits = "Flash_fwd_kernel_traits<";
constexpr std::uint32_t kThreads = 128;
constexpr std::uint32_t kRegisterGranularity = 8;
constexpr std::uint32_t kReservedSmemBytes = 1024;  ///< of every CTA, by the system

bool matches(std::string_view name) {
  return name.find("flash_fwd_kernel<") != std::string_view::npos && name.find(kTraits) != std::string_view::npos;
}

/// The integers of a comma-separated list from `at` on; stops at the first item that is none.
std::vector<std::uint32_t> integers(std::string_view text, std::size_t at) {
  std::vector<std::uint32_t> numbers;
  while (at < text.size()) {
    while (at < text.size() && (text[at] == ' ' || text[at] == ',')) ++at;
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc{}) break;
    numbers.push_back(value);
    at = static_cast<std::size_t>(end - text.data());
  }
  return numbers;
}

/// Position just after the '>' that closes the '<' at `open`.
std::size_t after_template(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '<' ? 1 : (text[i] == '>' ? -1 : 0);
    if (depth == 0) return i + 1;
  }
  return text.size();
}

BuiltKernel make(const LaunchRow& row, const TargetFacts& target) {
  const std::string name = canonical_kernel_name(row.kernel);
  const std::size_t traits = name.find(kTraits);
  const std::vector<std::uint32_t> tile = integers(name, traits + kTraits.size());
  if (tile.size() < 4) throw UnsupportedError("the kernel traits lack head dim, block rows, block columns and warps");
  // Is_dropout, Is_causal, Is_local, Has_alibi, Is_even_MN, Is_even_K, Is_softcap, Return_softmax
  const std::vector<std::uint32_t> flags = integers(name, after_template(name, traits + kTraits.size() - 1));
  if (flags.size() < 6) throw UnsupportedError("the kernel name lacks its flags (dropout, causal, local, ...)");
  static constexpr const char* kRefused[] = {"dropout", nullptr, "a local window", "ALiBi",
                                             nullptr,   nullptr, "softcap",        "returning the softmax"};
  for (std::size_t i = 0; i < std::min<std::size_t>(flags.size(), 8); ++i) {
    if (flags[i] != 0 && kRefused[i] != nullptr) throw UnsupportedError(fmt::format("{} is not modelled", kRefused[i]));
  }
  FlashMmaConfig c;
  c.shape = attention_shape_of(row);
  c.shape.causal = flags[1] != 0;
  if (name.find("half_t") != std::string::npos) c.shape.dtype = DataType::kFp16;
  if (name.find("bfloat16_t") != std::string::npos) c.shape.dtype = DataType::kBf16;
  if (c.shape.head_dim != tile[0]) {
    throw UnsupportedError(fmt::format("head dim {} padded to {} is not modelled", c.shape.head_dim, tile[0]));
  }
  if (tile[3] != 4) throw UnsupportedError(fmt::format("{} warps; only 4 are modelled", tile[3]));
  c.block_m = tile[1];
  c.block_n = tile[2];
  if (c.block_m == 0 || c.block_m % 64 != 0 || c.block_m > 256 || c.block_n == 0 || c.block_n % 32 != 0 ||
      c.block_n > 256) {
    throw UnsupportedError(fmt::format("tile {}x{} is not modelled", c.block_m, c.block_n));
  }
  c.even_mn = flags[4] != 0;
  c.registers = row.registers.value_or(255);
  c.smem_dynamic_bytes = row.smem_dynamic.value_or(0);
  c.name = name.substr(0, name.find('<'));
  check_attention_shape(c.shape, target, 32, 256);
  const std::uint32_t registers =
      (c.registers + kRegisterGranularity - 1) / kRegisterGranularity * kRegisterGranularity;
  const std::uint64_t by_registers = target.registers_per_sm / std::max(1U, registers * kThreads);
  const std::uint64_t smem = flash_mma_smem_bytes(c) + kReservedSmemBytes;
  const std::uint64_t by_smem =
      target.smem_per_sm_bytes > 0 ? static_cast<std::uint64_t>(target.smem_per_sm_bytes) / smem : by_registers;
  c.resident_ctas = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, std::min(by_registers, by_smem)) *
                                               std::max(1U, target.num_sms));
  BuiltKernel built;
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

#include "workloads/library/flash_traits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "sim/base/error.hpp"
#include "workloads/library/cpp_name.hpp"
#include "workloads/library/flash_attention_2_row.hpp"

namespace strata {
namespace {

constexpr std::string_view kTraits = "Flash_fwd_kernel_traits<";
constexpr std::uint32_t kRegisterGranularity = 8;
constexpr std::uint32_t kReservedSmemBytes = 1024;  ///< of every CTA, by the system

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

void check_tile(const FlashTraits& t) {
  if (t.warps != 4 && t.warps != 8) throw UnsupportedError(fmt::format("{} warps; only 4 and 8 are modelled", t.warps));
  if (t.block_m == 0 || t.block_m % (16 * t.warps) != 0 || t.block_m > 256 || t.block_n == 0 || t.block_n % 32 != 0 ||
      t.block_n > 256) {
    throw UnsupportedError(fmt::format("tile {}x{} is not modelled", t.block_m, t.block_n));
  }
}

}  // namespace

bool has_flash_traits(std::string_view canonical, std::string_view stem) {
  return canonical.find(std::string(stem) + "<") != std::string_view::npos &&
         canonical.find(kTraits) != std::string_view::npos;
}

DataType flash_element(std::string_view canonical) {
  constexpr std::size_t kElement = 6;
  const auto arguments = template_arguments(canonical, kTraits.substr(0, kTraits.size() - 1));
  const std::string_view element = arguments.size() > kElement ? arguments[kElement] : std::string_view{};
  if (element == "cutlass::half_t") return DataType::kFp16;
  if (element == "cutlass::bfloat16_t") return DataType::kBf16;
  if (element.empty()) {
    throw UnsupportedError(
        "the kernel name is cut short: its traits lack the element type; expected cutlass::half_t or "
        "cutlass::bfloat16_t");
  }
  throw UnsupportedError(fmt::format(
      "elements of {}: FlashAttention-2 has kernels of cutlass::half_t and cutlass::bfloat16_t only", element));
}

FlashTraits parse_flash_traits(std::string_view canonical, std::size_t fewest_flags) {
  const std::size_t at = canonical.find(kTraits);
  const std::vector<std::uint32_t> tile = integers(canonical, at + kTraits.size());
  if (tile.size() < 4) throw UnsupportedError("the kernel traits lack head dim, block rows, block columns and warps");
  FlashTraits traits{tile[0], tile[1], tile[2], tile[3], flash_element(canonical), {}};
  traits.flags = integers(canonical, after_template(canonical, at + kTraits.size() - 1));
  if (traits.flags.size() < fewest_flags) {
    throw UnsupportedError("the kernel name lacks its flags (dropout, causal, local, ...)");
  }
  check_tile(traits);
  return traits;
}

FlashMmaConfig flash_config_of(const LaunchRow& row, const FlashTraits& traits, std::uint32_t registers,
                               const TargetFacts& target) {
  FlashMmaConfig c;
  c.shape = attention_shape_of(row);
  expect_asked_type(row, traits.element);
  c.shape.dtype = traits.element;
  if (c.shape.head_dim != traits.head_dim) {
    throw UnsupportedError(fmt::format("head dim {} padded to {} is not modelled", c.shape.head_dim, traits.head_dim));
  }
  c.block_m = traits.block_m;
  c.block_n = traits.block_n;
  c.warps = traits.warps;
  c.registers = row.registers.value_or(registers);
  c.smem_dynamic_bytes = row.smem_dynamic.value_or(0);
  const std::string name = canonical_kernel_name(row.kernel);
  c.name = name.substr(0, name.find('<'));
  check_attention_shape(c.shape, target, 32, 256);
  c.resident_ctas = flash_resident_ctas(c, target);
  return c;
}

void expect_splits(const LaunchRow& row, const FlashMmaConfig& c, std::uint32_t most) {
  const std::uint32_t blocks = (c.shape.kv_len + c.block_n - 1) / c.block_n;
  if (!row.grid || c.splits <= std::min(most, blocks)) return;
  throw UnsupportedError(
      fmt::format("grid {}x{}x{} does not fit the shape: {} splits of {} keys; at most {} have a block of {} keys each",
                  row.grid->x, row.grid->y, row.grid->z, c.splits, c.shape.kv_len, std::min(most, blocks), c.block_n));
}

std::uint32_t flash_resident_ctas(const FlashMmaConfig& c, const TargetFacts& target) {
  const std::uint32_t registers =
      (c.registers + kRegisterGranularity - 1) / kRegisterGranularity * kRegisterGranularity;
  const std::uint64_t by_registers = target.registers_per_sm / std::max(1U, registers * c.warps * 32);
  const std::uint64_t smem = flash_mma_smem_bytes(c) + kReservedSmemBytes;
  const std::uint64_t by_smem =
      target.smem_per_sm_bytes > 0 ? static_cast<std::uint64_t>(target.smem_per_sm_bytes) / smem : by_registers;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, std::min(by_registers, by_smem)) *
                                    std::max(1U, target.num_sms));
}

}  // namespace strata

#include "sim/app/first_light.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/base/error.hpp"
#include "sim/result/text_report.hpp"

namespace strata::app {

namespace {

// The attention of the study.
constexpr double kHeads = 16;
constexpr double kTokens = 8192;
constexpr double kHeadDim = 128;
constexpr double kBytes = 2;  // bf16

constexpr double kMega = 1e6;
constexpr double kSectorBytes = 32;
constexpr std::size_t kLabelWidth = 34;
constexpr std::size_t kColumnWidth = 24;

using Cell = std::function<std::string(const StudyColumn&)>;

std::string line(std::span<const StudyColumn> columns, const std::string& label, const Cell& cell) {
  std::string out = fmt::format("{:<{}}", label, kLabelWidth);
  for (const StudyColumn& column : columns) {
    out += fmt::format("{:>{}}", cell(column), kColumnWidth);
  }
  return out + "\n";
}

/// "4,294.9": grouped as in the reports of `run`.
std::string tenths(double value) {
  constexpr double kTen = 10;
  const double rounded = std::round(value * kTen) / kTen;
  const std::string text = fmt::format("{:.1f}", rounded);
  return grouped(std::trunc(rounded)) + text.substr(text.find('.'));
}

double bytes_of(const StudyColumn& c, Counter counter) {
  return kSectorBytes * static_cast<double>(c.result.counters[counter]);
}

Cell megabytes(Counter counter) {
  return [counter](const StudyColumn& c) { return tenths(bytes_of(c, counter) / kMega); };
}

std::string traffic_lines(std::span<const StudyColumn> columns) {
  std::string out = "bytes at every level, MB\n";
  out += line(columns, "  delivered to SMs", megabytes(Counter::kDeliveredSectors));
  out += line(columns, "  stored by SMs", megabytes(Counter::kStoredSectors));
  out += line(columns, "  L2 look-ups", megabytes(Counter::kLtsSectors));
  out += line(columns, "    of these from SMs", megabytes(Counter::kLtsFromSmSectors));
  out += line(columns, "  L2 fabric", megabytes(Counter::kLtsFabricSectors));
  out += line(columns, "  HBM read", megabytes(Counter::kDramReadSectors));
  out += line(columns, "  HBM written", megabytes(Counter::kDramWriteSectors));
  out += line(columns, "  compulsory read",
              [](const StudyColumn& c) { return tenths(c.result.work.compulsory_read_bytes / kMega); });
  return out;
}

std::string unfused_lines(std::span<const StudyColumn> columns) {
  const auto cell = [](auto value) {
    return [value](const StudyColumn& c) { return c.unfused ? value(c) : std::string("-"); };
  };
  std::string out = "unfused GEMM-softmax-GEMM, at best\n";
  out +=
      line(columns, "  HBM read, MB", cell([](const StudyColumn& c) { return tenths(c.unfused->read_bytes / kMega); }));
  out += line(columns, "  HBM written, MB",
              cell([](const StudyColumn& c) { return tenths(c.unfused->write_bytes / kMega); }));
  out += line(columns, "  time, us", cell([](const StudyColumn& c) { return tenths(c.unfused->time_us); }));
  out += line(columns, "  its time over the fused kernel's", cell([](const StudyColumn& c) {
                return fmt::format("{:.2f}x", c.unfused->time_us / c.result.duration_us);
              }));
  return out;
}

/// Why fusing helps, in numbers.
std::string fusing_line(std::span<const StudyColumn> columns) {
  std::string out;
  for (const StudyColumn& c : columns) {
    if (!c.unfused) {
      continue;
    }
    const double fused = bytes_of(c, Counter::kDramReadSectors) + bytes_of(c, Counter::kDramWriteSectors);
    const double unfused = c.unfused->read_bytes + c.unfused->write_bytes;
    out += fmt::format("{}{} through HBM instead of {} on {}", out.empty() ? "" : ", ", human_bytes(fused),
                       human_bytes(unfused), c.gpu);
  }
  return out.empty() ? out
                     : "Fusing helps because the scores never leave the SM: apart, they are written and read twice; " +
                           out + ".\n";
}

std::string stack_lines(std::span<const StudyColumn> columns) {
  std::string out = "cycle stack, % of cycles\n";
  for (std::size_t i = 0; i < kNumStackReasons; ++i) {
    const auto share = [i](const StudyColumn& c) {
      constexpr double kPercent = 100;
      return c.result.sm_cycles > 0 ? kPercent * c.result.cycle_stack[i] / c.result.sm_cycles : 0.0;
    };
    const bool shown = std::any_of(columns.begin(), columns.end(), [&](const auto& c) { return share(c) >= 0.05; });
    if (shown) {
      out += line(columns, fmt::format("  {}", kStackReasonInfo[i].key),
                  [&](const StudyColumn& c) { return fmt::format("{:.1f}", share(c)); });
    }
  }
  return out;
}

}  // namespace

const std::vector<StudyCase>& first_light_cases() {
  static const KernelOptions kAttention{{"batch", "1"},     {"heads", "16"},     {"q-len", "8192"},
                                        {"kv-len", "8192"}, {"head-dim", "128"}, {"dtype", "bf16"}};
  static const KernelOptions kGemm{{"m", "4096"}, {"n", "4096"}, {"k", "4096"}, {"dtype", "bf16"}};
  static const std::vector<StudyCase> kCases{
      {"FlashAttention", "a100-sxm4-80gb", "flash_attention", kAttention},
      {"FlashAttention", "h100-sxm5-80gb", "flash_attention", kAttention},
      {"GEMM 4096^3", "a100-sxm4-80gb", "gemm", kGemm},
      {"GEMM 4096^3", "h100-sxm5-80gb", "gemm", kGemm},
  };
  return kCases;
}

const KernelSpec& study_kernel(const std::string& name) {
  for (const KernelSpec& spec : kernel_catalogue()) {
    if (spec.name == name) {
      return spec;
    }
  }
  throw ModelBug(fmt::format("the catalogue has no kernel '{}'", name));
}

UnfusedBound unfused_attention_bound(const GpuConfig& gpu, int sm_clock_mhz) {
  constexpr double kOperand = kHeads * kTokens * kHeadDim * kBytes;  // Q, K, V or O
  constexpr double kScores = kHeads * kTokens * kTokens * kBytes;    // S or P
  constexpr double kGemmFlops = 2 * kHeads * kTokens * kTokens * kHeadDim;
  const double flops_per_us = 2.0 * gpu.tensor.fma_16bit * gpu.num_sms() * sm_clock_mhz;
  const double bytes_per_us = gpu.hbm_peak_gb_per_s() * 1e3;
  const auto time = [&](double flops, double bytes) { return std::max(flops / flops_per_us, bytes / bytes_per_us); };
  UnfusedBound bound;
  bound.read_bytes = 2 * kOperand + kScores + kScores + kOperand;
  bound.write_bytes = kScores + kScores + kOperand;
  bound.time_us = time(kGemmFlops, 2 * kOperand + kScores)     // S = Q K^T
                  + time(0, 2 * kScores)                       // P = softmax(S)
                  + time(kGemmFlops, kScores + 2 * kOperand);  // O = P V
  return bound;
}

std::string study_table(std::span<const StudyColumn> columns) {
  std::string out =
      "FlashAttention (16 heads, 8192 tokens, head dim 128, full, bf16) against unfused attention's traffic bound, and "
      "a 4096^3 bf16 GEMM\n\n";
  out += line(columns, "", [](const StudyColumn& c) { return c.title; });
  out += line(columns, "", [](const StudyColumn& c) { return c.gpu; });
  out += line(columns, "SM cycles", [](const StudyColumn& c) { return grouped(c.result.sm_cycles); });
  out += line(columns, "SM clock, MHz", [](const StudyColumn& c) { return grouped(c.result.sm_clock_mhz); });
  out += line(columns, "time, us", [](const StudyColumn& c) { return tenths(c.result.duration_us); });
  out += line(columns, "TFLOP/s", [](const StudyColumn& c) {
    return fmt::format("{:.1f}", c.result.work.tensor_flops / c.result.duration_us / kMega);
  });
  out += line(columns, "bottleneck", [](const StudyColumn& c) { return std::string(to_string(c.result.bottleneck)); });
  out += traffic_lines(columns) + unfused_lines(columns) + stack_lines(columns);
  out += "\n" + fusing_line(columns);
  for (const StudyColumn& column : columns) {
    out += fmt::format("{} on {}: {}. {}\n", column.title, column.gpu, column.result.description,
                       column.result.bottleneck_reason);
  }
  return out;
}

}  // namespace strata::app

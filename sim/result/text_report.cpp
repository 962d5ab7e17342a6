#include "sim/result/text_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/counted.hpp"
#include "sim/result/bottleneck.hpp"
#include "sim/result/roofline.hpp"
#include "sim/result/views.hpp"

namespace strata {

namespace {

constexpr int kBarWidth = 40;

class Report {
 public:
  Report(const Result& result, const GpuDescription& gpu, const TextOptions& options)
      : r_(result), gpu_(gpu), config_(gpu.config), options_(options) {}

  std::string write() {
    headline();
    rates();
    traffic_table();
    stack();
    if (options_.metrics) {
      metrics();
    }
    for (const std::string& note : r_.notes) {
      out_ += "  note: " + note + "\n";
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string paint(const char* code, const std::string& text) const {
    return options_.colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  [[nodiscard]] std::string bold(const std::string& text) const { return paint("1", text); }

  void line(const std::string& label, const std::string& value, const std::string& remark) {
    out_ += remark.empty() ? fmt::format("  {:<13}{}\n", label, value)
                           : fmt::format("  {:<13}{:<18}{}\n", label, value, remark);
  }

  void headline() {
    out_ += bold(r_.kernel) + " on " + bold(r_.gpu) + "\n";
    for (const std::string& replaced : replaced_values(gpu_)) {
      out_ += "  with " + replaced + "\n";
    }
    if (!r_.description.empty()) {
      out_ += "  " + r_.description + "\n";
    }
  }

  void rates() {
    line("time", fmt::format("{:.2f} us", r_.duration_us),
         fmt::format("{} SM cycles at {} MHz{}", grouped(r_.sm_cycles), r_.sm_clock_mhz,
                     r_.sm_clock_source.empty() ? "" : " (" + r_.sm_clock_source + ")"));
    const double mhz = r_.sm_clock_mhz;
    if (r_.work.tensor_flops > 0) {
      rate("tensor", tensor_tflops(r_), tensor_peak_tflops(config_, r_.work.tensor_type, mhz), "TFLOP/s",
           " at this clock");
    }
    if (r_.work.fp32_flops > 0) {
      rate("fp32", fp32_tflops(r_), fp32_peak_tflops(config_, mhz), "TFLOP/s", " at this clock");
    }
    rate("HBM", gb_per_s(r_.dram_read_bytes() + r_.dram_write_bytes(), r_.duration_us), config_.hbm_peak_gb_per_s(),
         "GB/s", "");
    line("occupancy", counted(r_.occupancy.ctas_per_sm, "CTA", "/SM"),
         fmt::format("{}{}; {} CTA{} in the grid", counted(r_.occupancy.warps_per_sm, "warp", "/SM"),
                     r_.occupancy.limiter.empty() ? "" : ", limited by " + r_.occupancy.limiter,
                     grouped(static_cast<double>(r_.grid_ctas)), r_.grid_ctas == 1 ? "" : "s"));
    const RooflineEstimate roof = roofline(config_, r_.work, mhz);
    line("roofline", fmt::format("{:.2f} us", roof.duration_us), fmt::format("limited by {}", to_string(roof.limit)));
    line("bottleneck", to_string(r_.bottleneck), r_.bottleneck_reason);
  }

  void rate(const char* label, double value, double peak, const char* unit, const char* where) {
    line(label, fmt::format("{:.1f} {}", value, unit),
         peak > 0 ? fmt::format("{:.0f} % of the {:.1f} {} peak{}", 100 * value / peak, peak, unit, where)
                  : std::string());
  }

  void traffic_table() {
    out_ += fmt::format("\n  {:<15}{:>12}{:>12}{:>16}\n", "traffic", "read", "written", "rate");
    for (const TrafficRow& row : traffic(r_)) {
      const std::string write = row.write_means.empty() ? "-" : human_bytes(row.write_bytes);
      out_ += fmt::format("  {:<15}{:>12}{:>12}{:>11.1f} GB/s   {}{}\n", row.title, human_bytes(row.read_bytes), write,
                          gb_per_s(row.read_bytes + row.write_bytes, r_.duration_us), row.read_means,
                          row.write_means.empty() ? "" : " / " + row.write_means);
    }
    out_ += fmt::format("  {:<15}{:>12}{:>12}\n", "compulsory", human_bytes(r_.work.compulsory_read_bytes),
                        human_bytes(r_.work.compulsory_write_bytes));
  }

  void stack() {
    const double total = std::max(r_.sm_cycles, 1.0);
    out_ += "\n  cycle stack, average over SMs\n";
    for (std::size_t i = 0; i < kNumStackReasons; ++i) {
      const double share = r_.cycle_stack[i] / total;
      if (share < 0.0005) {
        continue;
      }
      const int width = std::clamp(static_cast<int>(std::lround(share * kBarWidth)), 0, kBarWidth);
      out_ += fmt::format("  {:<15}{:>6.1f} % {:>16} cycles", kStackReasonInfo[i].key, 100 * share,
                          grouped(r_.cycle_stack[i]));
      out_ += width > 0 ? "  " + paint("36", std::string(static_cast<std::size_t>(width), '#')) + "\n" : "\n";
    }
  }

  void metrics() {
    out_ += "\n  metrics\n";
    for (const MetricValue& m : ncu_metrics(r_)) {
      out_ += fmt::format("  {:<62}{:>22} {}\n", m.name, m.whole ? grouped(m.value) : fmt::format("{:.2f}", m.value),
                          m.unit);
    }
  }

  const Result& r_;
  const GpuDescription& gpu_;
  const GpuConfig& config_;
  const TextOptions& options_;
  std::string out_;
};

}  // namespace

std::string grouped(double value) {
  if (!std::isfinite(value)) {
    return "-";
  }
  std::string digits = fmt::format("{:.0f}", std::fabs(value));
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return (value <= -0.5 ? "-" : "") + digits;
}

std::string human_bytes(double bytes) {
  const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 999.995 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.2f} {}", bytes, units[unit]);
}

std::string text_report(const Result& result, const GpuDescription& gpu, const TextOptions& options) {
  return Report(result, gpu, options).write();
}

}  // namespace strata

#include "sim/result/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/counted.hpp"
#include "sim/result/bottleneck.hpp"
#include "sim/result/roofline.hpp"
#include "sim/result/text_report.hpp"
#include "sim/result/views.hpp"

namespace strata {

namespace {

constexpr double kWidth = 760;
// One colour per stack reason, in its order.
constexpr std::array<const char*, kNumStackReasons> kColours = {"#7f7f7f", "#2ca02c", "#98df8a", "#bcbd22", "#dbdb8d",
                                                                "#1f77b4", "#aec7e8", "#17becf", "#9467bd", "#c5b0d5",
                                                                "#d62728", "#ff7f0e", "#ffbb78", "#8c564b", "#dddddd"};

constexpr const char* kStyle =
    "body{font:14px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;margin:.5rem 0}td,th{padding:.15rem .8rem .15rem 0;text-align:left}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}h2{margin-top:2.5rem}svg{max-width:100%}"
    ".key{display:inline-block;width:.8em;height:.8em;margin-right:.4em}";

void summary(std::string& out, const Result& r, const GpuConfig& config) {
  const auto row = [&out](const char* label, const std::string& value, const std::string& remark) {
    out += fmt::format("<tr><th>{}</th><td class=\"n\">{}</td><td>{}</td></tr>\n", label, html_escaped(value),
                       html_escaped(remark));
  };
  out += "<table>\n";
  row("time", fmt::format("{:.2f} us", r.duration_us),
      fmt::format("{} SM cycles at {} MHz", grouped(r.sm_cycles), r.sm_clock_mhz));
  if (r.work.tensor_flops > 0) {
    const double peak = tensor_peak_tflops(config, r.work.tensor_type, r.sm_clock_mhz);
    row("tensor", fmt::format("{:.1f} TFLOP/s", tensor_tflops(r)), fmt::format("peak {:.1f} TFLOP/s", peak));
  }
  row("HBM", fmt::format("{:.1f} GB/s", gb_per_s(r.dram_read_bytes() + r.dram_write_bytes(), r.duration_us)),
      fmt::format("peak {:.1f} GB/s", config.hbm_peak_gb_per_s()));
  row("roofline", fmt::format("{:.2f} us", roofline(config, r.work, r.sm_clock_mhz).duration_us), "");
  row("occupancy", counted(r.occupancy.ctas_per_sm, "CTA", "/SM"),
      counted(r.occupancy.warps_per_sm, "warp", "/SM; ") + r.occupancy.limiter);
  row("bottleneck", to_string(r.bottleneck), r.bottleneck_reason);
  out += "</table>\n";
}

void stack_bar(std::string& out, const Result& r) {
  const double total = std::max(r.sm_cycles, 1.0);
  out += fmt::format("<h3>Cycle stack</h3>\n<svg viewBox=\"0 0 {0} 34\" width=\"{0}\" height=\"34\" role=\"img\">\n",
                     kWidth);
  double x = 0;
  std::string legend;
  for (std::size_t i = 0; i < kNumStackReasons; ++i) {
    const double share = std::max(r.cycle_stack[i], 0.0) / total;
    if (share < 0.0005) {
      continue;
    }
    out += fmt::format(
        "<rect x=\"{:.2f}\" y=\"0\" width=\"{:.2f}\" height=\"34\" fill=\"{}\"><title>{} {:.1f} %</title></rect>\n", x,
        share * kWidth, kColours[i], kStackReasonInfo[i].key, 100 * share);
    legend += fmt::format(
        "<tr><td><span class=\"key\" style=\"background:{}\"></span>{}</td><td class=\"n\">{:.1f} %</td>"
        "<td class=\"n\">{} cycles</td><td>{}</td></tr>\n",
        kColours[i], kStackReasonInfo[i].key, 100 * share, grouped(r.cycle_stack[i]),
        html_escaped(kStackReasonInfo[i].sentence));
    x += share * kWidth;
  }
  out += "</svg>\n<table>\n" + legend + "</table>\n";
}

void traffic_bars(std::string& out, const Result& r) {
  const std::vector<TrafficRow> rows = traffic(r);
  double largest = 1;
  for (const TrafficRow& row : rows) {
    largest = std::max({largest, row.read_bytes, row.write_bytes});
  }
  const double row_height = 36;
  const double bar = kWidth - 330;
  out += fmt::format("<h3>Traffic</h3>\n<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n",
                     kWidth, row_height * static_cast<double>(rows.size()));
  double y = 0;
  for (const TrafficRow& row : rows) {
    out += fmt::format("<text x=\"0\" y=\"{:.0f}\" font-size=\"13\">{}</text>\n", y + 18, row.title);
    const auto one = [&](double bytes, const std::string& means, double at, const char* colour) {
      if (means.empty()) {
        return;
      }
      const double width = bytes / largest * bar;
      out += fmt::format(
          "<rect x=\"110\" y=\"{0:.0f}\" width=\"{1:.2f}\" height=\"13\" fill=\"{2}\"/>\n"
          "<text x=\"{3:.2f}\" y=\"{4:.0f}\" font-size=\"11\">{5} {6}</text>\n",
          at, width, colour, 116 + width, at + 11, human_bytes(bytes), html_escaped(means));
    };
    one(row.read_bytes, row.read_means, y + 2, "#1f77b4");
    one(row.write_bytes, row.write_means, y + 17, "#ff7f0e");
    y += row_height;
  }
  out += "</svg>\n";
}

void metric_table(std::string& out, const Result& r) {
  out += "<details><summary>Metrics</summary>\n<table>\n";
  for (const MetricValue& m : ncu_metrics(r)) {
    out += fmt::format("<tr><td><code>{}</code></td><td class=\"n\">{} {}</td><td>{}</td></tr>\n", m.name,
                       m.whole ? grouped(m.value) : fmt::format("{:.2f}", m.value), m.unit, html_escaped(m.sentence));
  }
  out += "</table></details>\n";
}

}  // namespace

std::string html_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_report(const GpuDescription& gpu, const std::vector<Result>& results) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Strata: {0}</title>\n"
      "<style>{1}</style></head><body>\n<h1>{0}</h1>\n",
      html_escaped(gpu.config.chip.product), kStyle);
  for (const std::string& replaced : replaced_values(gpu)) {
    out += "<p>with " + html_escaped(replaced) + "</p>\n";
  }
  for (const Result& r : results) {
    out += "<h2>" + html_escaped(r.kernel) + "</h2>\n<p>" + html_escaped(r.description) + "</p>\n";
    summary(out, r, gpu.config);
    stack_bar(out, r);
    traffic_bars(out, r);
    metric_table(out, r);
    for (const std::string& note : r.notes) {
      out += "<p>" + html_escaped(note) + "</p>\n";
    }
  }
  return out + "</body></html>\n";
}

}  // namespace strata

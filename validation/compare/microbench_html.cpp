#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/result/html_report.hpp"
#include "validation/compare/microbench_comparison.hpp"

namespace strata {

namespace {

constexpr double kWidth = 420;
constexpr double kHeight = 240;
constexpr double kLeft = 60;
constexpr double kBottom = 40;
constexpr double kTop = 24;
constexpr std::size_t kMostCurves = 8;
constexpr std::array<const char*, kMostCurves> kColors{"#1b6ca8", "#c8553d", "#3a7d44", "#7b4b94",
                                                       "#b8860b", "#2a9d8f", "#8d5b4c", "#555555"};

/// One axis: linear from zero, or logarithmic where the values span a factor of fifteen and are all positive.
struct Axis {
  double low = 1e300;
  double high = -1e300;
  bool logarithmic = false;
  void include(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  void settle() {
    logarithmic = low > 0 && high > 15 * low;
    if (!logarithmic) low = std::min(low, 0.0);
    if (high <= low) high = low + 1;
  }
  [[nodiscard]] double place(double v) const {
    return logarithmic ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
  }
};

struct Plot {
  Axis x;
  Axis y;
  [[nodiscard]] double px(double v) const { return kLeft + x.place(v) * kWidth; }
  [[nodiscard]] double py(double v) const { return kTop + (1 - y.place(v)) * kHeight; }
};

std::string line(const Plot& plot, const MicrobenchCurve& curve, bool simulated, const char* color) {
  std::string d;
  std::string dots;
  for (const auto* p : curve) {
    const double v = simulated ? p->simulated : p->row.value;
    d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? "M" : "L", plot.px(p->row.x), plot.py(v));
    dots += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"><title>{} at {:g} {}: measured {:.5g}, simulated "
        "{:.5g} {} ({:+.1f} %)</title></circle>\n",
        plot.px(p->row.x), plot.py(v), simulated ? 2 : 3, color, html_escaped(p->row.series), p->row.x,
        html_escaped(p->row.x_unit), p->row.value, p->simulated, html_escaped(p->row.unit), 100 * p->error());
  }
  return fmt::format("<path d=\"{}\" stroke=\"{}\" fill=\"none\"{}/>\n{}", d, color,
                     simulated ? " stroke-dasharray=\"5 3\"" : "", dots);
}

/// Curves of one unit; the longest ones where there are many.
std::string plot_svg(std::vector<MicrobenchCurve> curves) {
  std::stable_sort(curves.begin(), curves.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  curves.resize(std::min(curves.size(), kMostCurves));
  Plot plot;
  for (const MicrobenchCurve& c : curves) {
    for (const auto* p : c) {
      plot.x.include(p->row.x);
      plot.y.include(p->row.value);
      plot.y.include(p->simulated);
    }
  }
  plot.x.settle();
  plot.y.settle();
  const MicrobenchRow& row = curves.front().front()->row;
  std::string out = fmt::format("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n",
                                kLeft + kWidth + 280, kTop + kHeight + kBottom);
  out += fmt::format("<path class=\"axis\" d=\"M{0} {1}V{2}H{3}\"/>\n", kLeft, kTop, kTop + kHeight, kLeft + kWidth);
  out += fmt::format("<text x=\"{}\" y=\"{}\">{:g}</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:g} {}</text>\n",
                     kLeft, kTop + kHeight + 16, plot.x.low, kLeft + kWidth, kTop + kHeight + 16, plot.x.high,
                     html_escaped(row.x_unit));
  out += fmt::format(
      "<text x=\"{0}\" y=\"{1}\" text-anchor=\"end\">{2:.4g}</text><text x=\"{0}\" y=\"{3}\" "
      "text-anchor=\"end\">{4:.4g}</text><text x=\"{5}\" y=\"14\">{6}</text>\n",
      kLeft - 6, kTop + kHeight, plot.y.low, kTop + 8, plot.y.high, kLeft, html_escaped(row.unit));
  for (std::size_t i = 0; i < curves.size(); ++i) {
    out += line(plot, curves[i], false, kColors[i]) + line(plot, curves[i], true, kColors[i]);
    out += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>\n", kLeft + kWidth + 12,
                       kTop + 16 * static_cast<double>(i + 1), kColors[i], html_escaped(curves[i].front()->row.series));
  }
  return out + "</svg>\n";
}

std::string group_html(const MicrobenchGroup& group) {
  std::string out = fmt::format(
      "<h2>{}</h2>\n<p>{} points, mean absolute error {:.1f} %, bias {:+.1f} %{}</p>\n", html_escaped(group.name),
      group.points.size(), 100 * group.mean_abs_error(), 100 * group.bias(),
      group.meets_aim() ? "" : ". " + html_escaped(group.known_gap.empty() ? kNoCauseKnown : group.known_gap));
  // One plot per unit and unit of x.
  std::vector<std::vector<MicrobenchCurve>> plots;
  for (MicrobenchCurve& curve : curves_of(group)) {
    const MicrobenchRow& row = curve.front()->row;
    const auto at = std::find_if(plots.begin(), plots.end(), [&](const std::vector<MicrobenchCurve>& p) {
      const MicrobenchRow& other = p.front().front()->row;
      return other.unit == row.unit && other.x_unit == row.x_unit;
    });
    if (at == plots.end()) {
      plots.push_back({std::move(curve)});
    } else {
      at->push_back(std::move(curve));
    }
  }
  for (auto& curves : plots) {
    out += plot_svg(std::move(curves));
  }
  return out;
}

}  // namespace

std::string microbench_html(const MicrobenchComparison& c) {
  std::string curves;
  for (const MicrobenchGroup& g : c.groups) {
    curves += group_html(g);
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Strata: microbenchmarks of {0}</title>\n"
      "<style>body{{font:14px sans-serif;margin:2em}}pre{{font-size:12px;overflow-x:auto}}svg text{{font-size:11px}}"
      ".axis{{stroke:#888;fill:none}}</style></head>\n<body><h1>Microbenchmarks of {0}</h1>\n<pre>{1}</pre>\n"
      "<p>Solid: measured. Dashed: simulated.</p>\n{2}<h2>Points</h2>\n<pre>{3}</pre>\n</body></html>\n",
      html_escaped(c.gpu), html_escaped(microbench_text(c)), curves, html_escaped(microbench_points_text(c)));
}

}  // namespace strata

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/result/html_report.hpp"
#include "validation/compare/report.hpp"

namespace strata {

namespace {

constexpr double kSize = 560;
constexpr double kMargin = 60;
constexpr std::array<const char*, 8> kColors{"#1b6ca8", "#c8553d", "#3a7d44", "#7b4b94",
                                             "#b8860b", "#2a9d8f", "#8d5b4c", "#555555"};

/// Decades of the data on a logarithmic axis.
struct LogAxis {
  int low = std::numeric_limits<int>::max();
  int high = std::numeric_limits<int>::min();
  void include(double value) {
    low = std::min(low, static_cast<int>(std::floor(std::log10(value))));
    high = std::max(high, static_cast<int>(std::ceil(std::log10(value))));
  }
  [[nodiscard]] double place(double value) const { return (std::log10(value) - low) / std::max(1, high - low) * kSize; }
};

std::string scatter_svg(const Comparison& comparison) {
  constexpr auto kCycles = Quantity::kSmCycles;
  LogAxis axis;
  const auto points = [](const ComparedRow& row) {
    const auto& sim = row.predicted[static_cast<std::size_t>(Predictor::kSimulator)][kCycles];
    const auto& truth = row.measured[kCycles];
    return row.supported && sim && truth && *sim > 0 && *truth > 0 ? std::pair(*truth, *sim) : std::pair(0.0, 0.0);
  };
  for (const ComparedRow& row : comparison.rows) {
    if (const auto [truth, sim] = points(row); truth > 0) {
      axis.include(truth);
      axis.include(sim);
    }
  }
  if (axis.low > axis.high) {
    return "<p>No launch to plot.</p>\n";
  }
  std::string out =
      fmt::format("<svg viewBox=\"0 0 {0} {0}\" width=\"{0}\" height=\"{0}\" role=\"img\">\n", kSize + 2 * kMargin);
  const auto x = [](double place) { return kMargin + place; };
  const auto y = [](double place) { return kMargin + kSize - place; };
  for (int decade = axis.low; decade <= axis.high; ++decade) {
    const double at = axis.place(std::pow(10.0, decade));
    out += fmt::format("<path class=\"grid\" d=\"M{0:.1f} {1:.1f}V{2:.1f}M{3:.1f} {4:.1f}H{5:.1f}\"/>\n", x(at), y(0),
                       y(kSize), x(0), y(at), x(kSize));
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">1e{}</text><text x=\"{:.1f}\" y=\"{:.1f}\">1e{}</text>\n",
                       x(at) - 10, y(0) + 20, decade, x(0) - 35, y(at) + 4, decade);
  }
  out += fmt::format("<path class=\"ideal\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", x(0), y(0), x(kSize), y(kSize));
  out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">measured SM cycles</text>\n", x(kSize / 2) - 50, y(0) + 45);
  out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">simulated SM cycles</text>\n", x(0), y(kSize) - 15);
  const auto& families = comparison.splits.front().families;
  for (std::size_t f = 0; f < families.size(); ++f) {
    const char* color = kColors[f % kColors.size()];
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\">{}</text>\n", x(12),
                       y(kSize) + 18 * static_cast<double>(f + 1), color, html_escaped(families[f].name));
    for (const ComparedRow& row : comparison.rows) {
      const auto [truth, sim] = points(row);
      if (truth > 0 && row.family == families[f].name) {
        out += fmt::format(
            "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"><title>{} #{}: measured {:.0f}, simulated {:.0f} "
            "({:+.1f} %)</title></circle>\n",
            x(axis.place(truth)), y(axis.place(sim)), color, html_escaped(row.case_name), html_escaped(row.seq), truth,
            sim, 100 * (sim - truth) / truth);
      }
    }
  }
  return out + "</svg>\n";
}

}  // namespace

std::string comparison_html(const Comparison& comparison) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Strata: {0} against {1}</title>\n"
      "<style>body{{font:14px sans-serif;margin:2em}}pre{{font-size:12px;overflow-x:auto}}svg text{{font-size:12px}}"
      ".grid{{stroke:#ddd;fill:none}}.ideal{{stroke:#888;stroke-dasharray:4}}circle{{fill-opacity:.7}}</style></head>\n"
      "<body><h1>{0} against {1}</h1>\n{2}<h2>Errors</h2>\n<pre>{3}</pre>\n<h2>Launches</h2>\n<pre>{4}</pre>\n"
      "</body></html>\n",
      html_escaped(comparison.gpu), html_escaped(comparison.data), scatter_svg(comparison),
      html_escaped(comparison_text(comparison)), html_escaped(comparison_rows_text(comparison)));
}

}  // namespace strata

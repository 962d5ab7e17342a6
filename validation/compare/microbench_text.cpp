#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "validation/compare/error_stats.hpp"
#include "validation/compare/microbench_comparison.hpp"

namespace strata {

namespace {

constexpr double kPercent = 100;
constexpr std::size_t kSparkWidth = 16;
constexpr std::size_t kTextWidth = 118;  ///< of causes, in characters: as wide as the table above them

/// A curve as blocks of eight heights, on a scale from zero or logarithmic where it spans more than a factor of twenty.
std::string sparkline(const MicrobenchCurve& curve, bool simulated) {
  static constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double low = 1e300;
  double high = 0;
  for (const auto* p : curve) {
    for (const double v : {p->row.value, p->simulated}) {
      low = std::min(low, std::max(v, 1e-9));
      high = std::max(high, v);
    }
  }
  const bool logarithmic = high > 20 * low;
  const auto place = [&](double v) {
    const double share = logarithmic ? std::log(std::max(v, low) / low) / std::log(high / low) : v / high;
    return static_cast<std::size_t>(std::clamp(share * 7.999, 0.0, 7.0));
  };
  std::string out;
  const std::size_t n = std::min(curve.size(), kSparkWidth);
  for (std::size_t i = 0; i < n; ++i) {
    const auto* p = curve[i * (curve.size() - 1) / std::max<std::size_t>(1, n - 1)];
    out += kBlocks[place(simulated ? p->simulated : p->row.value)];
  }
  return out;
}

/// The longest curve stands for its microbenchmark.
std::string sparklines(const MicrobenchGroup& group) {
  const std::vector<MicrobenchCurve> curves = curves_of(group);
  const auto longest =
      std::max_element(curves.begin(), curves.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (longest == curves.end() || longest->size() < 3) {
    return {};
  }
  return fmt::format("{} / {}", sparkline(*longest, false), sparkline(*longest, true));
}

/// Breaks `text` at spaces into lines of at most kTextWidth characters that begin with `indent`.
std::string wrapped(std::string_view text, std::string_view indent) {
  std::string out;
  std::string line;
  const auto flush = [&] {
    out += line.empty() ? std::string() : fmt::format("{}{}\n", indent, line);
    line.clear();
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > kTextWidth) {
      flush();
    }
    line += line.empty() ? "" : " ";
    line += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  flush();
  return out;
}

std::string x_of(const MicrobenchRow& row) { return fmt::format("{:.10g} {}", row.x, row.x_unit); }

}  // namespace

std::string microbench_text(const MicrobenchComparison& c) {
  std::string out = fmt::format("{} against {} ({} run(s)): {} microbenchmarks, {} points\n\n", c.gpu, c.product,
                                c.runs.size(), c.groups.size(), c.num_points());
  out += fmt::format("{:<52} {:>7} {:>6} {:>8}  {:>8} {:>8}  {}\n", "microbenchmark", "kind", "points", "error", "bias",
                     "worst", "measured / simulated, longest curve");
  bool some_over = false;
  for (const MicrobenchGroup& g : c.groups) {
    const std::string curves = sparklines(g);
    const bool over = !g.meets_aim();
    some_over = some_over || over;
    out +=
        fmt::format("{:<52} {:>7} {:>6} {:>6.1f} %{} {:>6} % {:>6} %  {}\n", g.name, to_string(g.points.front().kind),
                    g.points.size(), kPercent * g.mean_abs_error(), over ? '*' : ' ', signed_percent(g.bias(), 1),
                    signed_percent(g.worst().error(), 0), curves.empty() ? "(no curve of three points)" : curves);
  }
  out += "\nmean absolute error over all points of a kind\n";
  for (const PointKind kind : {PointKind::kLatency, PointKind::kRate, PointKind::kCold, PointKind::kTraffic}) {
    if (const auto error = c.mean_abs_error(kind)) {
      out += fmt::format("  {:<8} {:>6.1f} %\n", to_string(kind), kPercent * *error);
    }
  }
  out += some_over ? fmt::format("\n* over {:.0f} %, and why\n", kPercent * kMicrobenchAim) : std::string();
  for (const MicrobenchGroup& g : c.groups) {
    if (!g.meets_aim()) {
      const MicrobenchPointResult& worst = g.worst();
      out +=
          fmt::format("  {}: {:.1f} %; worst {} at {}: {:.4g} for {:.4g} {}\n", g.name, kPercent * g.mean_abs_error(),
                      worst.row.series, x_of(worst.row), worst.simulated, worst.row.value, worst.row.unit);
      out += wrapped(g.known_gap.empty() ? kNoCauseKnown : g.known_gap, "      ");
    }
  }
  out += c.not_simulated.empty() ? "" : "\nmeasured, not simulated\n";
  for (const auto& [reason, rows] : c.not_simulated) {
    out += fmt::format("  {:>6} rows: {}\n", rows, reason);
  }
  return out;
}

std::string microbench_points_text(const MicrobenchComparison& c) {
  std::string out;
  for (const MicrobenchGroup& g : c.groups) {
    out += fmt::format("\n{}\n{:<44} {:>18} {:>12} {:>12} {:>9}  {:>22}  {}\n", g.name, "series", "x", "measured",
                       "simulated", "error", "between runs", "unit");
    for (const MicrobenchPointResult& p : g.points) {
      out +=
          fmt::format("{:<44} {:>18} {:>12.5g} {:>12.5g} {:>7} %  {:>10.5g} {:>10.5g}  {}\n", p.row.series, x_of(p.row),
                      p.row.value, p.simulated, signed_percent(p.error(), 1), p.row.low, p.row.high, p.row.unit);
    }
  }
  return out;
}

}  // namespace strata

#include "validation/compare/microbench_comparison.hpp"

#include <algorithm>
#include <cmath>

namespace strata {

const char* to_string(PointKind kind) {
  switch (kind) {
    case PointKind::kLatency:
      return "latency";
    case PointKind::kRate:
      return "rate";
    case PointKind::kCold:
      return "cold";
    case PointKind::kTraffic:
      return "traffic";
  }
  return "";
}

double MicrobenchGroup::mean_abs_error() const {
  double sum = 0;
  for (const MicrobenchPointResult& p : points) {
    sum += std::abs(p.error());
  }
  return points.empty() ? 0 : sum / static_cast<double>(points.size());
}

double MicrobenchGroup::bias() const {
  double sum = 0;
  for (const MicrobenchPointResult& p : points) {
    sum += p.error();
  }
  return points.empty() ? 0 : sum / static_cast<double>(points.size());
}

const MicrobenchPointResult& MicrobenchGroup::worst() const {
  return *std::max_element(points.begin(), points.end(),
                           [](const MicrobenchPointResult& a, const MicrobenchPointResult& b) {
                             return std::abs(a.error()) < std::abs(b.error());
                           });
}

bool MicrobenchGroup::meets_aim() const { return mean_abs_error() <= kMicrobenchAim; }

std::size_t MicrobenchComparison::num_points() const {
  std::size_t n = 0;
  for (const MicrobenchGroup& g : groups) {
    n += g.points.size();
  }
  return n;
}

std::optional<double> MicrobenchComparison::mean_abs_error(PointKind kind) const {
  double sum = 0;
  std::size_t n = 0;
  for (const MicrobenchGroup& g : groups) {
    for (const MicrobenchPointResult& p : g.points) {
      if (p.kind == kind) {
        sum += std::abs(p.error());
        ++n;
      }
    }
  }
  return n == 0 ? std::nullopt : std::optional(sum / static_cast<double>(n));
}

std::vector<MicrobenchCurve> curves_of(const MicrobenchGroup& group) {
  std::vector<MicrobenchCurve> out;
  for (const MicrobenchPointResult& p : group.points) {
    const auto at = std::find_if(out.begin(), out.end(), [&](const MicrobenchCurve& c) {
      const MicrobenchRow& first = c.front()->row;
      return first.series == p.row.series && first.unit == p.row.unit && first.metric == p.row.metric;
    });
    if (at == out.end()) {
      out.push_back({&p});
    } else {
      at->push_back(&p);
    }
  }
  for (MicrobenchCurve& c : out) {
    std::stable_sort(c.begin(), c.end(), [](const auto* a, const auto* b) { return a->row.x < b->row.x; });
  }
  return out;
}

}  // namespace strata

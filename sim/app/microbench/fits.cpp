#include "sim/app/microbench/fits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/app/microbench/compare.hpp"
#include "validation/calibrate/description.hpp"
#include "validation/calibrate/fit.hpp"

namespace strata::app {

namespace {

struct PointName {
  const char* bench = nullptr;
  const char* series = nullptr;
  double x = 0;
};

struct FitRule {
  const char* key;
  double low;
  double high;
  double precision;
  bool whole;
  std::array<PointName, 3> points;  ///< those with a name
};

// The order matters: the latency of an L2 hit before what lies behind it. A parameter is here only if its points depend
// on it and on what stands before it alone: one that other errors of the model reach would make up for those instead
// (derive.cpp says where such parameters come from).
constexpr std::array<FitRule, 8> kFits{{
    {"xbar.request_latency_cycles", 10, 200, 0.5, true, {{{"latency", "load_cg_after_4_passes", 8192}}}},
    {"hbm.controller_latency_ns", 20, 400, 0.5, false, {{{"latency", "load_cg_after_1_passes", 131072}}}},
    {"tlb.miss_cycles",
     0,
     100,
     0.5,
     true,
     {{{"latency", "page_2mib", 512}, {"latency", "page_2mib", 1024}, {"latency", "page_2mib", 2048}}}},
    {"tma.latency_cycles", 0, 400, 0.5, true, {{{"latency", "bulk_l2_hit", 128}, {"latency", "bulk_l2_hit", 1024}}}},
    {"sm.barrier_latency_cycles",
     1,
     200,
     0.5,
     true,
     {{{"barrier", "syncthreads", 128}, {"barrier", "syncthreads", 256}, {"barrier", "syncthreads", 384}}}},
    {"sm.cluster_barrier_latency_cycles",
     10,
     1000,
     0.5,
     true,
     {{{"barrier", "cluster_barrier_relaxed", 2}, {"barrier", "cluster_barrier_relaxed", 4}}}},
    {"sm.cta_launch_cycles",
     10,
     2000,
     0.5,
     true,
     {{{"launch", "one_per_sm_10k_end_to_next_start", 128}, {"launch", "one_per_sm_long_end_to_next_start", 128}}}},
    {"launch.overhead_before_cycles", 100, 20000, 10, true, {{{"launch", "empty_128_threads", 1}}}},
}};

MicrobenchData points_of(const MicrobenchData& data, const FitRule& rule) {
  MicrobenchData out;
  out.product = data.product;
  out.runs = data.runs;
  // In the rule's order, whatever that of the files.
  for (const PointName& p : rule.points) {
    for (const MicrobenchRow& row : data.rows) {
      if (p.bench != nullptr && row.bench == p.bench && row.series == p.series && row.x == p.x &&
          (row.metric.empty() || row.metric == "sm__cycles_elapsed.max")) {
        out.rows.push_back(row);
      }
    }
  }
  return out;
}

double mean_abs_error(const GpuConfig& gpu, const MicrobenchData& points, int jobs) {
  MicrobenchOptions options;
  options.jobs = jobs;
  const MicrobenchComparison comparison = compare_microbench(gpu, points, options);
  double sum = 0;
  for (const MicrobenchGroup& group : comparison.groups) {
    for (const MicrobenchPointResult& p : group.points) {
      sum += std::abs(p.error());
    }
  }
  return sum / static_cast<double>(comparison.num_points());
}

/// A fit always gives an answer. One at the end of its range, or one that leaves the points far off, says more of the
/// rows than of the card.
std::string doubt_of(const FitRule& rule, const FittedValue& v) {
  constexpr double kFar = 0.5;
  if (v.after - rule.low < rule.precision || rule.high - v.after < rule.precision) {
    return fmt::format("ends where its range does, {:g} to {:g}", rule.low, rule.high);
  }
  // An error that is no number is as bad.
  if (!(v.error_after <= kFar)) return fmt::format("leaves its points {:.0f} % off", 100 * v.error_after);
  return {};
}

FittedValue fit_one(const FitRule& rule, const MicrobenchData& points, GpuDescription& d, int jobs) {
  FitOptions o;
  o.low = rule.low;
  o.high = rule.high;
  o.start = std::clamp(value_of(d, rule.key), rule.low, rule.high);
  o.whole = rule.whole;
  o.precision = rule.precision;
  const FitOutcome fit = fit_parameter(o, [&](double value) {
    GpuDescription tried = d;
    set_value(tried, rule.key, fmt::format("{:.6g}", value), "fitted", {});
    return mean_abs_error(tried.config, points, jobs);
  });
  FittedValue out;
  out.key = rule.key;
  out.before = value_of(d, rule.key);
  out.after = rule.whole ? fit.value : std::round(fit.value * 100) / 100;
  out.error_before = fit.objective_before;
  out.error_after = fit.objective_after;
  out.simulations = fit.evaluations;
  for (const MicrobenchRow& row : points.rows) {
    out.points +=
        fmt::format("{}{} {} at {:g} {}", out.points.empty() ? "" : ", ", row.bench, row.series, row.x, row.x_unit);
  }
  out.doubt = doubt_of(rule, out);
  out.solved = points.rows.size() == 1 && out.doubt.empty();
  set_value(d, rule.key, fmt::format("{:.6g}", out.after), out.solved ? "measured" : "fitted",
            fmt::format("{} microbenchmark: {}{}{}", out.solved ? "solved for the" : "fitted to the", out.points,
                        out.doubt.empty() ? "" : "; doubtful: ", out.doubt));
  return out;
}

}  // namespace

bool can_fit(const MicrobenchData& data) {
  return std::any_of(kFits.begin(), kFits.end(),
                     [&data](const FitRule& rule) { return !points_of(data, rule).rows.empty(); });
}

FitRun fit_parameters(const MicrobenchData& data, GpuDescription& description, int jobs,
                      const std::function<void(const std::string& key)>& progress) {
  FitRun out;
  for (const FitRule& rule : kFits) {
    const MicrobenchData points = points_of(data, rule);
    if (points.rows.empty()) {
      out.missing.push_back(
          fmt::format("{}: {} {} was not measured", rule.key, rule.points[0].bench, rule.points[0].series));
      continue;
    }
    if (progress) {
      progress(rule.key);
    }
    out.values.push_back(fit_one(rule, points, description, jobs));
  }
  return out;
}

}  // namespace strata::app

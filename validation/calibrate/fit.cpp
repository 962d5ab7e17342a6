#include "validation/calibrate/fit.hpp"

#include <fmt/format.h>
#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "sim/base/error.hpp"

namespace strata {

namespace {

/// What NLopt calls; remembers what it has asked, because whole numbers come back often.
struct Asked {
  const FitOptions* options = nullptr;
  const std::function<double(double)>* objective = nullptr;
  std::map<double, double> known;
  FitOutcome best;

  double ask(double x) {
    const double value = options->whole ? std::round(x) : x;
    const auto at = known.find(value);
    if (at != known.end()) {
      return at->second;
    }
    const double y = (*objective)(value);
    known.emplace(value, y);
    ++best.evaluations;
    if (best.evaluations == 1 || y < best.objective_after) {
      best.value = value;
      best.objective_after = y;
    }
    return y;
  }
};

double call(unsigned /*n*/, const double* x, double* /*gradient*/, void* data) {
  return static_cast<Asked*>(data)->ask(*x);
}

}  // namespace

FitOutcome fit_parameter(const FitOptions& o, const std::function<double(double)>& objective) {
  if (!(o.low <= o.start && o.start <= o.high)) {
    throw InputError(fmt::format("calibrate: the start {} lies outside {} to {}", o.start, o.low, o.high));
  }
  Asked asked;
  asked.options = &o;
  asked.objective = &objective;
  asked.best.objective_before = asked.ask(o.start);
  // A scan first: an objective may be flat for most of the range, where a local search would stay.
  const bool geometric = o.low > 0 && o.high > 8 * o.low;
  constexpr int kScan = 8;
  for (int i = 1; i < kScan; ++i) {
    const double share = static_cast<double>(i) / kScan;
    asked.ask(geometric ? o.low * std::pow(o.high / o.low, share) : o.low + (o.high - o.low) * share);
  }
  nlopt_srand(o.seed);
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimiser(nlopt_create(NLOPT_LN_NELDERMEAD, 1),
                                                                         &nlopt_destroy);
  nlopt_set_lower_bounds1(optimiser.get(), o.low);
  nlopt_set_upper_bounds1(optimiser.get(), o.high);
  nlopt_set_min_objective(optimiser.get(), call, &asked);
  nlopt_set_xtol_abs1(optimiser.get(), o.precision);
  nlopt_set_maxeval(optimiser.get(), o.evaluations);
  const double around = asked.best.value;
  nlopt_set_initial_step1(optimiser.get(), std::max(o.precision, (geometric ? around : o.high - o.low) / kScan));
  double x = around;
  double least = 0;
  nlopt_optimize(optimiser.get(), &x, &least);  // any stop is a stop: the best answer seen is kept
  return asked.best;
}

}  // namespace strata

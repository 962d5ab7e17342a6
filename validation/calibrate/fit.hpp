/// One bounded parameter fitted to the microbenchmark that isolates it.
#pragma once

#include <functional>

namespace strata {

struct FitOptions {
  double low = 0;
  double high = 1;
  double start = 0;
  bool whole = false;      ///< only whole numbers
  double precision = 0.5;  ///< stop when the step is smaller than this
  int evaluations = 40;    ///< at most
  unsigned long seed = 1;  ///< of the optimiser's random numbers; the same seed gives the same answer
};

struct FitOutcome {
  double value = 0;
  double objective_before = 0;
  double objective_after = 0;
  int evaluations = 0;
};

/// Minimises `objective` over [low, high]: a scan of eight values beside the start, then NLopt (Nelder-Mead in one
/// dimension: no derivatives) from the best of them. Never answers worse than the start. Throws InputError when the
/// bounds do not hold the start.
[[nodiscard]] FitOutcome fit_parameter(const FitOptions& options, const std::function<double(double)>& objective);

}  // namespace strata

// Compares a case's outputs with its double-precision reference.
#pragma once

#include <string>

#include "kernel.hpp"

namespace ladder {

struct Verdict {
  bool passed = true;
  double worst = 0;     // largest error of an element as a fraction of its row's largest reference value
  double allowed = 0;   // tolerance of the output that came nearest to failing, or failed
  std::string failure;  // one line; empty when passed
};

/// Poisons every output, runs the launches once and compares. Every element is checked for NaN and for having been
/// written, the guard behind each output for being untouched; small outputs are compared in full, large ones on random
/// rows and columns, first and last always among them.
[[nodiscard]] Verdict check(Problem& problem);

}  // namespace ladder

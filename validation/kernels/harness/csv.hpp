// The measured table: the columns of the library kernels' table, and ours behind them.
#pragma once

#include <cstdio>
#include <string>

#include "check.hpp"

namespace ladder {

struct Row {
  std::string case_name, split;
  double event_median_us = 0, vendor_median_us = 0;  // 0 = not timed
  Verdict verdict;
};

void write_header(std::FILE* file);
/// One line per launch of the plan. What only the profiler knows stays empty; join_counters.py fills it in.
void write_rows(std::FILE* file, const Kernel& kernel, const Problem& problem, const Row& row);

}  // namespace ladder

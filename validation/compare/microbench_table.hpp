/// Reads what validation/microbench measured: one folder per run, one CSV per program, origin.json beside them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/config/gpu_config.hpp"
#include "validation/compare/microbench_origin.hpp"

namespace strata {

/// One measured point. Its value is the median over the runs that have it.
struct MicrobenchRow {
  std::string bench;   ///< program: "latency", ...; "lrc_cold" where X_cold_counters.csv holds its counters
  std::string series;  ///< curve
  double x = 0;
  std::string x_unit;
  std::string metric;  ///< hardware counter; empty when the program itself timed
  double value = 0;
  std::string unit;
  double low = 0;           ///< lowest of the runs' values
  double high = 0;          ///< highest
  double sm_clock_mhz = 0;  ///< 0 when unknown
  int runs = 0;
  std::string file;  ///< where the row stands, for messages; of several runs the first
  int line = 0;
};

/// Rows that no program prints: misspelt more often than new.
struct UnknownSeries {
  Diagnostic problem;  ///< of the first of them
  std::size_t rows = 0;
};

struct MicrobenchData {
  std::vector<MicrobenchRow> rows;        ///< in the order in which the files list them
  std::vector<std::string> runs;          ///< folders read
  std::vector<MicrobenchOrigin> origins;  ///< of each run
  std::string product;                    ///< as origin.json names the GPU
  std::vector<UnknownSeries> unknown;     ///< left out of `rows`, one for each series of a file
  std::vector<Diagnostic> odd;            ///< keys of origin.json that say nothing, or name nothing
};

/// The rows of one run as they are, without those that its origin.json leaves out. Throws InputError as
/// read_microbench() does.
[[nodiscard]] std::vector<MicrobenchRow> read_microbench_run(const std::string& run);

/// Reads `folder`: a run, or a folder of runs. Rows of counters come from X_counters.csv.
///
/// Programs whose result depends on how many SMs each GPC has are read only from cards that have as many as `gpu`
/// describes, where there are such cards.
///
/// Rows that origin.json of a run lists under "left_out" are known to be wrong and are not read.
///
/// Throws InputError, one line for each problem: no such folder, no run in it, no origin.json or one that is broken, a
/// GPU of another architecture or with other SMs, L2 or memory clock than `gpu`, runs of different GPUs; a file without
/// rows, a missing column, a cell that is no number a GPU can give, a point that a run has twice.
[[nodiscard]] MicrobenchData read_microbench(const std::string& folder, const GpuConfig& gpu);

}  // namespace strata

// Predictions against the counters of an H100, for every recorded launch that simulates quickly. The limits are what
// the model reached when they were set, with a little room: a change that makes it worse fails here.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>

#include "models/hw/system/simulator.hpp"
#include "sim/base/error.hpp"
#include "sim/config/gpu_description.hpp"
#include "tests/support/recorded_rows.hpp"
#include "workloads/library/resolve.hpp"

using namespace strata;
using namespace strata::test;

namespace {

constexpr double kLongestCycles = 130000;  // longer launches are scored by `strata validate`

/// Mean absolute error of one quantity, in per cent.
struct Score {
  double sum = 0;
  int rows = 0;
  double worst = 0;
  std::string worst_row;
  void add(const std::string& row, double simulated, double measured) {
    const double error = 100.0 * std::abs(simulated - measured) / measured;
    sum += error;
    ++rows;
    if (error > worst) {
      worst = error;
      worst_row = row;
    }
  }
  [[nodiscard]] double mean() const { return rows == 0 ? 0 : sum / rows; }
};

struct Scores {
  std::map<std::string, Score> cycles;  ///< by family
  Score delivered;
  Score hbm_reads;
  Score from_sm;
  Score warp_insts;
  int simulated = 0;
};

Scores predict_all() {
  Scores scores;
  const GpuConfig gpu = load_gpu("h100-sxm5-80gb").config;
  const RecordedRows recorded("h100-sxm5-80gb/library_kernels.csv");
  for (const RecordedRow& row : recorded.all()) {
    const double cycles = row.number("sm_cycles");
    if (cycles > kLongestCycles) {
      continue;
    }
    const std::string family = family_of(row.launch.kernel);
    if (family.empty()) {
      continue;
    }
    BuiltKernel kernel;
    try {
      kernel = resolve_launch(row.launch, hopper_facts());
    } catch (const UnsupportedError&) {
      continue;
    }
    SimulationOptions options;
    options.sm_clock_mhz = row.number("sm_clock_mhz");
    const Result r = simulate(gpu, *kernel.source, options);
    ++scores.simulated;
    const std::string name = row.launch.case_name + " " + row.launch.seq;
    scores.cycles[family].add(name, r.sm_cycles, cycles);
    const auto compare = [&](Score& score, double simulated, const char* column, double floor) {
      const double measured = row.number(column);
      if (measured > floor) {
        score.add(name, simulated, measured);
      }
    };
    const auto counted = [&](Counter c) { return static_cast<double>(r.counters[c]); };
    if (family == "nvjet") {
      compare(scores.delivered, counted(Counter::kDeliveredSectors), "xbar2l1_read_sectors", 1e5);
    }
    compare(scores.hbm_reads, r.dram_read_bytes(), "dram_read_bytes", 8e6);
    compare(scores.from_sm, counted(Counter::kLtsFromSmSectors), "lts_from_sm_sectors", 1e5);
    compare(scores.warp_insts, counted(Counter::kWarpInsts), "warp_insts", 1e4);
  }
  return scores;
}

}  // namespace

TEST_CASE("Recorded H100 launches are predicted within the errors reached so far", "[golden]") {
  const Scores scores = predict_all();
  REQUIRE(scores.simulated >= 50);
  // sm80_xmma_gemm: one launch of one CTA an SM, where a warp has its sub-partition to itself. sm90_xmma_gemm: the
  // producer's turn, measured on nvjet's kernels, makes these two 0.4 % worse and the H200's seven better (5.4 to 4.9).
  const std::map<std::string, double> limits{
      {"nvjet", 5.7},           {"elementwise", 3.9},    {"flash_attention_2", 3.9},
      {"sm80_xmma_gemm", 14.5}, {"cutlass_gemm", 4.8},   {"softmax", 6.6},
      {"triangle", 3.5},        {"splitk_sum", 2.4},     {"layer_norm", 2.0},
      {"reduce", 0.8},          {"lean_reduction", 2.8}, {"flash_combine", 6.3},
      {"flash_split_kv", 3.3},  {"sm90_xmma_gemm", 5.5}, {"cudnn_sm80_attention", 4.3}};
  for (const auto& [family, score] : scores.cycles) {
    INFO(family << ": " << score.rows << " rows, mean " << score.mean() << " %, worst " << score.worst << " % ("
                << score.worst_row << ")");
    const auto limit = limits.find(family);
    CHECK(score.mean() <= (limit == limits.end() ? 10.0 : limit->second));
  }
  INFO("delivered " << scores.delivered.mean() << " %, HBM reads " << scores.hbm_reads.mean() << " % (worst "
                    << scores.hbm_reads.worst_row << " " << scores.hbm_reads.worst << "), sectors from SMs "
                    << scores.from_sm.mean() << " %, warp instructions " << scores.warp_insts.mean() << " %");
  CHECK(scores.delivered.worst <= 1.0);
  CHECK(scores.hbm_reads.mean() <= 0.3);
  CHECK(scores.from_sm.mean() <= 3.4);
  CHECK(scores.warp_insts.mean() <= 2.0);
}

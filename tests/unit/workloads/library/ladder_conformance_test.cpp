/// The generators of the kernel ladder against the counters of recorded launches: counts that no timing changes.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/support/recorded_rows.hpp"
#include "tests/support/trace_totals.hpp"
#include "workloads/library/resolve.hpp"

using namespace strata;

namespace {

/// Mean of the absolute errors of one quantity.
class Error {
 public:
  void add(std::uint64_t counted, double recorded, double floor) {
    if (recorded <= floor) return;
    last_ = (static_cast<double>(counted) - recorded) / recorded;
    sum_ += std::abs(last_);
    ++count_;
  }
  [[nodiscard]] double mean() const { return count_ == 0 ? 0 : sum_ / count_; }
  [[nodiscard]] double last() const { return last_; }

 private:
  double sum_ = 0;
  double last_ = 0;
  int count_ = 0;
};

struct Errors {
  Error instructions, wavefronts, delivered, stored;
};

/// Kernels that read some of their operands from L1, whose hits a trace does not show.
bool reuses_l1(const std::string& family) {
  return family == "ladder_plain_gemm" || family == "ladder_gemv" || family == "ladder_rows" ||
         family == "ladder_elementwise" || family == "ladder_rotary";
}

void add(Errors& e, const test::RecordedRow& row, const std::string& family) {
  constexpr double kFewCounts = 1e4;
  constexpr double kFewSectors = 1e5;
  const BuiltKernel built = resolve_launch(row.launch, test::hopper_facts());
  REQUIRE(built.source->launch().grid.count() == row.launch.grid->count());
  const std::uint64_t stride = std::max<std::uint64_t>(1, built.source->launch().num_ctas() / 97);
  const test::TraceTotals totals = test::trace_totals(*built.source, stride);
  e.instructions.add(totals.warp_insts, row.number("warp_insts"), kFewCounts);
  e.wavefronts.add(totals.smem_wavefronts, row.number("smem_wavefronts"), kFewCounts);
  e.stored.add(totals.stored_sectors, row.number("l12xbar_write_sectors"), kFewSectors);
  if (!reuses_l1(family)) e.delivered.add(totals.delivered_sectors, row.number("xbar2l1_read_sectors"), kFewSectors);
  if (std::getenv("STRATA_PRINT_CONFORMANCE") != nullptr && row.split == "calibration") {
    fmt::print("{:70} insts {:+.3f} wavefronts {:+.3f} delivered {:+.3f} stored {:+.3f}\n",
               row.launch.shape + " " + row.launch.kernel, e.instructions.last(), e.wavefronts.last(),
               e.delivered.last(), e.stored.last());
  }
}

}  // namespace

TEST_CASE("ladder: instructions, wavefronts and sectors of the recorded launches", "[workloads][ladder][conformance]") {
  const test::RecordedRows rows("h100-sxm5-80gb/ladder_kernels.csv");
  std::map<std::string, Errors> families;
  Errors all;
  std::size_t launches = 0;
  for (const test::RecordedRow& row : rows.all()) {
    const std::string family = family_of(row.launch.kernel);
    INFO(row.launch.case_name << " " << row.launch.kernel);
    add(families[family], row, family);
    add(all, row, family);
    ++launches;
  }
  CHECK(launches == 276);
  for (const auto& [family, e] : families) {
    INFO(family << ": instructions " << e.instructions.mean() << ", wavefronts " << e.wavefronts.mean()
                << ", delivered " << e.delivered.mean() << ", stored " << e.stored.mean());
    CHECK(e.instructions.mean() < 0.02);
  }
  INFO("instructions " << all.instructions.mean() << ", wavefronts " << all.wavefronts.mean() << ", delivered "
                       << all.delivered.mean() << ", stored " << all.stored.mean());
  CHECK(all.instructions.mean() < 0.01);
  CHECK(all.wavefronts.mean() < 0.025);
  CHECK(all.delivered.mean() < 0.01);
  CHECK(all.stored.mean() < 0.015);
}

TEST_CASE("ladder: narrow copies leave few other instructions, never fewer than none", "[workloads][ladder]") {
  LaunchRow row;
  row.op = "gemm";
  row.dtype = "fp16";
  row.shape = "96,129,65,NN";
  row.kernel = "strata_gemm_wmma_96x128x32_f16_nn";
  const test::TraceTotals t = test::trace_totals(*resolve_launch(row, test::hopper_facts()).source);
  CHECK(t.warp_insts > 1000);
  CHECK(t.warp_insts < 100000);
}

TEST_CASE("ladder: plain kernels multiply one pair of matrices", "[workloads][ladder]") {
  LaunchRow row;
  row.op = "gemm";
  row.dtype = "fp32";
  row.shape = "3,64,64,64,TN";
  row.kernel = "strata_gemm_naive_16x16_f32_tn";
  CHECK_THROWS_WITH(resolve_launch(row, test::hopper_facts()), Catch::Matchers::Contains("one pair of matrices"));
}

/// The generator of nvjet kernels against the counters of recorded launches: counts that do not depend on timing.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <string>

#include "tests/support/recorded_rows.hpp"
#include "tests/support/trace_totals.hpp"
#include "workloads/library/resolve.hpp"

using namespace strata;

namespace {

double error_of(std::uint64_t counted, double recorded) { return (static_cast<double>(counted) - recorded) / recorded; }

}  // namespace

TEST_CASE("nvjet: tensor instructions are exact and delivered sectors within 1 % of every recorded launch",
          "[workloads][nvjet][conformance]") {
  const test::RecordedRows rows("h100-sxm5-80gb/library_kernels.csv");
  std::size_t launches = 0;
  double instruction_error = 0;
  double wavefront_error = 0;
  for (const test::RecordedRow& row : rows.all()) {
    if (family_of(row.launch.kernel) != "nvjet") {
      continue;
    }
    INFO(row.launch.case_name << " " << row.launch.kernel);
    const BuiltKernel built = resolve_launch(row.launch, test::hopper_facts());
    REQUIRE(built.source->launch().grid == *row.launch.grid);
    const test::TraceTotals totals = test::trace_totals(*built.source);
    CHECK(totals.tensor_insts == static_cast<std::uint64_t>(row.number("tensor_insts")));
    CHECK(std::abs(error_of(totals.delivered_sectors, row.number("xbar2l1_read_sectors"))) < 0.01);
    CHECK(std::abs(error_of(totals.stored_sectors, row.number("l12xbar_write_sectors"))) < 0.01);
    const double instructions = error_of(totals.warp_insts, row.number("warp_insts"));
    const double wavefronts = error_of(totals.smem_wavefronts, row.number("smem_wavefronts"));
    CHECK(std::abs(instructions) < 0.15);
    CHECK(std::abs(wavefronts) < 0.10);
    instruction_error += std::abs(instructions);
    wavefront_error += std::abs(wavefronts);
    ++launches;
    if (std::getenv("STRATA_PRINT_CONFORMANCE") != nullptr) {
      fmt::print("{:9} {:60} insts {:+.3f} wavefronts {:+.3f} delivered {:+.4f} stored {:+.4f}\n", row.split,
                 row.launch.shape + " " + row.launch.kernel.substr(11), instructions, wavefronts,
                 error_of(totals.delivered_sectors, row.number("xbar2l1_read_sectors")),
                 error_of(totals.stored_sectors, row.number("l12xbar_write_sectors")));
    }
  }
  REQUIRE(launches == 37);
  CHECK(instruction_error / static_cast<double>(launches) < 0.05);
  CHECK(wavefront_error / static_cast<double>(launches) < 0.03);
}

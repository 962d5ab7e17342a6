/// Counts of a kernel family's generators against the counters of its recorded calibration launches.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>

#include "tests/support/recorded_rows.hpp"
#include "tests/support/trace_totals.hpp"
#include "workloads/library/resolve.hpp"

namespace strata::test {

inline double error_of(std::uint64_t counted, double recorded) {
  return recorded == 0 ? static_cast<double>(counted) : (static_cast<double>(counted) - recorded) / recorded;
}

struct FamilyMeans {
  double instructions = 0;  ///< mean absolute error of warp instructions
  double wavefronts = 0;
  std::size_t launches = 0;
};

/// Calls check(row, totals) for every recorded launch of the family; launches of over 8192 CTAs are sampled.
template <typename Check>
FamilyMeans check_family(const std::string& family, Check&& check) {
  const RecordedRows rows("h100-sxm5-80gb/library_kernels.csv");
  FamilyMeans means;
  for (const RecordedRow& row : rows.all()) {
    if (row.split != "calibration" || family_of(row.launch.kernel) != family) continue;
    INFO(row.launch.case_name << " " << row.launch.seq << " " << row.launch.kernel);
    const BuiltKernel built = resolve_launch(row.launch, hopper_facts());
    REQUIRE(built.source->launch().grid.count() == row.launch.grid->count());
    const std::uint64_t stride = std::max<std::uint64_t>(1, built.source->launch().num_ctas() / 8192);
    const TraceTotals totals = trace_totals(*built.source, stride);
    check(row, totals);
    if (row.number("warp_insts") > 10000) {
      means.instructions += std::abs(error_of(totals.warp_insts, row.number("warp_insts")));
      means.wavefronts += std::abs(error_of(totals.smem_wavefronts, row.number("smem_wavefronts")));
      ++means.launches;
    }
  }
  REQUIRE(means.launches > 0);
  means.instructions /= static_cast<double>(means.launches);
  means.wavefronts /= static_cast<double>(means.launches);
  return means;
}

}  // namespace strata::test

// l1_rows.cu: what loads cost whose lanes lie 16 B apart in rows of any pitch.
#include <fmt/format.h>

#include "sim/app/microbench/point.hpp"
#include "workloads/kernels/microbench/l1_rows.hpp"

namespace strata::app {

Mapping map_l1_rows(const MicrobenchRow& row, const Placement& placement) {
  if (row.series != "ldg_2B") return not_simulated("an unknown series");
  microbench::L1RowsConfig c;
  c.sms = static_cast<std::uint32_t>(placement.num_sms());
  c.pitch = static_cast<std::uint32_t>(row.x);
  return one_trace(
      "loads of lanes 16 B apart, by row pitch", PointKind::kRate, fmt::format("l1_rows {}", c.pitch),
      [c] { return microbench::make_l1_rows(c); },
      [c](const MicrobenchRun& run) {
        double sum = 0;
        for (std::uint32_t sm = 0; sm < c.sms; ++sm) sum += run.cycles(sm);
        return sum / c.sms / static_cast<double>(c.requests_per_sm());
      });
}

}  // namespace strata::app

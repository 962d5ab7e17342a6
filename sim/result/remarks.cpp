#include "sim/result/remarks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/result/roofline.hpp"
#include "sim/result/text_report.hpp"

namespace strata {

std::vector<std::string> remarks(const Result& r, const GpuConfig& config) {
  std::vector<std::string> out;
  const RooflineEstimate roof = roofline(config, r.work, r.sm_clock_mhz);
  const double kept = r.work.compulsory_write_bytes - r.dram_write_bytes();
  if (r.duration_us < roof.duration_us && roof.limit == Bottleneck::kHbm && kept > 0) {
    out.push_back(
        fmt::format("faster than the roofline: {} of the output are still in the L2 at the end, which the "
                    "roofline counts as written to HBM",
                    human_bytes(kept)));
  }
  return out;
}

}  // namespace strata

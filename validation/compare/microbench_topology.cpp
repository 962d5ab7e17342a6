#include "validation/compare/microbench_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "sim/base/error.hpp"

namespace strata {

namespace {

constexpr double kLastGpc = 63;  ///< beyond any GPU so far

InputError fault(const MicrobenchRow& row, const char* key, std::string message) {
  return InputError(Diagnostic{row.file, row.line, 0, key, std::move(message)});
}

void expect_whole(const MicrobenchRow& row, const char* key, double number, double lowest, double highest) {
  if (!(number >= lowest && number <= highest && number == std::floor(number))) {
    throw fault(
        row, key,
        fmt::format("{:.10g}: {} expects a whole number from {:.0f} to {:.0f}", number, row.series, lowest, highest));
  }
}

}  // namespace

void check_topology(const std::vector<MicrobenchRow>& rows, const MicrobenchOrigin& origin) {
  std::map<int, const MicrobenchRow*> sms_in_gpc;
  std::map<int, std::vector<const MicrobenchRow*>> members;
  std::vector<const MicrobenchRow*> sides;
  std::size_t placed = 0;
  int listed = 0;
  for (const MicrobenchRow& row : rows) {
    if (!row.metric.empty()) continue;
    if (row.bench == "topology" && row.series == "sms_in_gpc" && row.x_unit == "gpc") {
      expect_whole(row, "x", row.x, 0, kLastGpc);
      expect_whole(row, "value", row.value, 1, origin.sms);
      sms_in_gpc.emplace(static_cast<int>(row.x), &row);
      listed += static_cast<int>(row.value);
    } else if (row.bench == "topology" && row.series == "gpc_of_sm" && row.x_unit == "smid") {
      expect_whole(row, "x", row.x, 0, origin.sms - 1);
      expect_whole(row, "value", row.value, 0, kLastGpc);
      members[static_cast<int>(row.value)].push_back(&row);
      ++placed;
    } else if (row.bench == "l2_fabric" && row.series == "side_of_gpc" && row.x_unit == "gpc") {
      expect_whole(row, "x", row.x, 0, kLastGpc);
      expect_whole(row, "value", row.value, 0, 1);
      sides.push_back(&row);
    }
  }
  if (sms_in_gpc.empty()) return;
  int expected = 0;
  for (const auto& [gpc, row] : sms_in_gpc) {
    if (gpc != expected) {
      throw fault(*row, "x", fmt::format("{}: sms_in_gpc lists no GPC {}; expected all from 0 on", gpc, expected));
    }
    ++expected;
  }
  const MicrobenchRow& first = *sms_in_gpc.begin()->second;
  if (listed != origin.sms) {
    throw fault(
        first, "value",
        fmt::format("sms_in_gpc lists {} SMs in {} GPCs; the GPU has {}", listed, sms_in_gpc.size(), origin.sms));
  }
  for (const auto& [gpc, some] : members) {
    const auto at = sms_in_gpc.find(gpc);
    const auto holds = at == sms_in_gpc.end() ? std::size_t{0} : static_cast<std::size_t>(at->second->value);
    const bool all_placed = placed == static_cast<std::size_t>(origin.sms);
    if (some.size() > holds || (all_placed && some.size() != holds)) {
      throw fault(*some.back(), "value",
                  fmt::format("gpc_of_sm puts {} SMs into GPC {}, sms_in_gpc lists {}", some.size(), gpc, holds));
    }
  }
  for (const MicrobenchRow* row : sides) {
    if (!sms_in_gpc.contains(static_cast<int>(row->x))) {
      throw fault(*row, "x", fmt::format("{:.0f}: side_of_gpc of a GPC that sms_in_gpc does not list", row->x));
    }
  }
}

}  // namespace strata

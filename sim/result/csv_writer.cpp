#include "sim/result/csv_writer.hpp"

#include <fmt/format.h>

#include "sim/result/views.hpp"

namespace strata {

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string out = "\"";
  for (const char c : text) {
    out += c == '"' ? std::string("\"\"") : std::string(1, c);
  }
  return out + "\"";
}

std::string csv_header() {
  std::string out = "gpu,kernel,family,grid_ctas,sm_clock_mhz,duration_us,bottleneck";
  for (const MetricValue& m : metric_list()) {
    out += "," + m.name;
  }
  for (const StackReasonInfo& reason : kStackReasonInfo) {
    out += std::string(",cycle_stack.") + reason.key;
  }
  return out + "\n";
}

std::string csv_row(const Result& r) {
  std::string out = fmt::format("{},{},{},{},{},{:.3f},{}", csv_cell(r.gpu), csv_cell(r.kernel), csv_cell(r.family),
                                r.grid_ctas, r.sm_clock_mhz, r.duration_us, to_string(r.bottleneck));
  for (const MetricValue& m : ncu_metrics(r)) {
    out += m.whole ? fmt::format(",{:.0f}", m.value) : fmt::format(",{:.2f}", m.value);
  }
  for (const double cycles : r.cycle_stack) {
    out += fmt::format(",{:.2f}", cycles);
  }
  return out + "\n";
}

}  // namespace strata

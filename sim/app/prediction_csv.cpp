#include "sim/app/prediction_csv.hpp"

#include <fmt/format.h>

#include "sim/result/csv_writer.hpp"

namespace strata::app {

QuantityValues quantities_of(const Result& result) {
  const auto count = [&result](Counter c) { return static_cast<double>(result.counters[c]); };
  QuantityValues out;
  out[Quantity::kSmCycles] = result.sm_cycles;
  out[Quantity::kDurationUs] = result.duration_us;
  out[Quantity::kDramReadBytes] = result.dram_read_bytes();
  out[Quantity::kDramWriteBytes] = result.dram_write_bytes();
  out[Quantity::kLtsSectors] = count(Counter::kLtsSectors);
  out[Quantity::kLtsFromSmSectors] = count(Counter::kLtsFromSmSectors);
  out[Quantity::kLtsFromSmHitSectors] = count(Counter::kLtsFromSmHitSectors);
  out[Quantity::kLtsFabricSectors] = count(Counter::kLtsFabricSectors);
  out[Quantity::kDeliveredSectors] = count(Counter::kDeliveredSectors);
  out[Quantity::kStoredSectors] = count(Counter::kStoredSectors);
  out[Quantity::kSmemWavefronts] = count(Counter::kSmemWavefronts);
  out[Quantity::kWarpInsts] = count(Counter::kWarpInsts);
  out[Quantity::kTensorInsts] = count(Counter::kTensorInsts);
  out[Quantity::kDramBytes] = result.dram_read_bytes() + result.dram_write_bytes();
  return out;
}

std::string prediction_csv_header() {
  std::string out = "case,seq,status,reason";
  for (std::size_t i = 0; i < kNumPredictedColumns; ++i) {
    out += fmt::format(",{}", kQuantityInfo[i].column);
  }
  return out + ",bottleneck,sim_seconds,family,sm_clock_mhz,sm_active_cycles_avg,chosen_kernel\n";
}

std::string prediction_csv_row(const std::string& case_name, const std::string& seq, const Prediction& prediction) {
  std::string out = fmt::format("{},{},{},{}", csv_cell(case_name), csv_cell(seq), prediction.ok ? "ok" : "unsupported",
                                csv_cell(prediction.reason));
  const QuantityValues values = prediction.ok ? quantities_of(prediction.result) : QuantityValues{};
  for (std::size_t i = 0; i < kNumPredictedColumns; ++i) {
    const int digits = static_cast<Quantity>(i) == Quantity::kDurationUs ? 3 : 0;
    out += values.value[i] ? fmt::format(",{:.{}f}", *values.value[i], digits) : std::string(",");
  }
  if (!prediction.ok) {
    return out + fmt::format(",,{:.3f},,,,\n", prediction.host_seconds);
  }
  const Result& r = prediction.result;
  return out + fmt::format(",{},{:.3f},{},{},{:.0f},{}\n", to_string(r.bottleneck), prediction.host_seconds,
                           csv_cell(prediction.family), r.sm_clock_mhz, r.sm_active_cycles_avg,
                           csv_cell(prediction.kernel));
}

}  // namespace strata::app

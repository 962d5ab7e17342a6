#include "sim/result/views.hpp"

#include <cmath>

namespace strata {

namespace {

constexpr double kSectorBytes = 32;
constexpr double kWavefrontBytes = 128;

double count(const Result& r, Counter c) { return static_cast<double>(r.counters[c]); }

}  // namespace

std::vector<MetricValue> ncu_metrics(const Result& r) {
  std::vector<MetricValue> out = {
      {"sm__cycles_elapsed.max", "cycle", "SM clocks from launch to end, launch cost included", std::round(r.sm_cycles),
       true},
      {"sm__cycles_active.avg", "cycle", "SM clocks with a CTA resident, averaged over SMs",
       std::round(r.sm_active_cycles_avg * 100) / 100, false},
      {"gpu__time_duration.sum", "ns", "launch to end", std::round(r.duration_us * 1e3), true},
      {"dram__bytes_read.sum", "byte", "bytes read from HBM", r.dram_read_bytes(), true},
      {"dram__bytes_write.sum", "byte", "bytes written to HBM", r.dram_write_bytes(), true},
  };
  for (std::size_t i = 0; i < kNumCounters; ++i) {
    const CounterInfo& info = kCounterInfo[i];
    if (*info.ncu != '\0') {
      out.push_back({info.ncu, info.unit, info.sentence, count(r, static_cast<Counter>(i)), true});
    }
  }
  return out;
}

std::vector<MetricValue> metric_list() { return ncu_metrics(Result{}); }

std::vector<TrafficRow> traffic(const Result& r) {
  return {
      {"shared_memory", "shared memory", kWavefrontBytes * count(r, Counter::kSmemWavefronts),
       count(r, Counter::kSmemFillBytes), "wavefronts of 128 B, stores included", "fills by TMA and cp.async"},
      {"l1", "L1", kSectorBytes * count(r, Counter::kL1GlobalLoadSectors), 0, "sectors looked up by loads", ""},
      {"crossbar", "crossbar", kSectorBytes * count(r, Counter::kDeliveredSectors),
       kSectorBytes * count(r, Counter::kStoredSectors), "delivered to SMs", "stored by SMs"},
      {"l2", "L2", kSectorBytes * count(r, Counter::kLtsReadSectors),
       kSectorBytes * count(r, Counter::kLtsWriteSectors), "read look-ups, fabric included",
       "write look-ups, fabric included"},
      {"fabric", "L2 fabric", kSectorBytes * count(r, Counter::kLtsFabricSectors), 0, "crossings, both directions", ""},
      {"hbm", "HBM", r.dram_read_bytes(), r.dram_write_bytes(), "read", "written"},
  };
}

double gb_per_s(double bytes, double duration_us) { return duration_us > 0 ? bytes / duration_us * 1e-3 : 0; }
double tensor_tflops(const Result& r) { return r.duration_us > 0 ? r.work.tensor_flops / r.duration_us * 1e-6 : 0; }
double fp32_tflops(const Result& r) { return r.duration_us > 0 ? r.work.fp32_flops / r.duration_us * 1e-6 : 0; }

}  // namespace strata

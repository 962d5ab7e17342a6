#include "sim/result/json_writer.hpp"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/base/version.hpp"
#include "sim/config/gpu_fields.hpp"
#include "sim/result/bottleneck.hpp"
#include "sim/result/roofline.hpp"
#include "sim/result/views.hpp"

namespace strata {

using Json = nlohmann::ordered_json;

namespace {

/// Rounds away the last bits, which depend on the order of additions.
double rounded(double value, double digits_scale) { return std::round(value * digits_scale) / digits_scale; }

Json number(double value, bool whole) {
  if (!std::isfinite(value)) {
    return nullptr;
  }
  if (whole && std::fabs(value) < 9e15) {
    return static_cast<std::int64_t>(std::llround(value));
  }
  return value;
}

Json estimate_json(const RooflineEstimate& e) {
  return {{"sm_cycles", number(e.sm_cycles, true)},
          {"duration_us", rounded(e.duration_us, 1e3)},
          {"dram_read_bytes", number(e.read_bytes, true)},
          {"dram_write_bytes", number(e.write_bytes, true)},
          {"limit", to_string(e.limit)}};
}

Json traffic_json(const Result& r) {
  Json out = Json::object();
  for (const TrafficRow& row : traffic(r)) {
    Json& level = out[row.level] = Json::object();
    level["read_bytes"] = number(row.read_bytes, true);
    if (!row.write_means.empty()) {
      level["write_bytes"] = number(row.write_bytes, true);
    }
  }
  return out;
}

}  // namespace

Json gpu_json(const GpuDescription& gpu) {
  const GpuConfig& c = gpu.config;
  std::map<std::string, int> by_origin;
  Json given = Json::object();
  for (const auto& [key, origin] : gpu.origins) {
    ++by_origin[origin.origin];
    if (origin.origin == "given") {
      given[key] = field_text(*find_field(key), c);
    }
  }
  return {{"name", c.chip.name},
          {"product", c.chip.product},
          {"architecture", c.chip.architecture},
          {"sms", c.num_sms()},
          {"sm_max_mhz", c.clocks.sm_max_mhz},
          {"l2_bytes", c.l2.size_bytes},
          {"hbm_bytes", c.hbm.size_bytes},
          {"hbm_peak_gb_per_s", rounded(c.hbm_peak_gb_per_s(), 1e3)},
          {"tensor_16bit_peak_tflops", rounded(tensor_peak_tflops(c, "bf16", c.clocks.sm_max_mhz), 1e3)},
          {"values_by_origin", by_origin},
          {"given", given}};
}

Json kernel_json(const Result& r, const GpuConfig& config) {
  Json k = Json::object();
  k["name"] = r.kernel;
  k["family"] = r.family;
  k["description"] = r.description;
  k["grid_ctas"] = r.grid_ctas;
  k["clocks"] = {{"sm_mhz", r.sm_clock_mhz},
                 {"sm_source", r.sm_clock_source},
                 {"l2_mhz", r.l2_clock_mhz},
                 {"hbm_mhz", r.hbm_clock_mhz}};
  k["occupancy"] = {{"ctas_per_sm", r.occupancy.ctas_per_sm},
                    {"warps_per_sm", r.occupancy.warps_per_sm},
                    {"limiter", r.occupancy.limiter}};
  Json& metrics = k["metrics"] = Json::object();
  for (const MetricValue& m : ncu_metrics(r)) {
    metrics[m.name] = number(m.value, m.whole);
  }
  Json& counters = k["counters"] = Json::object();
  for (std::size_t i = 0; i < kNumCounters; ++i) {
    counters[kCounterInfo[i].key] = r.counters[static_cast<Counter>(i)];
  }
  k["traffic"] = traffic_json(r);
  Json& stack = k["cycle_stack"] = Json::object();
  for (std::size_t i = 0; i < kNumStackReasons; ++i) {
    stack[kStackReasonInfo[i].key] = number(rounded(r.cycle_stack[i], 1e2), false);
  }
  Json& utilization = k["utilization"] = Json::object();
  for (const auto& [unit, share] : unit_shares(r.utilization)) {
    utilization[to_string(unit)] = number(rounded(share, 1e4), false);
  }
  k["bottleneck"] = {{"name", to_string(r.bottleneck)},
                     {"reason", r.bottleneck_reason},
                     {"utilization", number(rounded(share_of(r, r.bottleneck), 1e4), false)}};
  k["work"] = {{"tensor_flops", number(r.work.tensor_flops, true)},
               {"tensor_type", r.work.tensor_type},
               {"fp32_flops", number(r.work.fp32_flops, true)},
               {"compulsory_read_bytes", number(r.work.compulsory_read_bytes, true)},
               {"compulsory_write_bytes", number(r.work.compulsory_write_bytes, true)}};
  k["rates"] = {{"tensor_tflops", number(rounded(tensor_tflops(r), 1e3), false)},
                {"fp32_tflops", number(rounded(fp32_tflops(r), 1e3), false)},
                {"hbm_gb_per_s",
                 number(rounded(gb_per_s(r.dram_read_bytes() + r.dram_write_bytes(), r.duration_us), 1e3), false)}};
  k["estimates"] = {{"roofline", estimate_json(roofline(config, r.work, r.sm_clock_mhz))},
                    {"bound", estimate_json(bound(config, r.work, r.sm_clock_mhz))}};
  k["notes"] = r.notes;
  return k;
}

Json units_json() {
  Json metrics = Json::object();
  for (const MetricValue& m : metric_list()) {
    metrics[m.name] = m.unit;
  }
  Json counters = Json::object();
  for (const CounterInfo& info : kCounterInfo) {
    counters[info.key] = info.unit;
  }
  return {{"metrics", metrics},
          {"counters", counters},
          {"cycle_stack", "SM cycle, averaged over SMs"},
          {"utilization", "share of the kernel's time, 0 to 1"}};
}

Json document_json(const GpuDescription& gpu, const std::vector<Result>& results) {
  Json out = {{"schema", "strata.result/1"}, {"version", version()}, {"gpu", gpu_json(gpu)}, {"units", units_json()}};
  Json& kernels = out["kernels"] = Json::array();
  for (const Result& r : results) {
    kernels.push_back(kernel_json(r, gpu.config));
  }
  return out;
}

std::string result_json(const GpuDescription& gpu, const std::vector<Result>& results) {
  // Kernel names come from files: replace bytes that are not UTF-8 rather than fail.
  return document_json(gpu, results).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace strata

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sample.hpp"
#include "sim/config/gpu_description.hpp"
#include "sim/result/csv_writer.hpp"
#include "sim/result/html_report.hpp"
#include "sim/result/json_writer.hpp"
#include "sim/result/text_report.hpp"
#include "sim/result/views.hpp"

using namespace strata;

namespace {
const GpuDescription& h100() {
  static const GpuDescription gpu = load_gpu("h100-sxm5-80gb", {"l2.ways=10"});
  return gpu;
}
}  // namespace

TEST_CASE("JSON: has the contract's keys, metrics under Nsight Compute's names, bytes and units", "[result][json]") {
  const auto json = nlohmann::json::parse(result_json(h100(), {test::sample_result()}));
  CHECK(json["schema"] == "strata.result/1");
  CHECK_FALSE(json["version"].get<std::string>().empty());
  for (const char* block : {"metrics", "counters"}) {
    for (const auto& [key, value] : json["kernels"][0][block].items()) {
      CAPTURE(key);
      CHECK_FALSE(json["units"][block].value(key, "").empty());
    }
  }
  CHECK(json["gpu"]["name"] == "h100-sxm5-80gb");
  CHECK(json["gpu"]["given"]["l2.ways"] == "10");
  REQUIRE(json["kernels"].size() == 1);
  const auto& k = json["kernels"][0];
  CHECK(k["name"] == "gemm <bf16>, \"TN\"");
  const auto& m = k["metrics"];
  CHECK(m["sm__cycles_elapsed.max"] == 320000);
  CHECK(m["sm__cycles_active.avg"] == 310000.13);
  CHECK(m["gpu__time_duration.sum"] == 200000);
  CHECK(m["dram__bytes_read.sum"] == 32'000'000);
  CHECK(m["dram__bytes_write.sum"] == 16'000'000);
  CHECK(m["l1tex__m_xbar2l1tex_read_sectors.sum"] == 40'000'000);
  for (const CounterInfo& info : kCounterInfo) {
    CHECK((*info.ncu == '\0' || m.contains(info.ncu)));
  }
  CHECK(k["counters"]["lrc_merged_sectors"] == 12);
  CHECK(k["traffic"]["hbm"]["read_bytes"] == 32'000'000);
  CHECK(k["traffic"]["crossbar"]["read_bytes"] == 1'280'000'000);
  CHECK(k["cycle_stack"]["tensor"] == 256000.0);
  CHECK(k["bottleneck"]["name"] == "tensor");
  CHECK(k["bottleneck"]["utilization"] == 0.8);
  double sum = 0;
  for (const auto& [reason, cycles] : k["cycle_stack"].items()) {
    sum += cycles.get<double>();
  }
  CHECK(sum == Approx(320000));
}

TEST_CASE("JSON: equal results give equal bytes, and the host's time is not in it", "[result][json]") {
  Result a = test::sample_result();
  Result b = a;
  b.host_seconds = 17;
  b.events = 1;
  CHECK(result_json(h100(), {a}) == result_json(h100(), {b}));
  CHECK(result_json(h100(), {a}).find("host") == std::string::npos);
}

TEST_CASE("JSON: bytes that are not UTF-8 and values that are not finite do not break it", "[result][json]") {
  Result r = test::sample_result();
  r.kernel = "bad \xff name";
  r.utilization.hbm = std::numeric_limits<double>::quiet_NaN();
  const auto json = nlohmann::json::parse(result_json(h100(), {r}));
  CHECK(json["kernels"][0]["utilization"]["hbm"].is_null());
}

TEST_CASE("CSV: a row has a cell for every column, and quotes what needs it", "[result][csv]") {
  CHECK(csv_cell("plain") == "plain");
  CHECK(csv_cell("a,\"b\"\n") == "\"a,\"\"b\"\"\n\"");
  Result r = test::sample_result();
  r.kernel = "plain";
  const std::string header = csv_header();
  const std::string row = csv_row(r);
  CHECK(std::count(header.begin(), header.end(), ',') == std::count(row.begin(), row.end(), ','));
  CHECK(row.starts_with("h100-sxm5-80gb,plain,nvjet,132,1600,200.000,tensor,320000,"));
  CHECK(csv_row(test::sample_result()).find("\"gemm <bf16>, \"\"TN\"\"\"") != std::string::npos);
}

TEST_CASE("Text: shows time, rates, traffic, stack and bottleneck with units; colour only when asked",
          "[result][text]") {
  const std::string text = text_report(test::sample_result(), h100());
  for (const char* part :
       {"200.00 us", "320,000 SM cycles at 1600 MHz (given)", "687.0 TFLOP/s", "240.0 GB/s", "32.00 MB", "16.00 MB",
        "80.0 %", "tensor cores busy 80 %", "limited by shared memory", "note: tile chosen by prediction"}) {
    INFO(part << "\n" << text);
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text_report(test::sample_result(), h100(), {true, true}).find("\x1b[1m") != std::string::npos);
  CHECK(text_report(test::sample_result(), h100(), {false, true}).find("lts__t_sectors.sum") != std::string::npos);
}

TEST_CASE("Text and HTML: say what --set replaced and the value described", "[result][text][html]") {
  const GpuDescription gpu = load_gpu("h100-sxm5-80gb", {"l2.size=100MiB", "l2.near_copy=none"});
  const std::string text = text_report(test::sample_result(), gpu);
  const std::string html = html_report(gpu, {test::sample_result()});
  for (const char* part :
       {"with l2.size_bytes = 100 MiB (described: 50 MiB)\n", "with l2.near_copy = none (described: first_fill)\n"}) {
    INFO(part << "\n" << text);
    CHECK(text.find(std::string("  ") + part) != std::string::npos);
    CHECK(html.find(std::string("<p>") + std::string(part, std::strlen(part) - 1) + "</p>") != std::string::npos);
  }
  CHECK(text_report(test::sample_result(), load_gpu("h100-sxm5-80gb")).find("described") == std::string::npos);
}

TEST_CASE("Text: no line ends in a space", "[result][text]") {
  Result r = test::sample_result();
  r.cycle_stack[static_cast<std::size_t>(StackReason::kDrain)] = 300;  // too few cycles for a mark
  const std::string text = text_report(r, h100(), {false, true});
  CHECK(text.find("drain") != std::string::npos);
  CHECK(text.find(" \n") == std::string::npos);
}

TEST_CASE("Text: an empty result prints without dividing by zero", "[result][text]") {
  const std::string text = text_report(Result{}, h100());
  CHECK(text.find("nan") == std::string::npos);
  CHECK(text.find("inf") == std::string::npos);
}

TEST_CASE("Text: numbers are grouped and bytes scaled", "[result][text]") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(-1234567.4) == "-1,234,567");
  CHECK(human_bytes(0) == "0 B");
  CHECK(human_bytes(999) == "999 B");
  CHECK(human_bytes(1000) == "1.00 kB");
  CHECK(human_bytes(999'999) == "1.00 MB");
  CHECK(human_bytes(15.8e9) == "15.80 GB");
}

TEST_CASE("HTML: is self-contained, escapes names and draws both bars", "[result][html]") {
  const std::string html = html_report(h100(), {test::sample_result()});
  CHECK(html.starts_with("<!DOCTYPE html>"));
  CHECK(html.find("gemm &lt;bf16&gt;, &quot;TN&quot;") != std::string::npos);
  CHECK(html.find("<script") == std::string::npos);
  CHECK(html.find("http") == std::string::npos);
  std::size_t bars = 0;
  for (std::size_t at = html.find("<svg"); at != std::string::npos; at = html.find("<svg", at + 1)) {
    ++bars;
  }
  CHECK(bars == 2);
}

TEST_CASE("Metrics: names do not repeat and every one has a unit and a sentence", "[result]") {
  std::vector<std::string> names;
  for (const MetricValue& m : metric_list()) {
    CHECK_FALSE(m.unit.empty());
    CHECK_FALSE(m.sentence.empty());
    names.push_back(m.name);
  }
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

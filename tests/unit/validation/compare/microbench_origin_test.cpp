#include "validation/compare/microbench_origin.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "sim/base/error.hpp"
#include "sim/config/gpu_description.hpp"
#include "tests/support/measured_run.hpp"

using namespace strata;
using test::MeasuredRun;

namespace {

std::string origin(const std::string& gpu, const std::string& capability) {
  return R"({"gpu": ")" + gpu + R"(", "compute_capability": ")" + capability +
         R"(", "sms": 132, "l2_bytes": 52428800, "max_sm_clock_mhz": 1980, "memory_clock_mhz": 2619})";
}

std::string refusal(const MeasuredRun& run) {
  try {
    check_same_gpu(microbench_runs(run.path()), load_gpu("h100-sxm5-80gb").config);
  } catch (const InputError& e) {
    return e.what();
  }
  return {};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("microbench origin: another architecture is refused, by its number or by the product's name",
          "[validation][microbench]") {
  const MeasuredRun run("microbench_origin_architecture");
  run.write("origin.json", origin("NVIDIA H100 80GB HBM3", "9.0"));
  CHECK(refusal(run).empty());
  run.write("origin.json", origin("some card", "8.0"));
  CHECK(has(refusal(run),
            "origin.json: compute_capability: '8.0': measured on another architecture than "
            "h100-sxm5-80gb, which is hopper: expected compute capability 9.0"));
  run.write(
      "origin.json",
      R"({"gpu": "NVIDIA A100-SXM4-80GB", "sms": 132, "l2_bytes": 1, "max_sm_clock_mhz": 1980, "memory_clock_mhz": 2619})");
  CHECK(has(refusal(run), "gpu: 'NVIDIA A100-SXM4-80GB': measured on another architecture"));
  run.write("origin.json", origin("NVIDIA A100-SXM4-80GB", "9.0"));
  CHECK(has(refusal(run), "gpu: 'NVIDIA A100-SXM4-80GB' has compute capability 8.0; compute_capability states '9.0'"));
}

TEST_CASE("microbench origin: the runs of a folder are of one GPU", "[validation][microbench]") {
  const MeasuredRun run("microbench_origin_runs");
  run.write("a/origin.json", origin("NVIDIA H100 80GB HBM3", "9.0"));
  run.write("b/origin.json", origin("NVIDIA H200", "9.0"));
  CHECK(has(refusal(run), "b/origin.json: gpu: 'NVIDIA H200', but 'NVIDIA H100 80GB HBM3' in "));
}

TEST_CASE("microbench origin: a folder above runs says where they are", "[validation][microbench]") {
  const MeasuredRun run("microbench_origin_above");
  run.write("gpu/microbench/run-a/origin.json", origin("NVIDIA H100 80GB HBM3", "9.0"));
  CHECK(has(refusal(run), "holds no run: "));
  CHECK(has(refusal(run), "runs lie in " + run.path() + "/gpu/microbench; give one of them"));
}

TEST_CASE("microbench origin: what cannot be a fact of a GPU is refused with its key", "[validation][microbench]") {
  const MeasuredRun run("microbench_origin_facts");
  const auto refused = [&](const std::string& more) {
    run.write("origin.json",
              R"({"gpu": "NVIDIA H100", "sms": 132, "l2_bytes": 52428800, "memory_clock_mhz": 2619)" + more + "}");
    return refusal(run);
  };
  const std::string clock = R"(, "max_sm_clock_mhz": 1980)";
  CHECK(refused(clock).empty());
  CHECK(has(refused(R"(, "max_sm_clock_mhz": 99999)"),
            "max_sm_clock_mhz: 99999: expected a whole number from 100 to 3999"));
  CHECK(has(refused(R"(, "max_sm_clock_mhz": 1)"), "max_sm_clock_mhz: 1: expected"));
  CHECK(has(refused(clock + R"(, "sms": 132)"), "sms: is given twice; expected each key once"));
  for (const char* list : {"null", R"("latency shared *")", R"({"a": "latency shared *"})", "5"}) {
    CHECK(has(refused(clock + R"(, "left_out": )" + list), "expected a list of \"PROGRAM SERIES X\""));
  }
  CHECK(has(refused(clock + R"(, "left_out": [5])"), "left_out: expected \"PROGRAM SERIES X\", found 5"));
  const auto named = [&](const std::string& gpu) {
    run.write("origin.json", origin(gpu, "9.0"));
    return refusal(run);
  };
  CHECK(named(std::string(200, 'x')).empty());
  CHECK(has(named(std::string(201, 'x')), "expected text of at most 200 characters"));
  CHECK(has(named("NVIDIA\\u001b[31m"), "none of them a control character"));
}

TEST_CASE("microbench origin: runs of one GPU have one memory", "[validation][microbench]") {
  const MeasuredRun run("microbench_origin_memory");
  const std::string facts =
      R"({"gpu": "NVIDIA H100", "sms": 132, "l2_bytes": 52428800, "max_sm_clock_mhz": 1980, "memory_clock_mhz": 2619)";
  run.write("a/origin.json", facts + R"(, "memory_bytes": 85017493504, "memory_bus_bits": 5120})");
  run.write("b/origin.json", facts + R"(, "memory_bytes": 85017493504, "memory_bus_bits": 6144})");
  CHECK(has(refusal(run), "b/origin.json: memory_bus_bits: '6144', but '5120' in "));
  run.write("b/origin.json", facts + R"(, "memory_bytes": 150109880320, "memory_bus_bits": 5120})");
  CHECK(has(refusal(run), "b/origin.json: memory_bytes: '150109880320', but '85017493504' in "));
  run.write("b/origin.json", facts + "}");
  CHECK(refusal(run).empty());
}

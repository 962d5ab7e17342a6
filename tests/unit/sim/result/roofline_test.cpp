#include "sim/result/roofline.hpp"

#include <catch2/catch.hpp>

#include "tests/support/h100.hpp"

using namespace strata;
using namespace strata::test;

TEST_CASE("Roofline: peaks are the data sheet's at the data sheet's clock", "[roofline]") {
  CHECK(tensor_peak_tflops(h100(), "bf16", 1830) == Approx(989.4).epsilon(0.001));
  CHECK(tensor_peak_tflops(h100(), "tf32", 1830) == Approx(494.7).epsilon(0.001));
  CHECK(tensor_peak_tflops(h100(), "e4m3", 1830) == Approx(1979).epsilon(0.001));
  CHECK(tensor_peak_tflops(h100(), "int4", 1830) == 0);
  CHECK(fp32_peak_tflops(h100(), 1980) == Approx(66.9).epsilon(0.001));
}

TEST_CASE("Roofline: the slower of compute and memory decides", "[roofline]") {
  const RooflineEstimate compute = roofline(h100(), {1e12, "bf16", 0, 1e6, 1e6}, 1830);
  CHECK(compute.limit == Bottleneck::kTensor);
  CHECK(compute.duration_us == Approx(1e12 / 989.4e6).epsilon(0.001));
  CHECK(compute.sm_cycles == Approx(compute.duration_us * 1830));
  const RooflineEstimate memory = roofline(h100(), {1e6, "bf16", 1e6, 2e9, 1e9}, 1830);
  CHECK(memory.limit == Bottleneck::kHbm);
  CHECK(memory.duration_us == Approx(3e9 / 3352.32e3));
  CHECK(memory.read_bytes == 2e9);
  CHECK(roofline(h100(), {0, "", 1e12, 0, 0}).limit == Bottleneck::kFp32);
}

TEST_CASE("Bound: adds the launch and never beats the roofline", "[roofline]") {
  const WorkSummary none{};
  const RooflineEstimate empty = bound(h100(), none, 1900);
  CHECK(empty.limit == Bottleneck::kLaunch);
  CHECK(empty.sm_cycles == Approx(4350).epsilon(0.10));  // a one-CTA kernel
  CHECK(roofline(h100(), none).sm_cycles == 0);
  for (const double flops : {1e8, 1e10, 1e12}) {
    const WorkSummary work{flops, "bf16", 0, 1e7, 1e6};
    CHECK(bound(h100(), work).sm_cycles > roofline(h100(), work).sm_cycles);
  }
}

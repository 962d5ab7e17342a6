#include "sim/app/profile/profiled_gpu.hpp"

#include <catch2/catch.hpp>

#include "sim/app/gpu_option.hpp"
#include "sim/app/profile/launch_reader.hpp"
#include "tests/support/temporary_file.hpp"

using namespace strata;
using namespace strata::app;

namespace {

GpuConfig gpu(const char* name) {
  GpuChoice choice;
  choice.gpu = name;
  return load_gpu(choice).config;
}

}  // namespace

TEST_CASE("profiled GPU: names as drivers give them are those of our descriptions, or of others") {
  const GpuConfig h100 = gpu("h100-sxm5-80gb");
  CHECK(gpu_difference({}, h100).empty());
  CHECK(gpu_difference({"NVIDIA H100 80GB HBM3", "9.0", 132}, h100).empty());
  CHECK(gpu_difference({"a card", "", std::nullopt}, h100).empty());
  CHECK(gpu_difference({"NVIDIA H200", "9.0", 132}, h100) == "NVIDIA H200, not NVIDIA H100 SXM5 80GB");
  CHECK_FALSE(gpu_difference({"NVIDIA H100 PCIe", "9.0", 114}, h100).empty());
  CHECK(gpu_difference({"NVIDIA H200", "9.0", 132}, gpu("h200-sxm-141gb")).empty());
  CHECK(gpu_difference({"NVIDIA A100-SXM4-80GB", "8.0", 108}, gpu("a100-sxm4-80gb")).empty());
  CHECK_FALSE(gpu_difference({"NVIDIA A100-SXM4-80GB", "8.0", 108}, gpu("a100-sxm4-40gb")).empty());
  CHECK(gpu_difference({"NVIDIA A100 80GB PCIe", "8.0", 108}, gpu("a100-pcie-80gb")).empty());
  CHECK(gpu_difference({"", "8.0", std::nullopt}, h100) == "a GPU of compute capability 8.0, not 9.0");
  CHECK(gpu_difference({"", "9.0", 114}, h100) == "a GPU of 114 SMs, not 132");
}

TEST_CASE("profiled GPU: profiles of both kinds say which it was") {
  const std::string profiles = std::string(STRATA_SOURCE_DIR) + "/validation/data/h100-sxm5-80gb/profiles/";
  const auto kineto = open_kineto_trace(profiles + "kineto_llama2-7b_decode_layer.json", {});
  CHECK(kineto->gpu().name == "NVIDIA H100 80GB HBM3");
  CHECK(kineto->gpu().compute_capability == "9.0");
  CHECK(kineto->gpu().sms == 132);
  const auto page = open_ncu_page(profiles + "ncu_raw.csv");
  ProfiledLaunch launch;
  REQUIRE(page->next(launch));
  CHECK(page->gpu().compute_capability == "9.0");
}

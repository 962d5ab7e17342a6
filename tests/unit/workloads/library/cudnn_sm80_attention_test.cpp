#include "workloads/library/cudnn_sm80_attention.hpp"

#include <catch2/catch.hpp>

#include "tests/support/launch_rows.hpp"
#include "tests/support/trace_totals.hpp"
#include "workloads/library/cudnn_flash_name.hpp"

using namespace strata;

namespace {

std::string kernel(const char* numbers) {
  return std::string("cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_35_") + numbers + "_kernel0_0";
}

LaunchRow row(const char* numbers, const char* shape) {
  LaunchRow r = test::launch_row("attention", kernel(numbers), shape);
  r.dtype = "bf16";
  return r;
}

constexpr const char* kDecode = "16x128x128_1x4x1_cga1x1x1";

}  // namespace

TEST_CASE("cuDNN sm80: the name gives tile and warps", "[workloads][attention][library]") {
  const CudnnFlashName name = parse_cudnn_flash_name(kernel(kDecode));
  CHECK(name.tile == std::array<std::uint32_t, 3>{16, 128, 128});
  CHECK(name.warps == std::array<std::uint32_t, 3>{1, 4, 1});
  CHECK_THROWS_AS(parse_cudnn_flash_name(kernel("16x128x128")), UnsupportedError);
  CHECK_THROWS_AS(parse_cudnn_flash_name(kernel("16x128x128_1x4x1_cga2x1x1")), UnsupportedError);
}

TEST_CASE("cuDNN sm80: keys are split while CTAs are few", "[workloads][attention][library]") {
  const auto built = [](const char* shape) { return resolve_launch(row(kDecode, shape), test::hopper_facts()); };
  CHECK(built("1,32,32,1,8192,128,0,cudnn").source->launch().grid == Dim3{8, 32, 1});
  CHECK(built("16,32,32,1,2048,128,0,cudnn").source->launch().grid == Dim3{1, 32, 16});
  const test::TraceTotals totals = test::trace_totals(*built("1,32,32,1,8192,128,0,cudnn").source);
  CHECK(totals.tensor_insts == std::uint64_t{256} * 8 * 4 * 64);
  CHECK(totals.delivered_sectors == 256 * 8 + 32 * 8192 * 2 * 8);
  CHECK(totals.stored_sectors == 256 * (16 + 1));
  // Unsplit, the output is 16 bits wide.
  CHECK(test::trace_totals(*built("16,32,32,1,2048,128,0,cudnn").source).stored_sectors == 512 * (8 + 1));
}

TEST_CASE("cuDNN sm80: prefill tiles, and what cannot be simulated", "[workloads][attention][library]") {
  const BuiltKernel prefill =
      resolve_launch(row("64x64x64_4x1x1_cga1x1x1", "2,4,4,512,512,64,1,cudnn"), test::ampere_facts());
  CHECK(prefill.source->launch().grid == Dim3{8, 4, 2});
  CHECK(family_of(kernel(kDecode)) == "cudnn_sm80_attention");
  CHECK_THAT(test::unsupported_reason(row("16x128x128_2x2x1_cga1x1x1", "1,4,4,1,512,128,0,cudnn")),
             Catch::Contains("not modelled"));
  CHECK_THAT(test::unsupported_reason(row(kDecode, "1,4,4,1,512,64,0,cudnn")), Catch::Contains("padded"));
  LaunchRow absurd = row(kDecode, "1,2,2,1,2048,128,0,cudnn");
  absurd.grid = Dim3{512, 2, 1};
  CHECK_THAT(test::unsupported_reason(absurd), Catch::Contains("512 splits of 2048 keys; at most 16 have a block"));
}

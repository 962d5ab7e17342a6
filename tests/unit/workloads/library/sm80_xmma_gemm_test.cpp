#include "workloads/library/sm80_xmma_gemm.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/support/launch_rows.hpp"
#include "tests/support/trace_totals.hpp"
#include "workloads/library/xmma_name.hpp"

using namespace strata;

namespace {

constexpr const char* kFfma =
    "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x64x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__"
    "5x_cublas";

LaunchRow row(const std::string& kernel, const char* shape) { return test::launch_row("gemm", kernel, shape); }

}  // namespace

TEST_CASE("xmma names: types, layout, tile, stages, warps, instruction", "[workloads][xmma]") {
  const XmmaName name = parse_xmma_name(kFfma);
  CHECK(name.arch == 80);
  CHECK(name.input == DataType::kFp32);
  CHECK(name.layout == "nn");
  CHECK(name.tile == std::array<std::uint32_t, 3>{256, 64, 8});
  CHECK(name.stages == 3);
  CHECK(name.warps == std::array<std::uint32_t, 3>{2, 2, 1});
  CHECK(name.ffma);
  CHECK(name.align_elements == 4);
  CHECK(name.unknown.empty());
  const XmmaName int8 = parse_xmma_name(
      "sm80_xmma_gemm_i8i32_i8i32_f32_tn_n_tilesize128x64x64_stage4_warpsize2x2x1_tensor16x8x32_kernel");
  CHECK(int8.input == DataType::kInt8);
  CHECK(int8.output == DataType::kInt32);
  CHECK(int8.instruction == std::array<std::uint32_t, 3>{16, 8, 32});
  CHECK(parse_xmma_name("sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x32").input == DataType::kTf32);
  CHECK(parse_xmma_name("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x32_stage5_foo").unknown ==
        std::vector<std::string>{"foo"});
}

TEST_CASE("sm80 xmma: x of the grid counts tiles along M, launch columns may be empty", "[workloads][xmma]") {
  const BuiltKernel built = resolve_launch(row(kFfma, "64,1024,64,1024,NN"), test::hopper_facts());
  CHECK(built.source->launch().grid == Dim3{4, 1, 64});
  CHECK(built.source->launch().block.x == 128);
  for (const char* name :
       {"sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32_stage4_warpsize2x2x1_tensor16x8x16_kernel",
        "sm80_xmma_gemm_f16f16_f16f32_f32_nt_n_tilesize32x32x64_stage6_warpsize2x2x1_tensor16x8x16_execute_kernel__5x_"
        "cublas",
        "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x128x32_stage3_warpsize2x2x1_tensor16x8x8_execute_kernel__5x_"
        "cublas",
        "sm86_xmma_gemm_f16f16_f16f16_f16_tn_n_tilesize64x64x64_stage4_warpsize2x1x2_tensor16x8x16_kernel",
        "sm80_xmma_gemm_f32f32_f32f32_f32_tt_n_tilesize64x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_kernel"}) {
    INFO(name);
    CHECK(test::unsupported_reason(row(name, "512,384,256")).empty());
    CHECK(family_of(name) == "sm80_xmma_gemm");
  }
}

TEST_CASE("sm80 xmma: names that cannot be simulated say why", "[workloads][xmma]") {
  const auto reason = [](const char* name) { return test::unsupported_reason(row(name, "512,512,512")); };
  CHECK_THAT(reason("sm80_xmma_gemm_f32f32"), Catch::Contains("cut short"));
  CHECK_THAT(reason("sm80_xmma_gemm_x3x3_f32f32_f32_tn_n_tilesize64x64x8"), Catch::Contains("types"));
  CHECK_THAT(reason("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_stage3_ffma"), Catch::Contains("tilesize"));
  CHECK_THAT(reason("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize3x2x1_ffma"),
             Catch::Contains("do not divide"));
  CHECK_THAT(reason("sm80_xmma_gemm_f64f64_f64f64_f64_tn_n_tilesize64x64x16_stage3_warpsize2x2x1_tensor8x8x4"),
             Catch::Contains("mma.sync"));
}

TEST_CASE("sm80 xmma: the sum of split-K's parts is a kernel of its own", "[workloads][xmma]") {
  struct Recorded {
    const char* tile;
    std::uint64_t size;  ///< of M, N and K
    Dim3 grid;
    std::uint64_t warps;
  };
  // As recorded: four parts are read, the result is written; 545 instructions a warp. Tall tiles are summed by several
  // CTAs.
  for (const Recorded& c : {Recorded{"tilesize32x32x8_stage3_warpsize1x2x1", 256, Dim3{8, 8, 1}, 128},
                            Recorded{"tilesize64x64x8_stage3_warpsize1x4x1", 512, Dim3{8, 8, 2}, 512}}) {
    INFO(c.tile);
    const auto kernel = [&c](const char* entry) {
      return fmt::format("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_{}_ffma_aligna4_alignc4_{}__5x_cublas", c.tile, entry);
    };
    LaunchRow sum = test::launch_row("gemm", kernel("execute_split_k_kernel"), fmt::format("{0},{0},{0},TN", c.size));
    CHECK_THAT(test::unsupported_reason(sum), Catch::Contains("give the launch that left them in the row before"));
    sum.producer_kernel = kernel("execute_kernel");
    sum.producer_grid = Dim3{8, 8, 4};
    const BuiltKernel built = resolve_launch(sum, test::hopper_facts());
    CHECK(built.source->launch().grid == c.grid);
    const test::TraceTotals totals = test::trace_totals(*built.source);
    CHECK(totals.delivered_sectors == 4 * c.size * c.size * 4 / 32);
    CHECK(totals.stored_sectors == c.size * c.size * 4 / 32);
    CHECK(totals.warp_insts == c.warps * 545);
  }
}

#include "workloads/library/ladder_name.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/support/recorded_rows.hpp"
#include "workloads/library/resolve.hpp"

using namespace strata;

namespace {

LaunchRow row_of(const std::string& kernel, const std::string& op, const std::string& shape) {
  LaunchRow row;
  row.kernel = kernel;
  row.op = op;
  row.shape = shape;
  return row;
}

std::string reason_of(const LaunchRow& row) {
  try {
    (void)resolve_launch(row, test::hopper_facts());
  } catch (const UnsupportedError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("ladder: a GEMM's name gives tile, stages, cluster, copies, type and layout", "[workloads][ladder]") {
  const LadderGemmName wgmma = parse_ladder_gemm_name("strata_gemm_wgmma_128x256x64_4s_2x1_bf16_tn");
  CHECK(wgmma.rung == "wgmma");
  CHECK(wgmma.tile_m == 128);
  CHECK(wgmma.tile_n == 256);
  CHECK(wgmma.tile_k == 64);
  CHECK(wgmma.stages == 4);
  CHECK(wgmma.cluster_m == 2);
  CHECK(wgmma.cluster_n == 1);
  CHECK(wgmma.type == DataType::kBf16);
  CHECK(wgmma.layout == "tn");

  const LadderGemmName simt = parse_ladder_gemm_name("strata_gemm_simt_128x128x32_8x8_sb_al4_f32_nt");
  CHECK(simt.stages == 1);
  CHECK(simt.align == 4);
  CHECK(simt.cluster_m == 1);
  CHECK(simt.layout == "nt");

  CHECK(parse_ladder_gemm_name("strata_gemm_mma_128x128x64_3s_splitk_bf16_nn").split_k);
  CHECK(parse_ladder_gemm_name("strata_gemm_naive_strided_16x16_f32_tt").strided);
  CHECK(parse_ladder_gemm_name("strata_gemm_tiled_32x32x32_p1_f32_tt").pad == 1);
}

TEST_CASE("ladder: other names give operation, vector and type", "[workloads][ladder]") {
  const LadderRowName name = parse_ladder_row_name("strata_residual_rmsnorm_smem_v8_bf16");
  CHECK(name.operation == "residual_rmsnorm_smem");
  CHECK(name.vector == 8);
  CHECK(name.type == DataType::kBf16);
  CHECK_THROWS_AS(parse_ladder_row_name("strata_gelu"), UnsupportedError);
  CHECK_THROWS_AS(parse_ladder_gemm_name("strata_gemm_mma"), UnsupportedError);
  CHECK_THROWS_AS(parse_ladder_gemm_name("strata_gemm_mma_128x128x64_3s_odd_bf16_nn"), UnsupportedError);
}

TEST_CASE("ladder: launches find their generators by name", "[workloads][ladder]") {
  const auto family = [](const char* name) { return family_of(name); };
  CHECK(family("strata_gemm_wgmma_128x256x64_4s_2x1_bf16_tn") == "ladder_wgmma");
  CHECK(family("strata_gemm_wmma_128x128x64_s8_nn") == "ladder_wmma");
  CHECK(family("strata_gemm_tiled_32x32x32_p0_f32_nn") == "ladder_plain_gemm");
  CHECK(family("strata_residual_v4_f32") == "ladder_elementwise");
  CHECK(family("strata_residual_layernorm_smem_v4_f32") == "ladder_rows");
  CHECK(family("strata_bias_gelu_v8_bf16") == "ladder_elementwise");
  CHECK(family("strata_splitk_reduce_bf16") == "ladder_splitk_sum");

  const BuiltKernel built = resolve_launch(
      row_of("strata_gemm_simt_128x128x32_8x8_db_al4_f32_nn", "gemm", "1000,520,96,NN"), test::hopper_facts());
  CHECK(built.source->launch().grid == Dim3{5, 8, 1});  // columns of tiles first
}

TEST_CASE("ladder: what a kernel does not take is refused in words", "[workloads][ladder]") {
  CHECK_FALSE(reason_of(row_of("strata_gemv_w8_bf16_tn", "gemm", "2,4096,4096,TN")).empty());
  CHECK_FALSE(reason_of(row_of("strata_gelu_v4_f32", "gelu", "")).empty());
  CHECK_FALSE(reason_of(row_of("strata_softmax_smem_v4_f32", "softmax", "16,1001")).empty());
  CHECK_FALSE(reason_of(row_of("strata_rotary_v8_bf16", "rotary", "16,32")).empty());
  CHECK_FALSE(reason_of(row_of("strata_transpose_sideways_32x32_f32", "transpose", "64,64")).empty());
  CHECK_FALSE(reason_of(row_of("strata_splitk_reduce_bf16", "gemm", "64,64,64,TN")).empty());
  CHECK_FALSE(reason_of(row_of("strata_gemm_mma_128x128x64_3s_grouped_bf16_tn", "gemm", "64,64,64,TN")).empty());
}

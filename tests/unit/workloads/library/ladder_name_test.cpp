#include "workloads/library/ladder_name.hpp"

#include <catch2/catch.hpp>
#include <tuple>

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

TEST_CASE("ladder: a name that no kernel of the ladder has is refused, not taken for its neighbour",
          "[workloads][ladder]") {
  for (const auto& [kernel, op, shape] :
       {std::tuple{"strata_transpose_naive_0x0_f32", "transpose", "64,64"},
        {"strata_transpose_naive_32x32_bf16", "transpose", "64,64"},
        {"strata_transpose_naive_32x32_f32_more", "transpose", "64,64"},
        {"strata_transpose_naive_32x32", "transpose", "64,64"},
        {"strata_gemm_naive_4096x16_f32_nn", "gemm", "64,64,64,NN"},
        {"strata_gemm_naive_16x16_bf16_nn", "gemm", "64,64,64,NN"},
        {"strata_gemm_naive_16x16_f32_bf16_nn", "gemm", "64,64,64,NN"},
        {"strata_gemm_naive_16x16_f32_nn_tn", "gemm", "64,64,64,NN"},
        {"strata_gemm_tiled_64x64x32_p1_f32_nn", "gemm", "64,64,64,NN"},
        {"strata_gemm_simt_128x128x32_8x8_db_f32_nn", "gemm", "64,64,64,NN"},
        {"strata_gemm_simt_128x128x32_1x8_db_al4_f32_nn", "gemm", "64,64,64,NN"},
        {"strata_gemm_simt_128x128x32_128x128x32_8x8_db_al4_f32_nn", "gemm", "64,64,64,NN"},
        {"strata_gemm_mma_128x128x64_8x8_3s_bf16_nn", "gemm", "64,64,64,NN"},
        {"strata_gemm_simt_128x128x32_8x8_db_al3_f32_nn", "gemm", "64,64,64,NN"},
        {"strata_gemm_simt_128x128_8x8_db_al4_f32_nn", "gemm", "64,64,64,NN"},
        {"strata_gemm_mma_128x128x64_bf16_nn", "gemm", "64,64,64,NN"},
        {"strata_gemm_wgmma_128x256_4s_2x1_bf16_nn", "gemm", "64,64,64,NN"},
        {"strata_gemm_wmma_128x128_bf16_nn", "gemm", "64,64,64,NN"},
        {"strata_softmax_online_v4_f32", "softmax", "64,64"},
        {"strata_softmax_smem_v8_f32", "softmax", "64,64"},
        {"strata_gelu_v4_s8", "gelu", "64,64"},
        {"strata_rotary_more_v4_f32", "rotary", "64,8,64"},
        {"strata_splitk_reduce_f32", "splitk_sum", "4,64"},
        {"strata_attention_flash_64x64_db_d64_full_bf16", "attention", "1,8,8,512,512,64,0"},
        {"strata_attention_mma_64x64_d64_full_f32", "attention", "1,8,8,512,512,64,0"}}) {
    INFO(kernel);
    CHECK_FALSE(reason_of(row_of(kernel, op, shape)).empty());
  }
}

TEST_CASE("ladder: cells that contradict the name are named, the name's are simulated", "[workloads][ladder]") {
  const auto warning = [](const char* kernel, const char* op, const char* dtype, const char* shape) {
    LaunchRow row = row_of(kernel, op, shape);
    row.dtype = dtype;
    return resolve_launch(row, test::hopper_facts()).warning;
  };
  const std::string bf16 = "operands of bf16; the fp32 of the kernel's name is simulated";
  CHECK(warning("strata_transpose_naive_32x32_f32", "transpose", "bf16", "64,64") == bf16);
  CHECK(warning("strata_softmax_smem_v4_f32", "softmax", "bf16", "64,64") == bf16);
  CHECK(warning("strata_gelu_v4_f32", "gelu", "bf16", "64,64") == bf16);
  CHECK(warning("strata_rotary_v4_f32", "rotary", "bf16", "64,8,64") == bf16);
  CHECK(warning("strata_splitk_reduce_bf16", "splitk_sum", "fp32", "4,64") ==
        "operands of fp32; the bf16 of the kernel's name is simulated");
  CHECK(warning("strata_gelu_v4_f32", "silu", "fp32", "64,64") ==
        "an op of 'silu'; the gelu of the kernel's name is simulated");
  CHECK(warning("strata_attention_mma_64x64_d64_full_bf16", "attention", "fp16", "1,8,8,512,512,64,0") ==
        "operands of fp16; the bf16 of the kernel's name is simulated");
  CHECK(warning("strata_attention_mma_64x64_d64_full_bf16", "attention", "bf16", "1,8,8,512,512,64,1") ==
        "a shape of causal attention; the full one of the kernel's name is simulated");
  CHECK(warning("strata_residual_rmsnorm_smem_v8_bf16", "residual_norm", "bf16", "64,64").empty());
  CHECK(warning("strata_layernorm_smem_v4_f32", "layer_norm", "float", "64,64").empty());
  CHECK(warning("strata_transpose_naive_32x32_f32", "", "", "64,64").empty());
}

#include "workloads/library/nvtx_label.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace strata;

namespace {

void expect(const char* label, const OperatorCells& cells) {
  CAPTURE(label);
  const auto parsed = parse_nvtx_label(label);
  REQUIRE(parsed);
  CHECK(parsed->op == cells.op);
  CHECK(parsed->dtype == cells.dtype);
  CHECK(parsed->shape == cells.shape);
}

}  // namespace

TEST_CASE("NVTX labels: words joined by underscores") {
  expect("gemm_bf16_TN_1536x1024x512", {"gemm", "bf16", "1536,1024,512,TN"});
  expect("gemm_fp16_4x64x32x16", {"gemm", "fp16", "4,64,32,16"});
  expect("softmax_bf16_1024x2048", {"softmax", "bf16", "1024,2048"});
  expect("layer_norm_fp32_8x16", {"layer_norm", "fp32", "8,16"});
  expect("attn_flash_b32_h32_8_q512_k1024_d64_c", {"attention", "bf16", "32,32,8,512,1024,64,1,flash"});
  expect("attn_cudnn_b1_h16_q1_k2048_d128_f_fp16", {"attention", "fp16", "1,16,16,1,2048,128,0,cudnn"});
}

TEST_CASE("NVTX labels: the cells of launches.csv") {
  expect("gemm bf16 64,32,16,NN", {"gemm", "bf16", "64,32,16,NN"});
  expect("attention fp16 1,8,8,128,128,64,1,flash", {"attention", "fp16", "1,8,8,128,128,64,1,flash"});
}

TEST_CASE("NVTX labels: ranges of a framework that records shapes") {
  expect("aten::mm, op_id = 7, sizes = [[16, 64], [64, 32]]", {"gemm", "", "16,32,64,NN"});
  expect("aten::add, seq = 3, sizes = [[4, 8], [8], []]", {"add", "", "4,8"});
  CHECK_THROWS_WITH(parse_nvtx_label("aten::mm, op_id = 7"), Catch::Contains("record_shapes=True"));
  CHECK_THROWS_WITH(parse_nvtx_label("aten::mm, sizes = [[16, x]]"), Catch::Contains("lists of numbers"));
  CHECK_THROWS_WITH(parse_nvtx_label("aten::mm, sizes = [[16, 64"), Catch::Contains("lists of numbers"));
}

TEST_CASE("NVTX labels: any other text is no label") {
  for (const char* text : {"", " ", "_", "step 12", "forward", "gemm_bf16_TN", "gemm_bf17_TN_1x2x3",
                           "attn__b1_h_q1_k1_d1_c", "attn_flash_b1____d1_c", "layer 1 of 32", "64x64", "bf16_64x64"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_nvtx_label(text));
  }
}

TEST_CASE("NVTX labels: a number that is no size is named") {
  const auto says = [](const char* label, const char* text) {
    CAPTURE(label);
    CHECK_THROWS_WITH(parse_nvtx_label(label), Catch::Contains(text));
  };
  says("gemm_bf16_TN_0x2x3", "the NVTX range 'gemm_bf16_TN_0x2x3' has '0' for a size; expected a whole number");
  says("gemm_bf16_TN_1x2x", "has '' for a size");
  says("gemm_bf16_64x99999999999999999999x3", "has '99999999999999999999' for a size");
  says("softmax_bf16_64x-4", "has '-4' for a size");
  says("softmax_bf16_64x12a", "has '12a' for a size");
  says("attn_flash_b0_h32_8_q512_k1024_d64_c", "has '0' for a size");
  says("attn_flash_b1_h32_8_q512_k-1_d64_c", "has '-1' for a size");
  says("aten::mm, sizes = [[16, 1e9]]", "found '1e9'");
  says("aten::mm, sizes = [[16, x]]", "found 'x'");
}

#include "workloads/library/ampere_gemm.hpp"

#include <catch2/catch.hpp>

#include "tests/support/launch_rows.hpp"
#include "tests/support/trace_totals.hpp"

using namespace strata;

namespace {

LaunchRow row(const char* kernel, const char* shape) { return test::launch_row("gemm", kernel, shape); }

Launch launch_of(const char* kernel, const char* shape) {
  return resolve_launch(row(kernel, shape), test::ampere_facts()).source->launch();
}

}  // namespace

TEST_CASE("SASS GEMMs: the name gives tile, slices, stages, types and layout", "[workloads][ampere_gemm]") {
  const AmpereGemmName sgemm = parse_ampere_gemm_name("ampere_sgemm_64x32_sliced1x4_tn");
  CHECK(sgemm.simt);
  CHECK(sgemm.tile_n == 64);
  CHECK(sgemm.tile_m == 32);
  CHECK(sgemm.slices == 4);
  CHECK(sgemm.layout == "tn");
  const AmpereGemmName bf16 =
      parse_ampere_gemm_name("ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x6_nn");
  CHECK_FALSE(bf16.simt);
  CHECK(bf16.input == DataType::kBf16);
  CHECK(bf16.output == DataType::kBf16);
  CHECK(bf16.mma_k == 16);
  CHECK(bf16.slices == 2);
  CHECK(bf16.tile_k == 64);
  CHECK(bf16.stages == 6);
  CHECK(bf16.load_elements == 8);
  CHECK(bf16.unknown.empty());
  CHECK(parse_ampere_gemm_name("ampere_s16816gemm_bf16_128x64_ldg8_stages_32x6_nn").output == DataType::kFp32);
}

TEST_CASE("SASS GEMMs: tiles run along N first and CTAs have the threads of their tile", "[workloads][ampere_gemm]") {
  const Launch large = launch_of("ampere_sgemm_128x64_tn", "4864,768,1024,TN");
  CHECK(large.grid == Dim3{6, 76, 1});
  CHECK(large.block.x == 128);
  CHECK(launch_of("ampere_sgemm_128x128_nn", "1601,1024,1024,NN").block.x == 256);
  CHECK(launch_of("ampere_sgemm_64x64_nt", "512,512,512,NT").block.x == 64);
  CHECK(launch_of("ampere_sgemm_32x128_tn", "512,512,512,TN").block.x == 256);
  CHECK(launch_of("ampere_sgemm_32x32_sliced1x4_tt", "64,40,256,TT").block.x == 128);
  CHECK(launch_of("volta_sgemm_64x32_sliced1x4_tn", "26,512,2048,TN").block.x == 256);
  const Launch tensor = launch_of("ampere_fp16_s16816gemm_fp16_256x128_ldg8_f2f_stages_64x3_tn", "1024,1024,1024,TN");
  CHECK(tensor.block.x == 256);
  CHECK(tensor.grid == Dim3{4, 8, 1});
}

TEST_CASE("SASS GEMMs: warps that slice K read each tile once", "[workloads][ampere_gemm]") {
  const auto source = resolve_launch(row("ampere_sgemm_32x32_sliced1x4_tn", "32,32,256,TN"), test::ampere_facts());
  const test::TraceTotals totals = test::trace_totals(*source.source);
  CHECK(totals.delivered_sectors == 2 * 32 * 256 * 4 / 32);
  CHECK(totals.stored_sectors == 32 * 32 * 4 / 32);
}

TEST_CASE("SASS GEMMs: names that cannot be simulated say why", "[workloads][ampere_gemm]") {
  const auto reason = [](const char* name) { return test::unsupported_reason(row(name, "512,512,512,TN")); };
  CHECK_THAT(reason("ampere_dgemm_128x64_tn"), Catch::Contains("dgemm"));
  CHECK_THAT(reason("ampere_sgemm_128x64"), Catch::Contains("cut short"));
  CHECK_THAT(reason("ampere_sgemm_128x60_tn"), Catch::Contains("warp-m") || Catch::Contains("do not divide"));
  CHECK(family_of("ampere_whatever").empty());
}

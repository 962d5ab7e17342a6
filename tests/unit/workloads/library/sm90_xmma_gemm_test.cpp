#include "workloads/library/sm90_xmma_gemm.hpp"

#include <catch2/catch.hpp>

#include "tests/support/launch_rows.hpp"
#include "tests/support/trace_totals.hpp"

using namespace strata;

namespace {

std::string kernel(const char* types, const char* tile, const char* groups) {
  return std::string("sm90_xmma_gemm_") + types + "_f32_tn_n_tilesize" + tile + "_warpgroupsize" + groups +
         "_execute_segment_k_off_kernel__5x_cublas";
}

LaunchRow row(const std::string& name, const char* shape) { return test::launch_row("gemm", name, shape); }

}  // namespace

TEST_CASE("sm90 xmma: warpgroups share a tile or take turns", "[workloads][xmma]") {
  const auto description = [](const char* tile, const char* groups) {
    return resolve_launch(row(kernel("f32f32_tf32f32", tile, groups), "2048,2048,2048"), test::hopper_facts())
        .description;
  };
  CHECK_THAT(description("256x128x32", "2x1x1"), Catch::Contains("4 stages, cooperative along M, cluster 1x2"));
  CHECK_THAT(description("128x256x32", "2x1x1"), Catch::Contains("cluster 2x1"));
  CHECK_THAT(description("64x128x32", "1x1x1"), Catch::Contains("8 stages, ping-pong"));
}

TEST_CASE("sm90 xmma: the launch's cluster lies along N in x and along M in y", "[workloads][xmma]") {
  LaunchRow launch = row(kernel("f32f32_tf32f32", "256x128x32", "2x1x1"), "2048,2048,2048");
  const auto with_cluster = [&](const Dim3& cluster) {
    launch.cluster = cluster;
    return resolve_launch(launch, test::hopper_facts()).description;
  };
  CHECK_THAT(with_cluster({2, 1, 1}), Catch::Contains("cluster 1x2"));
  CHECK_THAT(with_cluster({1, 2, 1}), Catch::Contains("cluster 2x1"));
  CHECK_THAT(with_cluster({2, 2, 1}), Catch::Contains("cluster 2x2"));
  launch.cluster = Dim3{1, 1, 2};
  CHECK_THAT(test::unsupported_reason(launch), Catch::Contains("a cluster of 1x1x2 CTAs"));
}

TEST_CASE("sm90 xmma: launch columns may be empty, other types build", "[workloads][xmma]") {
  const BuiltKernel built =
      resolve_launch(row(kernel("f32f32_tf32f32", "256x128x32", "2x1x1"), "2048,2048,2048"), test::hopper_facts());
  CHECK(built.source->launch().num_ctas() == 128);
  // 128 tiles, 64 K tiles, 4 rows of 64 by 4 steps of 8, four warps each.
  CHECK(test::trace_totals(*built.source).tensor_insts == 128 * 64 * 16 * 4);
  CHECK(test::unsupported_reason(row(kernel("bf16bf16_bf16f32", "128x128x64", "1x1x1"), "512,512,512")).empty());
  CHECK(test::unsupported_reason(row(kernel("e4m3bf16_e4m3f32", "128x128x128", "2x1x1"), "512,512,512")).empty());
  CHECK(test::unsupported_reason(row(kernel("f16f16_f16f32", "128x192x64", "1x2x1"), "4,512,512,512")).empty());
}

TEST_CASE("sm90 xmma: what cannot be simulated says why", "[workloads][xmma]") {
  const std::string odd = kernel("f32f32_tf32f32", "256x128x32", "2x2x1");
  CHECK_THAT(test::unsupported_reason(row(odd, "512,512,512")), Catch::Contains("warpgroupsize2x2x1"));
  const std::string plain = kernel("f32f32_tf32f32", "256x128x32", "2x1x1");
  CHECK_THAT(test::unsupported_reason(row(plain, "512,512,512"), test::ampere_facts()), Catch::Contains("wgmma"));
  CHECK_THAT(test::unsupported_reason(row(plain, "512,512,33")), Catch::Contains("16 B"));
}

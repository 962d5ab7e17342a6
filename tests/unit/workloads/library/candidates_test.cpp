#include "workloads/library/candidates.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "tests/support/launch_rows.hpp"

using namespace strata;

namespace {

LaunchRow open_row(const char* op, const char* dtype, const char* shape) {
  LaunchRow row = test::launch_row(op, "", shape);
  row.dtype = dtype;
  return row;
}

bool offers(const std::vector<KernelCandidate>& all, const std::string& text) {
  return std::any_of(all.begin(), all.end(), [&](const KernelCandidate& c) {
    return c.launches.front().kernel.find(text) != std::string::npos;
  });
}

/// Every launch of every candidate can be simulated.
void expect_supported(const std::vector<KernelCandidate>& all, const TargetFacts& target) {
  for (const KernelCandidate& candidate : all) {
    for (const LaunchRow& row : candidate.launches) {
      CAPTURE(row.kernel);
      CHECK(test::unsupported_reason(row, target).empty());
    }
  }
}

std::string refusal(const LaunchRow& row) {
  try {
    (void)kernel_candidates(row, test::hopper_facts());
  } catch (const UnsupportedError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("candidates: nvjet's grammar spans tiles, clusters and consumers; stages are as many as fit") {
  const auto all = kernel_candidates(open_row("gemm", "bf16", "4096,4096,4096,TN"), test::hopper_facts());
  CHECK(all.size() > 1000);
  CHECK(offers(all, "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT"));
  CHECK(offers(all, "nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNN"));
  CHECK(offers(all, "nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT"));
  CHECK(offers(all, "nvjet_sm90_tst_168x128_64x5_1x2_h_bz_TNN"));
  CHECK(offers(all, "nvjet_sm90_tst_72x64_64x12_4x2_v_bz_TNN"));
  CHECK_FALSE(offers(all, "splitK"));  // the tiles fill the GPU
  std::set<std::string> names;
  for (const KernelCandidate& c : all) names.insert(c.launches.front().kernel);
  CHECK(names.size() == all.size());
}

TEST_CASE("candidates: few tiles are split along K, with the launch that sums the parts") {
  const auto all = kernel_candidates(open_row("gemm", "bf16", "8,4096,4096,TN"), test::hopper_facts());
  const auto it = std::find_if(all.begin(), all.end(), [](const KernelCandidate& c) {
    return c.launches.front().kernel == "nvjet_sm90_tst_64x8_64x16_2x1_v_bz_splitK_TNT";
  });
  REQUIRE(it != all.end());
  REQUIRE(it->launches.size() == 2);
  CHECK(it->launches[0].grid == Dim3{2, 64, 1});  // 64 tiles, two slices
  CHECK(it->launches[1].producer_kernel == it->launches[0].kernel);
  CHECK(resolve_launch(it->launches[1], test::hopper_facts()).description == "sum of 2 parts of 8 x 4096");
}

TEST_CASE("candidates: Ampere's tensor kernels split a long K too, and never without the launch that sums the parts") {
  for (const char* dtype : {"bf16", "fp16", "tf32"}) {
    CAPTURE(dtype);
    const auto best =
        promising_candidates(kernel_candidates(open_row("gemm", dtype, "128,128,16384,TN"), test::ampere_facts()), 4);
    REQUIRE_FALSE(best.empty());
    for (const KernelCandidate& c : best) {
      REQUIRE(c.launches.size() == 2);
      CHECK(c.launches[0].grid->count() > 54);  // half of the SMs; 16 CTAs without slices
      CHECK(c.launches[1].producer_grid == c.launches[0].grid);
    }
    expect_supported(best, test::ampere_facts());
  }
  for (const TargetFacts& target : {test::ampere_facts(), test::hopper_facts()}) {  // rows of an odd length
    for (const KernelCandidate& c : kernel_candidates(open_row("gemm", "bf16", "333,777,1111,TN"), target)) {
      CAPTURE(c.launches[0].kernel);
      CHECK(c.launches.size() == (c.launches[0].grid ? 2 : 1));
    }
    // Loads by element are what takes the time: the library itself splits this one.
    const auto few =
        promising_candidates(kernel_candidates(open_row("gemm", "bf16", "333,777,1111,TN"), test::hopper_facts()), 4);
    CHECK(offers(few, "75_tensorop_s1688gemm_bf16_128x128_tn_align1"));
  }
}

TEST_CASE("candidates: the promising ones can be simulated, whatever the type and generation") {
  for (const char* dtype : {"bf16", "fp16", "fp8", "tf32", "int8", "fp32"}) {
    for (const char* shape : {"512,1024,1024,TN", "8,512,2048,TN"}) {
      for (const TargetFacts& target : {test::hopper_facts(), test::ampere_facts()}) {
        if (std::string(dtype) == "fp8" && !target.has_wgmma) continue;
        CAPTURE(dtype, shape, target.architecture);
        const auto best = promising_candidates(kernel_candidates(open_row("gemm", dtype, shape), target), 8);
        REQUIRE_FALSE(best.empty());
        expect_supported(best, target);
      }
    }
  }
}

TEST_CASE("candidates: rows that the TMA cannot load get kernels that load by element") {
  const auto all = kernel_candidates(open_row("gemm", "bf16", "333,777,1111,TN"), test::hopper_facts());
  CHECK(offers(all, "cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1"));
  CHECK_FALSE(offers(all, "nvjet"));
  expect_supported(all, test::hopper_facts());
  CHECK(offers(kernel_candidates(open_row("gemm", "bf16", "64,64,1002,TN"), test::hopper_facts()), "align2"));
}

TEST_CASE("candidates: attention by the library that the shape names, or by any") {
  const TargetFacts target = test::hopper_facts();
  const auto flash = kernel_candidates(open_row("attention", "bf16", "2,16,16,1024,1024,128,1,flash"), target);
  CHECK(offers(flash, "Flash_fwd_kernel_traits<128, 128, 64, 4"));
  CHECK_FALSE(offers(flash, "cudnn"));
  const auto any = kernel_candidates(open_row("attention", "fp16", "2,16,16,1024,1024,64,0"), target);
  CHECK(offers(any, "half_t"));
  CHECK(offers(any, "sm90_flash_fprop_wgmma_f16_knob_7_64x128x64"));
  expect_supported(any, target);
  const auto decode = kernel_candidates(open_row("attention", "bf16", "1,32,32,1,2048,128,0"), target);
  CHECK(offers(decode, "flash_fwd_splitkv_kernel"));
  CHECK(offers(decode, "16x128x128_1x4x1"));
  expect_supported(decode, target);
  CHECK_FALSE(offers(kernel_candidates(open_row("attention", "bf16", "2,16,16,1024,1024,128,1"), test::ampere_facts()),
                     "sm90"));
}

TEST_CASE("candidates: few heads and one query are worth splitting, whichever library does it") {
  // One CTA with all the keys takes several times as long; the grid of cuDNN's persistent kernel does not change that.
  for (const char* shape : {"1,2,1,1,4096,128,0", "1,8,8,1,16384,128,0", "1,2,2,16,8192,64,0"}) {
    for (const TargetFacts& target : {test::hopper_facts(), test::ampere_facts()}) {
      CAPTURE(shape, target.architecture);
      const auto few = promising_candidates(kernel_candidates(open_row("attention", "bf16", shape), target), 2);
      CHECK(offers(few, "flash_fwd_splitkv_kernel"));
      CHECK(offers(few, "1x4x1"));
    }
  }
}

TEST_CASE("candidates: a kernel that splits the keys is never without the launch that adds them up") {
  const TargetFacts target = test::hopper_facts();
  for (const char* shape : {"1,4,4,16,4096,128,0", "1,4,4,17,4096,128,0", "1,4,4,256,4096,128,0"}) {
    const auto all = kernel_candidates(open_row("attention", "bf16", shape), target);
    CAPTURE(shape);
    CHECK(offers(all, "flash_fwd_splitkv_kernel"));
    for (const KernelCandidate& c : all) {
      CAPTURE(c.launches.front().kernel);
      const bool splits = resolve_launch(c.launches.front(), target).description.find("splits of") != std::string::npos;
      CHECK(c.launches.size() == (splits ? 2 : 1));
    }
  }
}

TEST_CASE("candidates: tiles of 128 rows and four warps, which read keys half as often, are worth simulating") {
  // On an A100 the model takes 1311 us with 128x64 and 1497 us with the best tile of 64 rows.
  const auto few = promising_candidates(
      kernel_candidates(open_row("attention", "bf16", "1,32,32,4096,4096,128,0"), test::ampere_facts()), 5);
  CHECK(offers(few, "Flash_fwd_kernel_traits<128, 128, 64, 4"));
  CHECK_FALSE(offers(few, "Flash_fwd_kernel_traits<128, 128, 64, 8"));
}

TEST_CASE("candidates: rows and elements by PyTorch's rules") {
  const TargetFacts target = test::hopper_facts();
  const auto kernel = [&](const char* op, const char* dtype, const char* shape) {
    const auto all = kernel_candidates(open_row(op, dtype, shape), target);
    CAPTURE(op, dtype, shape);
    REQUIRE(all.size() == 1);
    expect_supported(all, target);
    return canonical_kernel_name(all[0].launches[0].kernel);
  };
  CHECK(kernel("add", "bf16", "64,1024").find("vectorized_elementwise_kernel<8, at::CUDAFunctor_add") !=
        std::string::npos);
  CHECK(kernel("mul", "fp32", "64,1024").find("vectorized_elementwise_kernel<4") != std::string::npos);
  for (const char* op : {"silu", "gelu", "neg", "copy", "fill", "transpose", "layernorm", "rmsnorm", "layer_norm"}) {
    (void)kernel(op, "bf16", "64,1024");
  }
  CHECK(kernel("softmax", "bf16", "64,1000").find("softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 10") !=
        std::string::npos);
  CHECK(kernel("softmax", "bf16", "64,8192").find("cunn_SoftMaxForwardReg") != std::string::npos);
  CHECK(kernel("softmax", "fp32", "64,12000").find("cunn_SoftMaxForward") != std::string::npos);
}

TEST_CASE("candidates: every operator that is listed has a kernel") {
  for (const std::string& op : operators_with_candidates()) {
    CAPTURE(op);
    const char* shape = op == "gemm" ? "512,512,512,TN" : (op == "attention" ? "1,4,4,512,512,128,0,flash" : "512,512");
    CHECK_FALSE(kernel_candidates(open_row(op.c_str(), "bf16", shape), test::hopper_facts()).empty());
  }
}

TEST_CASE("candidates: an operator without any says so") {
  CHECK_THAT(refusal(open_row("fft", "bf16", "64,64")), Catch::Contains("no kernel is known for fft"));
  CHECK_THAT(refusal(open_row("add", "int8", "64,64")), Catch::Contains("rows of int8"));
  CHECK_THAT(refusal(open_row("gemm", "bf16", "64,64")), Catch::Contains("shape '64,64'"));
  CHECK_THAT(refusal(open_row("gemm", "bf16", "64,64,64,XY")), Catch::Contains("XY"));
}

TEST_CASE("candidates: pruning keeps the deepest pipeline of a tile") {
  std::vector<KernelCandidate> all;
  for (const auto& [cycles, ring] : {std::pair{100.0, 3}, {101.0, 3}, {102.0, 5}, {103.0, 5}, {151.0, 9}}) {
    all.push_back({{}, cycles, "a", static_cast<std::uint64_t>(ring)});
  }
  const auto best = promising_candidates(all, 8);
  REQUIRE(best.size() == 3);
  CHECK(best[1].estimated_cycles == 101.0);
  CHECK(best[2].estimated_cycles == 102.0);
  CHECK(promising_candidates({best[2], best[0], best[1]}, 1).size() == 2);
  // Rows so few that loads are waited for: 25.3 us with five stages of 64, 30.3 with the best of fewer.
  const auto few =
      promising_candidates(kernel_candidates(open_row("gemm", "bf16", "16,4096,4096,TN"), test::ampere_facts()), 12);
  CHECK(offers(few, "64x32_64x5_tn"));
}

TEST_CASE("candidates: pruning keeps two variants of a tile, none half again slower, in order") {
  std::vector<KernelCandidate> all;
  for (const auto& [cycles, tile] : {std::pair{100.0, "a"}, {140.0, "b"}, {101.0, "a"}, {102.0, "a"}, {151.0, "c"}}) {
    all.push_back({{}, cycles, tile, 0});
  }
  const auto best = promising_candidates(all, 8);
  REQUIRE(best.size() == 3);
  CHECK(best[0].estimated_cycles == 100);
  CHECK(best[1].estimated_cycles == 101);
  CHECK(best[2].tile == "b");
  CHECK(promising_candidates(all, 1).size() == 1);
}

TEST_CASE("candidates: a kernel is chosen for a type that was given, and for that type", "[workloads][auto]") {
  const auto refused = [](const char* op, const char* dtype, const char* shape) -> std::string {
    LaunchRow row;
    row.op = op;
    row.dtype = dtype;
    row.shape = shape;
    try {
      (void)kernel_candidates(row, test::hopper_facts());
    } catch (const UnsupportedError& error) {
      return error.what();
    }
    return {};
  };
  for (const auto& [op, shape] :
       {std::pair{"attention", "1,8,8,512,512,64,0"}, {"gemm", "64,64,64,TN"}, {"add", "8,8"}}) {
    CHECK(refused(op, "", shape).find("give dtype") != std::string::npos);
  }
  CHECK(refused("", "bf16", "64,64,64,TN").find("give op, one of gemm, attention") != std::string::npos);
  CHECK(refused("gemm", "FP8_E5M2", "64,64,64,TN").find("multiply e4m3") != std::string::npos);
  CHECK(refused("gemm", "fp8", "64,64,64,TN").empty());
  CHECK(refused("gemm", "bf16", "64,64,64,tn").empty());  // as TN
}

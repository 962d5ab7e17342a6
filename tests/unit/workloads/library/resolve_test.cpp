#include "workloads/library/resolve.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/support/launch_rows.hpp"
#include "tests/support/trace_totals.hpp"
#include "workloads/library/nvjet.hpp"
#include "workloads/library/shape.hpp"

using namespace strata;

namespace {

LaunchRow gemm_row(const std::string& kernel, const std::string& shape) {
  return test::launch_row("gemm", kernel, shape);
}

}  // namespace

TEST_CASE("kernel names of ncu and of the profiler become one spelling", "[workloads][library]") {
  const char* ncu =
      "void at::<unnamed>::vectorized_layer_norm_kernel<c10::BFloat16, float, 0>(int, T2, const T1 *, const T1 *)";
  const char* kineto =
      "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, false>(int, float, "
      "c10::BFloat16 const*)";
  CHECK(canonical_kernel_name(ncu) == "at::vectorized_layer_norm_kernel<c10::BFloat16, float, 0>");
  CHECK(canonical_kernel_name(kineto) == canonical_kernel_name(ncu));
  // As ncu 2025.3 prints it where all kernels of a report are of at::native (library_kernels_functors.csv).
  CHECK(canonical_kernel_name("void unnamed>::vectorized_layer_norm_kernel<c10::BFloat16, float, 0>(int, T2, const T1 "
                              "*)") == "vectorized_layer_norm_kernel<c10::BFloat16, float, 0>");
  CHECK(
      canonical_kernel_name("void at::vectorized_elementwise_kernel<(int)4, at::FillFunctor<float>, std::array<char *, "
                            "(unsigned long)1>>(int, T2, T3)") ==
      canonical_kernel_name("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
                            "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)"));
  CHECK(canonical_kernel_name("nvjet_sm90_tst_64x8_64x16_2x1_v_bz_TNT") == "nvjet_sm90_tst_64x8_64x16_2x1_v_bz_TNT");
  CHECK(canonical_kernel_name("").empty());
}

TEST_CASE("nvjet: the name gives tile, stages, cluster, raster, consumers and split", "[workloads][nvjet]") {
  const NvjetName name = parse_nvjet_name("nvjet_sm90_qqtst_128x64_128x6_1x2_h_bz_coopA_splitK_algo2_TNT");
  CHECK(name.input == DataType::kFp8);
  CHECK(name.output == DataType::kBf16);
  CHECK(name.tile_n == 128);
  CHECK(name.tile_m == 64);
  CHECK(name.tile_k == 128);
  CHECK(name.stages == 6);
  CHECK(name.cluster_n == 1);
  CHECK(name.cluster_m == 2);
  CHECK_FALSE(name.vertical);
  CHECK(name.consumers == ConsumerMode::kCooperativeM);
  CHECK(name.split_k);
  CHECK(name.wgmma_m_along_n);
  CHECK(name.layout == "TN");
  CHECK(name.unknown.empty());
  CHECK(parse_nvjet_name("nvjet_sm90_tst_64x64_64x13_4x2_h_bz_bias_NNN").unknown == std::vector<std::string>{"bias"});
}

TEST_CASE("nvjet: the architecture may be missing, as in cuBLAS 12", "[workloads][nvjet]") {
  const NvjetName name = parse_nvjet_name("nvjet_hss_64x8_64x16_1x1_v_bz_splitK_NNT");
  CHECK(name.input == DataType::kFp16);
  CHECK(name.output == DataType::kFp32);
  CHECK(name.tile_n == 64);
  CHECK(name.stages == 16);
  CHECK(name.vertical);
  CHECK(name.split_k);
  CHECK(name.layout == "NN");
  CHECK(family_of("nvjet_tst_192x16_64x8_4x1_v_bz_TNT") == "nvjet");
  CHECK(test::unsupported_reason(gemm_row("nvjet_sm100_tst_64x8", "8,8,8,TN")) ==
        "nvjet: architecture 'sm100' of the name is not modelled; expected sm90, or none");
}

TEST_CASE("nvjet: what the name says of C, and that nothing is guessed silently", "[workloads][nvjet]") {
  const auto built = [](const char* c, const char* shape) {
    return resolve_launch(gemm_row(std::string("nvjet_tst_128x64_64x8_1x1_h") + c + "_TNT", shape),
                          test::hopper_facts());
  };
  const auto delivered = [&](const char* c, const char* shape) {
    return test::trace_totals(*built(c, shape).source).delivered_sectors;
  };
  CHECK(built("_bz", "128,256,64,TN").notes.empty());
  CHECK(built("", "128,256,64,TN").notes ==
        std::vector<std::string>{"neither bz nor badd in the name: C is taken as not read"});
  CHECK(delivered("", "128,256,64,TN") == delivered("_bz", "128,256,64,TN"));
  CHECK(built("_badd", "128,256,64,TN").notes ==
        std::vector<std::string>{"'badd' of the name is taken to add C; no launch with it is recorded"});
  for (const std::uint64_t batch : {1, 3}) {
    const std::string shape = std::to_string(batch) + ",128,256,64,TN";
    CHECK(delivered("_badd", shape.c_str()) == delivered("_bz", shape.c_str()) + batch * 128 * 256 * 2 / 32);
  }
  // Of split K the launch that adds up the slices reads C.
  CHECK_THAT(built("_badd_splitK", "128,256,256,TN").notes.back(), Catch::Contains("is not modelled"));
  CHECK(delivered("_badd_splitK", "128,256,256,TN") == delivered("_bz_splitK", "128,256,256,TN"));
}

TEST_CASE("nvjet: names that are cut short or unknown are refused with the word", "[workloads][nvjet]") {
  CHECK_THROWS_AS(parse_nvjet_name("nvjet_sm90_tst"), UnsupportedError);
  CHECK_THROWS_AS(parse_nvjet_name("nvjet_sm90_tst_64x_64x13_4x2_h_bz_TNT"), UnsupportedError);
  CHECK_THROWS_AS(parse_nvjet_name("nvjet_sm90_tst_64x64_64x13_4x2_d_bz_TNT"), UnsupportedError);
  CHECK_THROWS_AS(parse_nvjet_name("nvjet_sm90_xyz_64x64_64x13_4x2_h_bz_TNT"), UnsupportedError);
  CHECK_THROWS_AS(parse_nvjet_name("nvjet_sm90_tst_99999999999x64_64x13_4x2_h_bz_TNT"), UnsupportedError);
}

TEST_CASE("nvjet: launch columns may be empty", "[workloads][nvjet]") {
  const BuiltKernel built = resolve_launch(
      gemm_row("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "4096,4096,4096,TN"), test::hopper_facts());
  const Launch& launch = built.source->launch();
  CHECK(launch.grid == Dim3{2, 66, 1});
  CHECK(launch.block.x == 384);
  CHECK(launch.cluster == Dim3{2, 1, 1});
  const BuiltKernel split =
      resolve_launch(gemm_row("nvjet_sm90_tst_64x8_64x16_2x1_v_bz_splitK_TNT", "8,4096,4096,TN"), test::hopper_facts());
  CHECK(split.source->launch().grid == Dim3{2, 64, 1});
}

TEST_CASE("launch cells that the kernel or the GPU rules out are warned of or refused", "[workloads][library]") {
  const auto row_with = [](auto set) {
    LaunchRow row = gemm_row("nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "4096,4096,4096,TN");
    set(row);
    return row;
  };
  const auto warning = [](const LaunchRow& row) { return resolve_launch(row, test::hopper_facts()).warning; };
  CHECK(warning(row_with([](LaunchRow& row) { row.block = Dim3{384, 1, 1}; })).empty());
  CHECK(warning(row_with([](LaunchRow& row) {
          row.block = Dim3{128, 1, 1};
        })) == "a block of 128 threads; the kernel's own 384 are simulated");
  CHECK(warning(row_with([](LaunchRow& row) { row.cluster = Dim3{2, 1, 1}; })).empty());
  CHECK(warning(row_with([](LaunchRow& row) {
          row.cluster = Dim3{1, 2, 1};
        })) == "a cluster of 1x2x1 CTAs; the kernel's own 2x1x1 is simulated");
  CHECK(warning(row_with([](LaunchRow& row) { row.grid = Dim3{2, 66, 1}; })).empty());
  // A CTA short of a whole cluster; more CTAs than there are tiles.
  CHECK(warning(row_with([](LaunchRow& row) {
          row.grid = Dim3{131, 1, 1};
        })) == "a grid of 131 CTAs; the kernel's own 130 are simulated");
  CHECK(warning(row_with([](LaunchRow& row) {
          row.grid = Dim3{2, 6600, 1};
        })) == "a grid of 13200 CTAs; the kernel's own 512 are simulated");
  CHECK(warning(row_with([](LaunchRow& row) { row.shape = "4096,4096,4096,nn"; })) ==
        "a shape of layout NN; the TN of the kernel's name is simulated");
  CHECK(warning(row_with([](LaunchRow& row) { row.shape = "4096,4096,4096"; })).empty());
  CHECK(warning(row_with([](LaunchRow& row) { row.dtype = "bf16"; })).empty());
  CHECK(warning(row_with([](LaunchRow& row) { row.dtype = "fp8"; })) ==
        "operands of fp8; the bf16 of the kernel's name is simulated");

  const auto with_resources = [&](std::uint32_t registers, std::uint32_t smem) {
    return resolve_launch(row_with([=](LaunchRow& row) {
                            row.registers = registers;
                            row.smem_dynamic = smem;
                          }),
                          test::hopper_facts());
  };
  CHECK(with_resources(168, 213188).warning.empty());
  const BuiltKernel small = with_resources(168, 1000);
  CHECK(small.warning == "1000 B of shared memory; the stages of the kernel's name take 196608 B, which are simulated");
  CHECK(small.source->launch().smem_dynamic_bytes > 196608);
  const BuiltKernel few = with_resources(24, 213188);
  CHECK_THAT(few.warning, Catch::Contains("24 registers a thread; the accumulators of the kernel's name take 85"));
  CHECK(few.source->launch().registers_per_thread == 168);

  CHECK(test::unsupported_reason(row_with([](LaunchRow& row) { row.dtype = "foo"; })).find("expected one of fp64") !=
        std::string::npos);
  const auto with_smem = [&](std::uint32_t fixed) {
    return test::unsupported_reason(row_with([fixed](LaunchRow& row) {
      row.smem_dynamic = 200000;
      row.smem_static = fixed;
    }));
  };
  CHECK(with_smem(32448).empty());
  CHECK(with_smem(32449) == "nvjet: 232449 B of dynamic and static shared memory; a CTA of this GPU may have 232448 B");
}

TEST_CASE("nvjet: other tiles, clusters and layouts of the grammar build", "[workloads][nvjet]") {
  for (const char* name :
       {"nvjet_sm90_tst_24x64_64x16_4x2_h_bz_TNN", "nvjet_sm90_tst_192x16_64x8_4x1_v_bz_TNT",
        "nvjet_sm90_tst_64x16_64x16_2x4_h_bz_TNT", "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT",
        "nvjet_sm90_hsh_256x128_64x4_2x1_v_bz_coopA_NNT", "nvjet_sm90_tst_128x128_64x6_2x1_v_bz_NTN"}) {
    INFO(name);
    CHECK(test::unsupported_reason(gemm_row(name, "128,768,768,TN")).empty());
    CHECK(family_of(name) == "nvjet");
  }
}

TEST_CASE("launches that cannot be simulated say why in words", "[workloads][library]") {
  for (const char* name : {"my_mystery_kernel", "x", "gather_kernel", "conv2d_forward"}) {
    CHECK(test::unsupported_reason(gemm_row(name, "8,8,8,TN")) ==
          std::string("kernel '") + name + "' is of no known family");
  }
  CHECK(test::unsupported_reason(gemm_row("nvjte_sm90_tst_64x8", "8,8,8,TN")).find("the nearest is nvjet") !=
        std::string::npos);
  CHECK(test::unsupported_reason(gemm_row("", "8,8,8,TN")).find("missing") != std::string::npos);
  const std::string kernel = "nvjet_sm90_tst_64x8_64x16_2x1_v_bz_TNT";
  CHECK(test::unsupported_reason(gemm_row(kernel, "")).find("M,N,K,layout") != std::string::npos);
  CHECK(test::unsupported_reason(gemm_row(kernel, "8,0,8,TN")).find("cell 2") != std::string::npos);
  CHECK(test::unsupported_reason(gemm_row(kernel, "8,64,33,TN")).find("16 B") != std::string::npos);
  CHECK(test::unsupported_reason(gemm_row(kernel, "8,64,64,TN"), test::ampere_facts()) ==
        "nvjet: needs wgmma and TMA, which this GPU has not");
  CHECK(family_of("my_kernel").empty());
}

TEST_CASE("kernels of Hopper on a GPU without wgmma and TMA say so before anything else", "[workloads][library]") {
  for (const char* kernel :
       {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT",
        "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_"
        "cublas",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_cga1x1x1_kernel0_0"}) {
    INFO(kernel);
    LaunchRow row = gemm_row(kernel, "8,64,64,TN");
    row.smem_dynamic = 230000;
    CHECK(test::unsupported_reason(row, test::ampere_facts()) ==
          family_of(kernel) + ": needs wgmma and TMA, which this GPU has not");
  }
}

TEST_CASE("shape cells: numbers, flags and errors", "[workloads][library]") {
  CHECK(parse_gemm_shape("1, 2,3").layout == "TN");
  CHECK(parse_gemm_shape("1,2,3").batch == 1);
  CHECK(parse_gemm_shape("7,1,2,3").batch == 7);
  CHECK(parse_gemm_shape("7,1,2,3,nn").layout == "NN");
  CHECK(parse_gemm_shape("7,1,2,3,nn").k == 3);
  CHECK_THROWS_WITH(parse_gemm_shape("1,2,3,XN"), Catch::Contains("layout 'XN', none of NN, NT, TN, TT"));
  CHECK_THROWS_AS(parse_gemm_shape("1,2,TN"), UnsupportedError);
  CHECK_THROWS_AS(parse_gemm_shape("1,2,3,4,5"), UnsupportedError);
  const AttentionCells attention = parse_attention_shape("1,32,8,1,8192,128,1,flash");
  CHECK(attention.kv_heads == 8);
  CHECK(attention.causal);
  CHECK(attention.backend == "flash");
  CHECK(parse_rows_cols("16384,4096").cols == 4096);
  CHECK_THROWS_AS(parse_rows_cols("16384"), UnsupportedError);
  CHECK_THROWS_AS(parse_rows_cols("nan,4"), UnsupportedError);
  CHECK_THROWS_AS(parse_attention_shape("1,32,8,1,8192,128,maybe,flash"), UnsupportedError);
}

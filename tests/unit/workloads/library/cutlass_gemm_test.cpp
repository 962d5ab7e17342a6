#include "workloads/library/cutlass_gemm.hpp"

#include <catch2/catch.hpp>

#include "tests/support/launch_rows.hpp"
#include "tests/support/trace_totals.hpp"

using namespace strata;

namespace {

std::string kernel(const char* inner) { return std::string("void cutlass::Kernel2<") + inner + ">(T1::Params)"; }

LaunchRow row(const char* inner, const char* shape) { return test::launch_row("gemm", kernel(inner), shape); }

}  // namespace

TEST_CASE("CUTLASS: the name gives types, instruction, tile, stages, layout and alignment", "[workloads][cutlass]") {
  const CutlassName name = parse_cutlass_name(
      canonical_kernel_name(kernel("cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x64_32x4_nn_align8")));
  CHECK(name.arch == 80);
  CHECK_FALSE(name.simt);
  CHECK(name.input == DataType::kBf16);
  CHECK(name.output == DataType::kBf16);
  CHECK(name.instruction.k == 16);
  CHECK(name.tile_n == 256);
  CHECK(name.tile_m == 64);
  CHECK(name.tile_k == 32);
  CHECK(name.stages == 4);
  CHECK(name.layout == "nn");
  CHECK(name.align == 8);
  CHECK(name.unknown == std::vector<std::string>{"relu"});
  const CutlassName turing =
      parse_cutlass_name("cutlass::Kernel2<cutlass_75_tensorop_s1688gemm_bf16_128x128_tn_align1>");
  CHECK(turing.output == DataType::kFp32);
  CHECK(turing.tile_k == 32);
  CHECK(turing.stages == 2);
  CHECK(turing.instruction.k == 8);
  CHECK(parse_cutlass_name("cutlass_80_tensorop_s1688gemm_128x128_32x3_tn_align4").input == DataType::kTf32);
  CHECK(parse_cutlass_name("cutlass_80_wmma_tensorop_f16_s161616gemm_f16_16x16_128x2_tn_align8").instruction.k == 16);
}

TEST_CASE("CUTLASS: launch columns may be empty; the grid is that of the swizzle", "[workloads][cutlass]") {
  const auto grid = [](const char* inner, const char* shape) {
    return resolve_launch(row(inner, shape), test::hopper_facts()).source->launch().grid;
  };
  // 32 tiles of 256 rows by 64 of 128 columns, eight columns at a time.
  CHECK(grid("cutlass_80_tensorop_i16832gemm_s8_128x256_128x3_tn_align16", "8192,8192,8192,TN") == Dim3{256, 8, 1});
  // 4 tiles of rows, 393 of columns: the last group of eight is launched whole.
  CHECK(grid("cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1", "512,50257,768,TN") == Dim3{32, 50, 1});
  CHECK(grid("cutlass_80_simt_sgemm_128x256_8x4_nn_align1", "128,512,128,512,NN") == Dim3{2, 1, 128});
  for (const char* name :
       {"cutlass_80_tensorop_s1688gemm_128x128_32x3_tn_align4", "cutlass_80_tensorop_s1688gemm_64x64_16x6_nt_align4",
        "cutlass_80_tensorop_f16_s16816gemm_f16_64x128_64x3_nn_align8",
        "cutlass_80_tensorop_h16816gemm_256x128_32x3_nt_align8",
        "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_64x4_tn_align2", "cutlass_80_simt_sgemm_64x64_8x5_tt_align1",
        "cutlass_80_wmma_tensorop_f16_s161616gemm_f16_32x32_64x2_tn_align8",
        "cutlass_80_simt_sgemm_32x128_8x5_nt_align1", "cutlass_75_tensorop_h1688gemm_128x64_32x2_tn_align8",
        "cutlass_80_tensorop_s8_i16832gemm_s8_64x64_64x6_tn_align16"}) {
    INFO(name);
    CHECK(test::unsupported_reason(row(name, "512,768,256")).empty());
    CHECK(family_of(kernel(name)) == "cutlass_gemm");
  }
}

TEST_CASE("CUTLASS: z of the grid is split-K, in place where the partials do not fit the workspace",
          "[workloads][cutlass]") {
  // 4 x 2304 x 2304 partials of 2 B are 40.5 MiB, 4 x 2048 x 2048 exactly the 32 MiB of the workspace.
  LaunchRow in_place = row("cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1", "2304,2304,128,TN");
  in_place.grid = Dim3{144, 3, 4};
  BuiltKernel built = resolve_launch(in_place, test::hopper_facts());
  CHECK_THAT(built.description, Catch::Contains("split-K 4 in place"));
  // Every slice writes C once, all but the first read it; A and B are read once per CTA of their row or column.
  const std::uint64_t c_sectors = 2304 * 2304 * 2 / 32;
  const test::TraceTotals totals = test::trace_totals(*built.source);
  CHECK(totals.stored_sectors == 4 * c_sectors);
  CHECK(totals.delivered_sectors == 18 * (2304 + 2304) * 128 * 2 / 32 + 3 * c_sectors);
  LaunchRow narrow = row("cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1", "2048,2048,128,TN");
  narrow.grid = Dim3{128, 2, 4};
  built = resolve_launch(narrow, test::hopper_facts());
  CHECK(built.source->launch().buffers.back().bytes == std::uint64_t{4} * 2048 * 2048 * 2);
  LaunchRow partials = row("cutlass_75_tensorop_s1688gemm_bf16_128x128_tn_align1", "333,777,1111,TN");
  partials.grid = Dim3{24, 1, 12};
  built = resolve_launch(partials, test::hopper_facts());
  CHECK(built.source->launch().num_ctas() == 24 * 12);
  CHECK(built.source->launch().buffers.back().bytes == std::uint64_t{12} * 333 * 777 * 4);
}

TEST_CASE("CUTLASS: P V and Q K^T of an attention are batches of products", "[workloads][cutlass]") {
  LaunchRow pv = test::launch_row("attention", kernel("cutlass_80_simt_sgemm_128x256_8x4_nn_align1"),
                                  "8,16,16,512,512,128,0,math");
  CHECK(resolve_launch(pv, test::hopper_facts()).source->launch().grid == Dim3{2, 1, 128});
  LaunchRow qk = pv;
  qk.kernel = kernel("cutlass_80_simt_sgemm_128x256_8x4_tn_align1");
  CHECK(resolve_launch(qk, test::hopper_facts()).source->launch().grid == Dim3{8, 1, 128});
  qk.kernel = kernel("cutlass_80_simt_sgemm_128x256_8x4_nt_align1");
  CHECK_THAT(test::unsupported_reason(qk), Catch::Contains("neither Q K^T (TN) nor P V (NN)"));
}

TEST_CASE("CUTLASS: names and grids that cannot be simulated say why", "[workloads][cutlass]") {
  const auto reason = [](const char* inner) { return test::unsupported_reason(row(inner, "512,512,512,TN")); };
  CHECK_THAT(reason("cutlass_80_tensorop_d884gemm_64x64_16x4_tn_align1"), Catch::Contains("d884gemm"));
  CHECK_THAT(reason("cutlass_90_tensorop_s1688gemm_64x64_16x4_tn_align1"), Catch::Contains("70 to 89"));
  CHECK_THAT(reason("cutlass_80_tensorop_s1688gemm"), Catch::Contains("cut short"));
  CHECK_THAT(reason("cutlass_80_simt_s1688gemm_64x64_16x4_tn_align1"), Catch::Contains("simt"));
  CHECK_THAT(reason("cutlass_80_tensorop_s1688gemm_2x2_16x4_tn_align1"), Catch::Contains("do not divide"));
  LaunchRow wrong = row("cutlass_80_tensorop_s1688gemm_128x128_32x3_tn_align4", "512,512,512,TN");
  wrong.grid = Dim3{3, 1, 1};
  CHECK_THAT(test::unsupported_reason(wrong), Catch::Contains("does not fit the shape"));
  wrong.shape = "2,512,512,512,TN";
  CHECK_THAT(test::unsupported_reason(wrong), Catch::Contains("not a multiple of the 2 products"));
}

TEST_CASE("CUTLASS: instructions are those that an H200 counted", "[workloads][cutlass]") {
  struct Counted {
    const char* name;
    const char* shape;
    Dim3 grid;
    std::uint32_t threads;
    std::uint32_t registers;
    double warp_insts;
  };
  // validation/data/h200-sxm-141gb: library_kernels_grid.csv, library_kernels_calibration.csv and, of wmma, whose one
  // stage is filled through registers and whose slices are shorter than a K tile, library_kernels_drawn.csv
  for (const Counted& c : {Counted{"cutlass_80_tensorop_i16832gemm_s8_128x64_128x3_tn_align16", "1024,1024,1024,TN",
                                   Dim3{128, 1, 1}, 128, 150, 1175040},
                           Counted{"cutlass_80_tensorop_i16832gemm_s8_128x64_128x3_tn_align16", "3072,3072,3072,TN",
                                   Dim3{384, 3, 1}, 128, 150, 24362496},
                           Counted{"cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1", "1001,1001,1001,TN",
                                   Dim3{64, 1, 4}, 128, 254, 5241856},
                           Counted{"cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_64x1_tn_align2",
                                   "327,130,918,TN", Dim3{44, 2, 8}, 128, 56, 1213696},
                           Counted{"cutlass_80_wmma_tensorop_s161616gemm_bf16_32x32_128x1_tn_align2", "470,58,708,TN",
                                   Dim3{30, 1, 8}, 128, 64, 765120}}) {
    INFO(c.name << " " << c.shape);
    LaunchRow launch = row(c.name, c.shape);
    launch.grid = c.grid;
    launch.block = Dim3{c.threads, 1, 1};
    launch.registers = c.registers;
    const test::TraceTotals totals = test::trace_totals(*resolve_launch(launch, test::hopper_facts()).source);
    CHECK(static_cast<double>(totals.warp_insts) == Approx(c.warp_insts).epsilon(0.03));
  }
}

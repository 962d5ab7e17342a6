// Names and shapes that mutation of recorded launches found to crash, to allocate without bound or to be taken for
// something else: each is refused with a reason.
#include <catch2/catch.hpp>
#include <string>

#include "sim/base/error.hpp"
#include "tests/support/launch_rows.hpp"
#include "tests/support/trace_totals.hpp"
#include "workloads/library/not_modelled.hpp"
#include "workloads/library/resolve.hpp"

using namespace strata;

namespace {

constexpr const char* kResolved = "";

std::string reason(const LaunchRow& row) { return test::unsupported_reason(row); }

std::string reason(const char* op, const std::string& kernel, const std::string& shape) {
  return reason(test::launch_row(op, kernel, shape));
}

std::string vectorized(const std::string& vector, const std::string& pointers) {
  return "void at::native::vectorized_elementwise_kernel<" + vector +
         ", at::native::CUDAFunctor_add<float>, std::array<char*, " + pointers + "> >()";
}

}  // namespace

TEST_CASE("odd names: elementwise vectors and pointers that no kernel has", "[workloads][library]") {
  CHECK(reason("add", vectorized("4", "3ul"), "64,64") == kResolved);
  CHECK_THAT(reason("add", vectorized("7", "3ul"), "64,64"), Catch::Contains("vectors of 7"));
  CHECK_THAT(reason("add", vectorized("4", "2147483648ul"), "64,64"), Catch::Contains("2147483647 inputs"));
  CHECK_THAT(reason("add", "void at::native::index_elementwise_kernel<128, 4, F>()", "64,64"),
             Catch::Contains("gathers and scatters"));
}

TEST_CASE("odd names: an element type is that of the functor, or has to be given", "[workloads][library]") {
  const auto stored = [](const std::string& functor) {
    LaunchRow row = test::launch_row(
        "abs", "void at::native::vectorized_elementwise_kernel<4, " + functor + ", std::array<char*, 2ul> >()",
        "64,64");
    row.dtype.clear();
    const std::string why = reason(row);
    return why == kResolved
               ? std::to_string(test::trace_totals(*resolve_launch(row, test::hopper_facts()).source).stored_sectors)
               : why;
  };
  CHECK(stored("at::native::AbsFunctor<c10::BFloat16>") == std::to_string(64 * 64 * 2 / 32));
  CHECK(stored("at::native::NegFunctor<c10::complex<float> >") == stored("at::native::NegFunctor<double>"));
  CHECK_THAT(stored("at::native::AbsFunctor<c10::complex<double> >"), Catch::Contains("column dtype"));
  CHECK_THAT(stored("at::native::Unheard"), Catch::Contains("column dtype"));
}

TEST_CASE("odd names: a CUTLASS launch of few CTAs without its grid may have been split along K",
          "[workloads][library]") {
  const std::string kernel = "void cutlass::Kernel2<cutlass_75_tensorop_s1688gemm_bf16_128x128_tn_align1>(T1::Params)";
  const auto warning = [&](const std::string& shape, std::optional<Dim3> grid) {
    LaunchRow row = test::launch_row("gemm", kernel, shape);
    row.dtype = "bf16";
    row.grid = grid;
    return resolve_launch(row, test::hopper_facts()).warning;
  };
  CHECK_THAT(warning("333,777,1111,TN", std::nullopt), Catch::Contains("24 CTAs are few for 132 SMs; record grid_dim"));
  CHECK(warning("333,777,1111,TN", Dim3{24, 1, 12}).empty());
  CHECK(warning("2047,2047,2047,TN", std::nullopt).empty());
}

TEST_CASE("odd names: a mangled name is said to be one", "[workloads][library]") {
  CHECK_THAT(reason("add", "_ZN2at6native29vectorized_elementwise_kernelILi4EEEv", "64,64"),
             Catch::Contains("mangled name"));
}

TEST_CASE("odd names: reductions of threads that no kernel has", "[workloads][library]") {
  const auto sum = [](const std::string& threads) {
    return reason(
        "sum",
        "void at::native::reduce_kernel<" + threads +
            ", 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, at::native::sum_functor<float, "
            "float, float> >, unsigned int, float, 4, 4> >()",
        "100,100");
  };
  CHECK(sum("512") == kResolved);
  CHECK_THAT(sum("160"), Catch::Contains("power of two"));
  CHECK_THAT(sum("100"), Catch::Contains("power of two"));
}

TEST_CASE("odd names: elementwise names that are cut short or hold impossible numbers", "[workloads][library]") {
  CHECK_THAT(reason("add", "at::vectorized_elementwise_kernel<8>", "64,64"), Catch::Contains("cut short"));
  CHECK_THAT(reason("add", "at::vectorized_elementwise_kernel<8, at::CUDAFunctor_add<float>", "64,64"),
             Catch::Contains("cut short"));
  for (const char* pointers : {"0ul", "-1"}) {
    CHECK_THAT(reason("add", vectorized("4", pointers), "64,64"), Catch::Contains("the array of pointers"));
  }
  CHECK_THAT(reason("add", vectorized("4", "2ul"), "64,64"),
             Catch::Contains("2 pointers; the functor of the name needs 3"));
  const auto strided = [](const std::string& threads) {
    return "void at::native::elementwise_kernel<" + threads +
           ", 4, at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<float> >(at::TensorIteratorBase&)>()";
  };
  CHECK(reason("add", strided("128"), "64,64") == kResolved);
  for (const char* threads : {"0", "33", "2048"}) {
    CHECK_THAT(reason("add", strided(threads), "64,64"), Catch::Contains("expected a multiple of 32 up to 1024"));
  }
  CHECK_THAT(reason("add", vectorized("4", "3ul"), "4294967296,4294967296"),
             Catch::Contains("4294967296 x 4294967296 elements; at most 2^44"));
}

TEST_CASE("odd names: words and numbers of GEMM names that no library writes", "[workloads][library]") {
  struct Odd {
    const char* name;
    const char* says;
  };
  for (const Odd& odd : {
           Odd{"nvjet_sm90_tst_64x8_64x16_2x1_v_bz_coopZ_foo_TNT",
               "'coopZ' of the name is not understood; expected coopA"},
           Odd{"nvjet_sm90_tst_64x8_64x16_2x1_v_zz_TNT", "'zz' of the name is not understood; expected bz"},
           Odd{"nvjet_sm90_tst_64x8_64x16_2x1_v_bz_coopA_coopB_TNT", "'coopB' of the name"},
           Odd{"nvjet_sm90_tst_64x8_64x16_2x1_v_bz_splitK_splitK_TNT", "'splitK' of the name"},
           Odd{"cutlass_80_tensorop_s1688gemm_128x128_32x0_tn_align4", "'32x0' of the name"},
           Odd{"cutlass_80_tensorop_s1688gemm_128x128_32x99999_tn_align4", "'32x99999' of the name"},
           Odd{"cutlass_80_tensorop_s1688gemm_128x128_32x3_5x5_tn_align4", "'5x5' of the name"},
           Odd{"cutlass_80_tensorop_s1688gemm_128x128_32x3_tn_align0", "'align0' of the name"},
           Odd{"cutlass_80_tensorop_s1688gemm_128x128_32x3_tn_align3",
               "'align3' of the name: expected a power of two up to 4"},
           Odd{"cutlass_80_tensorop_s1688gemm_128x128_32x3_tn_align8", "'align8' of the name"},
           Odd{"cutlass_80_tensorop_s1688gemm_128x128_32x3_tn_align999999", "'align999999' of the name"},
           Odd{"cutlass_80_tensorop_s1688gemm_128x128_32x3_tn_align4_junk", "'junk' of the name"},
           Odd{"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage0_warpsize1x2x1_ffma",
               "'stage0' of the name"},
           Odd{"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_ffma", "lacks warpsize"},
           Odd{"ampere_s16816gemm_bf16_128x64_ldg8_stages_0x3_tn", "'0x3' of the name"},
           Odd{"ampere_s16816gemm_bf16_128x64_ldg8_stages_64x0_tn", "'64x0' of the name"},
           Odd{"ampere_s16816gemm_bf16_128x64_ldg0_stages_64x3_tn", "'ldg0' of the name"},
           Odd{"ampere_s16816gemm_bf16_128x64_ldg99_stages_64x3_tn", "'ldg99' of the name"},
           Odd{"ampere_sgemm_64x32_sliced0x4_tn", "'sliced0x4' of the name"},
       }) {
    INFO(odd.name);
    CHECK_THAT(reason("gemm", odd.name, "64,64,64,TN"), Catch::Contains(odd.says));
  }
  CHECK_THAT(reason("gemm", "cutlass_80_tensorop_s1688gemm_128x128_32x3_tn_align4", "64,64,66,TN"),
             Catch::Contains("align4 of the name does not fit the shape; expected a multiple of 4, not 66"));
  // A word that a library may add is noted, and listed for a warning.
  const BuiltKernel built = resolve_launch(
      test::launch_row("gemm", "nvjet_sm90_tst_64x8_64x16_2x1_v_bz_bias_TNT", "64,64,64,TN"), test::hopper_facts());
  CHECK(built.ignored_words == "bias");
  CHECK_THAT(built.notes.back(), Catch::Contains("'bias' of the kernel's name has no effect"));
}

TEST_CASE("odd names: words of a GEMM's name that contradict each other", "[workloads][library]") {
  struct Odd {
    const char* name;
    const char* says;
  };
  for (const Odd& odd : {
           Odd{"cutlass_80_tensorop_s16816gemm_s8_128x128_64x3_tn_align8",
               "'s16816gemm' of the name adds up in fp32, which no tensor core does of int8"},
           Odd{"cutlass_80_tensorop_i16864gemm_s4_128x128_128x3_tn_align32", "products of int4 are not modelled"},
           Odd{"cutlass_80_tensorop_s4_s16816gemm_s4_128x128_64x3_tn_align8", "products of int4"},
           Odd{"cutlass_80_tensorop_i16832gemm_f16_128x128_64x3_tn_align8", "no instruction of 16x8x32 for fp16"},
           Odd{"cutlass_80_tensorop_h16816gemm_bf16_128x128_64x3_tn_align8", "adds up in fp16"},
           Odd{"cutlass_80_tensorop_s16832gemm_s8_128x128_64x3_tn_align8", "adds up in fp32"},
           Odd{"cutlass_80_simt_sgemm_s8_128x128_8x4_tn_align1", "multiplies in fp32, its operands are int8"},
           Odd{"cutlass_80_tensorop_s16816gemm_128x128_32x3_tn_align4", "no instruction of 16x8x16 for tf32"},
           Odd{"cutlass_80_tensorop_s16816gemm_bf16_f16_128x128_64x3_tn_align8", "'f16' of the name"},
           Odd{"cutlass_80_tensorop_f16_bf16_s16816gemm_bf16_128x128_64x3_tn_align8", "'bf16' of the name"},
           Odd{"cutlass_80_tensorop_s16816gemm_bf16_128x128_64x3_tn_nn_align8", "'nn' of the name"},
           Odd{"cutlass_80_tensorop_simt_s16816gemm_bf16_128x128_64x3_tn_align8", "'simt' of the name"},
           Odd{"cutlass_80_wmma_tensorop_s16816gemm_bf16_128x128_64x3_tn_align8", "an instruction of wmma"},
           Odd{"cutlass_80_tensorop_s16816gemm_bf16_128x128_24x3_tn_align8",
               "instructions of 16x8x16 do not divide the 128x128x24 tile"},
           Odd{"cutlass_80_tensorop_s16816gemm_bf16_128x12_64x3_tn_align8", "do not divide the 12x128x64 tile"},
           Odd{"ampere_s16816gemm_s8_128x64_ldg8_stages_64x3_tn", "adds up in fp32"},
           Odd{"ampere_s16816gemm_bf16_128x64_ldg8_stages_24x3_tn", "do not divide the 64x128x24 tile"},
           Odd{"ampere_s16816gemm_bf16_128x64_sliced1x2_sliced1x4_ldg8_stages_64x3_tn", "'sliced1x4' of the name"},
           Odd{"ampere_s16816gemm_bf16_128x64_ldg8_ldg4_stages_64x3_tn", "'ldg4' of the name"},
           Odd{"ampere_s16816gemm_bf16_fp16_128x64_ldg8_stages_64x3_tn", "'fp16' of the name"},
           Odd{"volta_h884gemm_256x64_ldg8_nn", "no instruction of 8x8x4 for fp16"},
           Odd{"nvjet_sm90_txt_64x8_64x16_2x1_v_bz_TNT", "types 'txt' of the name are not understood"},
           Odd{"nvjet_sm90_tqt_64x8_64x16_2x1_v_bz_TNT", "types 'tqt' of the name add up in 'q'"},
           Odd{"nvjet_sm90_tst_64x8_64x16_2x1_v_bz_algo2_algo2_TNT", "'algo2' of the name"},
           Odd{"nvjet_sm90_tst_64x8_64x16_2x1_v_bz_4x1_TNT", "'4x1' of the name"},
       }) {
    INFO(odd.name);
    CHECK_THAT(reason("gemm", odd.name, "64,64,64,TN"), Catch::Contains(odd.says));
  }
}

TEST_CASE("odd names: words of xmma names that contradict each other or the hardware", "[workloads][library]") {
  const auto says = [](const std::string& name, const char* text) {
    INFO(name);
    CHECK_THAT(reason("gemm", name, "64,64,64,TN"), Catch::Contains(text));
  };
  const std::string fp32 = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_";
  const std::string fp16 = "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x32_stage3_warpsize2x2x1_";
  CHECK(reason("gemm", fp32 + "ffma_aligna4_alignc4_execute_kernel__5x_cublas", "64,64,64,TN") == kResolved);
  says(fp32 + "ffma_tilesize64x64x8", "'tilesize64x64x8' of the name is not understood; expected tilesize once");
  says(fp32 + "ffma_stage4", "'stage4' of the name");
  says(fp32 + "ffma_nn", "'nn' of the name");
  says(fp32 + "ffma_aligna4_aligna2", "'aligna2' of the name");
  says(fp32 + "ffma_cgasize2x1x1", "'cgasize2x1x1' of the name");
  says(fp32 + "ffma_tensor16x8x8", "'ffma' of the name multiplies in fp32, which tensor16x8x8 contradicts");
  says(fp32 + "aligna4", "lacks ffma or tensor");
  says(fp32 + "ffma_warpgroupsize1x1x1", "only sm90 kernels have");
  says(fp16 + "ffma", "its operands of fp16");
  says(fp16 + "tensor4096x8x16", "no instruction of 4096x8x16 for fp16");
  says(fp16 + "tensor16x8x32", "no instruction of 16x8x32 for fp16");
  says("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x24_stage3_warpsize2x2x1_tensor16x8x16", "do not divide");
  says("sm80_xmma_gemm_bf16f16_f16f32_f32_tn_n_tilesize64x64x32_stage3_warpsize2x2x1_tensor16x8x16",
       "operands of bf16 that are multiplied as fp16");
  says("sm80_xmma_gemm_f16f16_f16f32_x_tn_n_tilesize64x64x32_stage3_warpsize2x2x1_tensor16x8x16",
       "types 'f16f16_f16f32_x'");
  says("sm80_xmma_gemm_f16f16_f16f32_f32_tn_t_tilesize64x64x32_stage3_warpsize2x2x1_tensor16x8x16",
       "'t' of the name is not understood; expected n, the layout of C");
  says("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_tensor16x8x8", "of wgmma");
  says("sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpsize2x2x1", "only sm80 kernels have");
}

TEST_CASE("odd names: words of cuDNN's attention that are not understood", "[workloads][library]") {
  const std::string stem = "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_35_16x128x128_1x4x1_";
  CHECK_THAT(reason("attention", stem + "2x2x1_cga1x1x1_kernel0_0", "1,8,8,1,512,128,0"),
             Catch::Contains("'2x2x1' of the name"));
  CHECK(resolve_launch(test::launch_row("attention", stem + "cga1x1x1_alibi_kernel0_0", "1,8,8,1,512,128,0"),
                       test::hopper_facts())
            .ignored_words == "alibi");
}

TEST_CASE("odd names: GEMMs whose CTAs share work otherwise than a plain product's", "[workloads][library]") {
  CHECK_THAT(reason("gemm", "cutlass_80_tensorop_s16816gemm_grouped_bf16_128x128_32x4_tn_align8", "64,64,64,TN"),
             Catch::Contains("'grouped' of the name"));
  CHECK_THAT(reason("gemm", "cutlass_80_tensorop_s16816gemm_bf16_128x128_32x4_tn_align8_streamk", "64,64,64,TN"),
             Catch::Contains("stream-K"));
  // An older generation's kernel runs with what was counted of Ampere's, and says so.
  const auto volta =
      resolve_launch(test::launch_row("gemm", "volta_sgemm_128x64_tn", "64,64,64,TN"), test::ampere_facts());
  CHECK(volta.ignored_words == "volta");
}

TEST_CASE("odd names: every recorded name is understood, word by word", "[workloads][library]") {
  for (const char* file :
       {"h100-sxm5-80gb/library_kernels.csv", "h200-sxm-141gb/library_kernels.csv",
        "h200-sxm-141gb/library_kernels_calibration.csv", "h200-sxm-141gb/library_kernels_grid.csv"}) {
    const test::RecordedRows table(file);
    for (const test::RecordedRow& row : table.all()) {
      CAPTURE(file, row.launch.kernel, row.launch.shape);
      const BuiltKernel built = resolve_launch(row.launch, test::hopper_facts());
      CHECK(built.ignored_words.empty());
      CHECK(built.warning.empty());
    }
  }
}

TEST_CASE("an operator that the kernel's name rules out, or nearly a known one, is warned of", "[workloads][library]") {
  const auto warning = [](const char* op, const std::string& kernel, const char* shape) {
    return resolve_launch(test::launch_row(op, kernel, shape), test::hopper_facts()).warning;
  };
  const std::string nvjet = "nvjet_sm90_tst_64x8_64x16_2x1_v_bz_TNT";
  CHECK(warning("gemm", nvjet, "64,64,64,TN").empty());
  CHECK(warning("gem", nvjet, "64,64,64,TN") == "an op of 'gem'; the gemm of the kernel's name is simulated");
  CHECK(warning("sub", vectorized("4", "3ul"), "64,64").empty());
  CHECK(warning("transpos", vectorized("4", "3ul"), "64,64") ==
        "an op of 'transpos', which is taken for an elementwise one; did you mean 'transpose'?");
}

TEST_CASE("odd names: kernels that profiles are full of say why they are not predicted", "[workloads][library]") {
  CHECK_THAT(
      reason("cat", "void at::native::(anonymous namespace)::CatArrayBatchedCopy_aligned16_contig<T, 4>()", "8,8"),
      Catch::Contains("'CatArrayBatchedCopy_aligned16_contig': concatenation is not modelled"));
  CHECK_THAT(reason("", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)", ""),
             Catch::Contains("communication between GPUs"));
  const auto says = [](const char* kernel, const char* text) {
    INFO(kernel);
    CHECK_THAT(reason("", kernel, ""), Catch::Contains(text) && !Catch::Contains("nearest"));
  };
  says("void gemv2T_kernel_val<int, int, __nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, 128, 16, 4, 4>(P)",
       "(gemv) are not modelled");
  says("std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int, float, float>(P)", "(gemv) are not modelled");
  says("fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel::Params)",
       "memory-efficient attention");
  says("void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, C>>(P)",
       "GEMMs of CUTLASS 3.x");
  says("void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<M, E, S>>>(P)",
       "FlashAttention-3 is not modelled");
  says("cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_128x128x64", "GEMMs of CUTLASS 3.x");
  says("void cutlass::Kernel<cutlass::gemm::kernel::GemmGrouped<M, E, S>>(P)", "grouped GEMMs");
  says("void cutlass::Kernel<Mine>(P)", "only where the name has the library's form");
  says("void pytorch_flash::flash_fwd_kernel", "is cut short");
  CHECK(reason_not_modelled("nvjet_sm90_tst_64x8_64x16_2x1_v_bz_TNT").empty());
}

TEST_CASE("odd names: dimensions of zero and cut-off triples", "[workloads][library]") {
  const std::string stem = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_";
  CHECK(reason("gemm", stem + "warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas", "64,64,64,TN") ==
        kResolved);
  CHECK_THAT(reason("gemm", stem + "warpsize2x0x1_ffma_execute_kernel__5x_cublas", "64,64,64,TN"),
             Catch::Contains("'warpsize2x0x1' of the name is not understood"));
  CHECK_THAT(reason("attention", "strata_attention_decode_split0_d128_bf16", "1,8,8,1,512,128,0"),
             Catch::Contains("0 keys to a split"));
  CHECK_THAT(reason("attention", "strata_attention_mma_0x64_d128_full_bf16", "1,8,8,512,512,128,0"),
             Catch::Contains("tile 0x64"));
  CHECK_THAT(reason("gemm", "strata_gemv_w8_f16_tn", "1,64,64,TN"), Catch::Contains("expected strata_gemv_w8"));
  CHECK_THAT(reason("gemm", "strata_gemv_w16_bf16_tn", "1,64,64,TN"), Catch::Contains("expected strata_gemv_w8"));
  CHECK_THAT(reason("gemm", "void cublasLt::splitKreduce_kernel<2147483648, 16, int, float, float>()", "64,64,64,TN"),
             Catch::Contains("is not modelled") || Catch::Contains("should be an integer"));
}

TEST_CASE("odd shapes: cells whose products leave 64 bits", "[workloads][library]") {
  const std::string huge = "4611686018427387904";
  CHECK_THAT(reason("gemm", "nvjet_sm90_tst_64x8_64x16_2x1_v_bz_TNT", huge + ",64,64,TN"),
             Catch::Contains("cell 1 is " + huge + ", above 2147483647"));
  CHECK_THAT(reason("attention", "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nn_align1>(T1::Params)",
                    "2147483647,2147483647,1,64,64,64,0,math"),
             Catch::Contains("at most 2^31 - 1 products"));
  LaunchRow row = test::launch_row(
      "attention",
      "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_cga1x1x1_kernel0_0",
      "1,8,8,512,512,128,0");
  row.grid = Dim3{2147483647, 1, 1};
  CHECK_THAT(reason(row), Catch::Contains("a grid of 2147483647 CTAs"));
}

TEST_CASE("what was asked for beside a name: another type or layout is refused, an equal one is not",
          "[workloads][library]") {
  LaunchRow row = test::launch_row("gemm", "nvjet_sm90_tst_64x8_64x16_2x1_v_bz_TNT", "64,64,64,TN");
  row.asked = {"bf16", "TN"};
  CHECK(reason(row) == kResolved);
  row.asked = {"fp8", ""};
  CHECK_THAT(reason(row), Catch::Contains("the name says bf16, --dtype says fp8"));
  row.asked = {"", "NN"};
  CHECK_THAT(reason(row), Catch::Contains("the name says layout TN, --layout says NN"));
  LaunchRow tf32 = test::launch_row(
      "gemm", "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x4_tn_align4>()", "64,64,64,TN");
  tf32.asked = {"fp32", ""};
  CHECK(reason(tf32) == kResolved);
}

TEST_CASE("a type that contradicts an elementwise functor is warned of, but for interim results",
          "[workloads][library]") {
  LaunchRow row = test::launch_row("add", vectorized("4", "3ul"), "64,64");
  const auto warning = [&row] { return resolve_launch(row, test::hopper_facts()).warning; };
  row.dtype = "fp32";
  CHECK(warning().empty());
  row.dtype = "bf16";
  CHECK(warning() == "operands of bf16; the fp32 of the kernel's name is simulated");
  row.op = "rmsnorm";
  CHECK(warning().empty());
}

TEST_CASE("a grid that contradicts the shape is taken, with a warning", "[workloads][library]") {
  LaunchRow row = test::launch_row("add", vectorized("4", "3ul"), "64,64");
  row.grid = Dim3{4, 1, 1};  // 128 threads of 8 elements each: 4096 = 64 x 64
  CHECK(resolve_launch(row, test::hopper_facts()).warning.empty());
  row.grid = Dim3{100, 1, 1};
  const BuiltKernel built = resolve_launch(row, test::hopper_facts());
  CHECK_THAT(built.warning, Catch::Contains("a grid of 100 CTAs covers 102400 elements, not the 64 x 64"));
  CHECK(built.source->launch().num_ctas() == 100);
}

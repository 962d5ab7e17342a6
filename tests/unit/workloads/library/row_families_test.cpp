/// Row-wise families: recorded launches, other names of the same grammars, launches that cannot be simulated.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "sim/base/error.hpp"
#include "tests/support/recorded_rows.hpp"
#include "tests/support/trace_totals.hpp"
#include "workloads/kernels/elementwise_functors.hpp"
#include "workloads/library/cpp_name.hpp"
#include "workloads/library/resolve.hpp"

using namespace strata;

namespace {

LaunchRow row_of(const char* op, const char* shape, const std::string& kernel, const char* dtype = "bf16") {
  LaunchRow row;
  row.op = op;
  row.dtype = dtype;
  row.shape = shape;
  row.kernel = kernel;
  return row;
}

Dim3 grid_of(const LaunchRow& row) { return resolve_launch(row, test::hopper_facts()).source->launch().grid; }

std::string reason(const LaunchRow& row) {
  try {
    (void)resolve_launch(row, test::hopper_facts());
  } catch (const UnsupportedError& e) {
    return e.what();
  }
  return {};
}

/// FlashAttention-2's launch of one query, of head dim 64.
std::string split_kv(const std::string& element) {
  return "void pytorch_flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<64, 64, 256, 4, 0, 0, " + element +
         ", Flash_kernel_traits<64, 64, 256, 4, " + element + ">>, 0, 0, 0, 0, 1, 0, 1, 0>(Flash_fwd_params)";
}

constexpr const char* kCudnnDecode =
    "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_35_16x128x128_1x4x1_cga1x1x1_kernel0_0";

double error_of(std::uint64_t counted, double recorded) { return (static_cast<double>(counted) - recorded) / recorded; }

}  // namespace

TEST_CASE("row-wise families: counts of recorded launches", "[workloads][rowwise][conformance]") {
  const test::RecordedRows rows("h100-sxm5-80gb/library_kernels.csv");
  std::size_t launches = 0;
  for (const test::RecordedRow& row : rows.all()) {
    const std::string family = family_of(row.launch.kernel);
    const bool mine = family == "softmax" || family == "layer_norm" || family == "reduce" || family == "splitk_sum" ||
                      family == "flash_combine" || family == "lean_reduction";
    if (row.split != "calibration" || !mine) continue;
    INFO(row.launch.case_name << " " << row.launch.seq << " " << row.launch.kernel);
    const BuiltKernel built = resolve_launch(row.launch, test::hopper_facts());
    const Launch& launch = built.source->launch();
    REQUIRE(launch.grid == *row.launch.grid);
    REQUIRE(launch.block == *row.launch.block);
    const test::TraceTotals t = test::trace_totals(*built.source, std::max<std::uint64_t>(1, launch.num_ctas() / 4096));
    CHECK(std::abs(error_of(t.warp_insts, row.number("warp_insts"))) < 0.04);
    CHECK(std::abs(error_of(t.delivered_sectors, row.number("l1_global_ld_sectors"))) < 0.001);
    if (row.number("smem_wavefronts") > 10000 && launch.block.x * launch.block.y != 512) {
      CHECK(std::abs(error_of(t.smem_wavefronts, row.number("smem_wavefronts"))) < 0.02);
    }
    CHECK(std::abs(error_of(t.tensor_insts, row.number("tensor_insts"))) < 0.001);
    if (family != "reduce") {  // the hardware joins the one-byte results of a CTA's warps only in part
      CHECK(std::abs(error_of(t.stored_sectors, row.number("l12xbar_write_sectors"))) < 0.001);
    }
    ++launches;
  }
  CHECK(launches == 17);
}

TEST_CASE("reductions of rows: instructions that an H200 counted", "[workloads][rowwise][conformance]") {
  const test::RecordedRows rows("h200-sxm-141gb/library_kernels_drawn.csv");
  std::size_t launches = 0;
  for (const test::RecordedRow& row : rows.all()) {
    if (row.launch.op != "sum" && row.launch.op != "mean" && row.launch.op != "amax") continue;
    INFO(row.launch.case_name << " " << row.launch.kernel);
    const BuiltKernel built = resolve_launch(row.launch, test::hopper_facts());
    const Launch& launch = built.source->launch();
    REQUIRE(launch.grid == *row.launch.grid);
    const test::TraceTotals t = test::trace_totals(*built.source, std::max<std::uint64_t>(1, launch.num_ctas() / 512));
    CHECK(std::abs(error_of(t.warp_insts, row.number("warp_insts"))) < 0.11);
    CHECK(std::abs(error_of(t.delivered_sectors, row.number("l1_global_ld_sectors"))) < 0.001);
    ++launches;
  }
  CHECK(launches == 9);
}

TEST_CASE("elementwise functors: instructions that an H200 counted", "[workloads][elementwise][conformance]") {
  const test::RecordedRows rows("h200-sxm-141gb/library_kernels_functors.csv");
  std::size_t launches = 0;
  for (const test::RecordedRow& row : rows.all()) {
    // A number that is a bound, and which dropout has no family.
    if (row.launch.op == "clamp" || row.launch.op == "dropout") continue;
    INFO(row.launch.case_name << " " << row.launch.seq << " " << row.launch.kernel);
    const BuiltKernel built = resolve_launch(row.launch, test::hopper_facts());
    const test::TraceTotals t = test::trace_totals(*built.source, 64);
    const bool chooses = row.launch.kernel.find("where_kernel") != std::string::npos;
    CHECK(std::abs(error_of(t.warp_insts, row.number("warp_insts"))) <
          (chooses || row.launch.op == "masked_fill" ? 0.27 : 0.18));
    CHECK(std::abs(error_of(t.stored_sectors, row.number("l12xbar_write_sectors"))) < 0.001);
    ++launches;
  }
  CHECK(launches == 86);
}

TEST_CASE("elementwise names: functors begin at a word, powers and GELUs are told apart by their lambda",
          "[workloads][elementwise][library]") {
  const std::string power =
      "at::pow_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase&, T2)::[lambda(float)";
  CHECK(functor_class(power + "(instance 1)]") == Functor::kNegate);
  CHECK(functor_class(power + "(instance 2)]") == Functor::kCube);
  CHECK(functor_class(power + "(instance 4)]") == Functor::kPower);
  const std::string gelu = "at::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::GeluType)::[lambda()";
  CHECK(functor_class(gelu + "(instance 1)]::operator()()") == Functor::kGeluTanh);
  CHECK(functor_class(gelu + "(instance 2)]::operator()()") == Functor::kGelu);
  CHECK(functor_class("at::rsqrt_kernel_cuda(at::TensorIteratorBase&)") == Functor::kRsqrt);
  CHECK(functor_class("at::sqrt_kernel_cuda(at::TensorIteratorBase&)") == Functor::kDivide);
  CHECK(functor_class("at::atanh_kernel_cuda(at::TensorIteratorBase&)") == Functor::kOther);
  CHECK(functor_class("at::leaky_relu_kernel(at::TensorIteratorBase&, const c10::Scalar&)") == Functor::kLeakyRelu);
}

TEST_CASE("softmax names: other types, lengths and forms", "[workloads][rowwise][library]") {
  const std::string warp = "void (anonymous namespace)::softmax_warp_forward<";
  CHECK(grid_of(row_of("softmax", "64,100",
                       warp + "c10::Half, float, float, 7, true, false>(float*, c10::Half const*)")) == Dim3{8, 1, 1});
  CHECK_THAT(reason(row_of("softmax", "64,300", warp + "float, float, float, 8, false, false>(float*)")),
             Catch::Contains("300 columns"));
  CHECK_THAT(reason(row_of("softmax", "64,300", warp + "float, float, float, 9, false, true>(float*)")),
             Catch::Contains("masked"));
  const std::string block = "void at::native::(anonymous namespace)::cunn_SoftMaxForward";
  const std::string tail = "at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue";
  const BuiltKernel smem = resolve_launch(
      row_of("log_softmax", "64,12000", block + "Smem<8, c10::Half, float, c10::Half, " + tail + ", long>(c10::Half*)"),
      test::hopper_facts());
  CHECK(smem.source->launch().smem_dynamic_bytes == 24000 + 128);
  CHECK_THAT(smem.description, Catch::Contains("log-softmax") && Catch::Contains("shared memory"));
  CHECK(grid_of(row_of("softmax", "64,50257", block + "<4, float, float, float, " + tail + ">(float*)")) ==
        Dim3{64, 1, 1});
  CHECK_THAT(reason(row_of("softmax", "64,8192", block + "Reg<float, float, float, " + tail + ", long, 4>(float*)")),
             Catch::Contains("the kernel keeps 4"));
  LaunchRow other = row_of("softmax", "64,1024", warp + "float, float, float, 10, false, false>(float*)");
  other.grid = Dim3{17, 1, 1};
  CHECK_THAT(reason(other), Catch::Contains("17 CTAs"));
}

TEST_CASE("layer norm names", "[workloads][rowwise][library]") {
  const std::string kernel = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<";
  const BuiltKernel k =
      resolve_launch(row_of("rmsnorm", "100,4096", kernel + "float, float, true>(int)"), test::hopper_facts());
  CHECK(k.source->launch().buffers[0].bytes == 100 * 4096 * 4);
  CHECK(k.source->launch().buffers.size() == 4);  // input, weight, output, 1 / rms
  CHECK(k.source->launch().block == Dim3{32, 4, 1});
  CHECK_THAT(reason(row_of("layernorm", "100,4097", kernel + "float, float, false>(int)")),
             Catch::Contains("multiples of 4"));
  CHECK_THAT(reason(row_of("layernorm", "100", kernel + "float, float, false>(int)")), Catch::Contains("rows,cols"));
}

TEST_CASE("reduce names: operators, outputs per thread, directions", "[workloads][rowwise][library]") {
  const std::string sum =
      "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, "
      "at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, "
      "unsigned int, float, 4, 4> >(at::native::ReduceOp<float>)";
  CHECK(grid_of(row_of("sum", "4096,4096", sum, "fp32")) == Dim3{256, 1, 1});
  LaunchRow all = row_of("sum", "4096,4096", sum, "fp32");
  all.grid = Dim3{1, 528, 1};
  all.block = Dim3{512, 1, 1};
  CHECK(resolve_launch(all, test::hopper_facts()).source->launch().grid.y == 528);
  all.grid = Dim3{3, 3, 3};
  CHECK_THAT(reason(all), Catch::Contains("fit no reduction"));
  const std::string columns =
      "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, at::native::MeanOps<c10::BFloat16, "
      "float, float, c10::BFloat16>, unsigned int, c10::BFloat16, 4, 4> >(int)";
  CHECK_THAT(resolve_launch(row_of("mean", "4096,4096", columns), test::hopper_facts()).description,
             Catch::Contains("strided"));
  CHECK_THAT(reason(row_of("sum", "8,8", "void at::native::reduce_kernel<512, 1, Other>(int)")),
             Catch::Contains("template arguments"));
}

TEST_CASE("triangle, split-K and attention sums: names and sizes", "[workloads][rowwise][library]") {
  const std::string triangle =
      "void at::native::triu_tril_kernel<float, int, true, 2, false>(at::cuda::detail::TensorInfo<float, int>)";
  CHECK(grid_of(row_of("triu", "512,512", triangle)) == Dim3{1024, 1, 1});
  CHECK_THAT(reason(row_of("triu", "512,512", "at::triu_tril_kernel<float, int, true, 2, true>(int)")),
             Catch::Contains("in place"));
  const std::string split =
      "void cublasLt::splitKreduce_kernel<32, 16, int, float, __half, float, __half, false, float, __half, __half, "
      "true, "
      "false, false, false>(cublasLt::cublasSplitKParams<float>)";
  LaunchRow square = row_of("gemm", "128,128,65536,TN", split, "fp16");
  square.producer_kernel = "nvjet_sm90_hsh_64x32_64x16_1x2_h_bz_splitK_TNT";
  square.producer_grid = Dim3{2, 64, 1};
  const BuiltKernel k = resolve_launch(square, test::hopper_facts());
  CHECK(k.source->launch().grid == Dim3{4, 8, 1});
  CHECK(k.source->launch().buffers[0].bytes == 16 * 128 * 128 * 4);
  LaunchRow after = row_of("gemm", "1,8192,28672,TN", split, "fp16");
  after.producer_kernel = "nvjet_sm90_tst_128x8_64x12_2x1_v_bz_splitK_TNT";
  after.producer_grid = Dim3{2, 128, 1};
  CHECK(resolve_launch(after, test::hopper_facts()).source->launch().buffers[0].bytes == 4 * 8192 * 4);
  after.producer_kernel = "void cutlass::Kernel2<cutlass_75_tensorop_s1688gemm_bf16_128x128_tn_align1>(T1::Params)";
  after.producer_grid = Dim3{64, 1, 7};
  CHECK(resolve_launch(after, test::hopper_facts()).source->launch().buffers[0].bytes == 7 * 8192 * 4);
  const std::string combine =
      "void pytorch_flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<64, 64, 256, 4, false, false, "
      "cutlass::half_t, Flash_kernel_traits<64, 64, 256, 4, cutlass::half_t> >, 8, 3, true>(Flash_fwd_params)";
  LaunchRow flash = row_of("attention", "1,32,32,1,2048,64,0,flash", combine, "fp16");
  flash.producer_kernel = split_kv("cutlass::half_t");
  flash.producer_grid = Dim3{1, 8, 32};
  const BuiltKernel c = resolve_launch(flash, test::hopper_facts());
  CHECK(c.source->launch().grid == Dim3{4, 1, 1});
  CHECK_THAT(c.description, Catch::Contains("8 attention parts"));
  const std::string lean = "void cudnn::fusion::lean_reduction_kernel<false, false, false>(void*, float*)";
  CHECK(family_of(lean) == "lean_reduction");
  const auto lean_grid = [&lean](const char* shape) {
    LaunchRow row = row_of("attention", shape, lean);
    row.producer_kernel = kCudnnDecode;
    return grid_of(row);
  };
  CHECK(lean_grid("1,32,32,1,2048,128,0,cudnn") == Dim3{1, 32, 1});
  CHECK(lean_grid("8,32,8,1,4096,128,0,cudnn") == Dim3{1, 32, 8});  // recorded, H200
}

TEST_CASE("sums of parts: only the launch that left them says how many", "[workloads][rowwise][library]") {
  const std::string combine =
      "void pytorch_flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<64, 64, 256, 4, 0, 0, "
      "cutlass::half_t, Flash_kernel_traits<64, 64, 256, 4, cutlass::half_t>>, 8, 3, 1>(Flash_fwd_params)";
  LaunchRow sum = row_of("attention", "1,32,32,1,2048,64,0,flash", combine, "fp16");
  const auto after = [&sum](const std::string& kernel, Dim3 grid) {
    sum.producer_kernel = kernel;
    sum.producer_grid = grid;
    return reason(sum);
  };
  CHECK_THAT(reason(sum), Catch::Contains("give the launch that left them in the row before"));
  CHECK(after(split_kv("cutlass::half_t"), {1, 7, 32}).empty());
  CHECK_THAT(after(split_kv("cutlass::bfloat16_t"), {1, 7, 32}), Catch::Contains("is none that leaves it parts"));
  CHECK_THAT(after(split_kv("cutlass::half_t"), {1, 4, 32}), Catch::Contains("4 parts, of the launch before it"));
  CHECK_THAT(after(split_kv("cutlass::half_t"), {1, 7, 31}), Catch::Contains("cannot be predicted"));
  CHECK_THAT(after(kCudnnDecode, {8, 32, 1}), Catch::Contains("expected one of flash_split_kv"));
  sum.producer_kernel = split_kv("cutlass::half_t");
  sum.producer_grid = Dim3{1, 8, 32};
  sum.shape = "1,32,32,1,2048,128,0,flash";
  CHECK_THAT(reason(sum), Catch::Contains("head dim 128 padded to 64"));

  const std::string split = "void cublasLt::splitKreduce_kernel<32, 16, int, float, __half, float, __half, 0>()";
  LaunchRow product = row_of("gemm", "256,256,4096,TN", split, "fp16");
  product.producer_kernel = "nvjet_sm90_hsh_64x32_64x16_1x2_h_bz_TNT";
  product.producer_grid = Dim3{2, 16, 1};
  CHECK_THAT(reason(product), Catch::Contains("the launch before it is not split"));
}

TEST_CASE("sums of parts: the launch before is of the same case, operator, type and shape",
          "[workloads][rowwise][library]") {
  LaunchRow producer = row_of("gemm", "256,256,4096,TN", "nvjet_sm90_hsh_64x32_64x16_1x2_h_bz_splitK_TNT", "fp16");
  producer.case_name = "a";
  producer.seq = "1";
  producer.grid = Dim3{2, 64, 1};
  LaunchRow sum = producer;
  sum.kernel = "void cublasLt::splitKreduce_kernel<32, 16, int, float, __half, float, __half, 0>()";
  sum.seq = "2";
  const auto linked = [&producer](LaunchRow row) {
    link_producer(producer, row);
    return !row.producer_kernel.empty();
  };
  CHECK(linked(sum));
  for (std::string LaunchRow::*cell : {&LaunchRow::case_name, &LaunchRow::op, &LaunchRow::dtype, &LaunchRow::shape}) {
    LaunchRow other = sum;
    other.*cell += "x";
    CHECK_FALSE(linked(other));
  }
  sum.seq = "3";
  CHECK_FALSE(linked(sum));
  sum.seq.clear();
  CHECK(linked(sum));
}

TEST_CASE("elementwise names: strided transposes, many inputs, older arrays", "[workloads][elementwise][library]") {
  const std::string copy =
      "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
      "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()() "
      "const::{lambda(c10::BFloat16)#1}>(at::TensorIteratorBase&, int const&)::{lambda(int)#1}>(int, int)";
  LaunchRow row = row_of("transpose", "512,256", copy);
  row.grid = Dim3{256, 1, 1};
  const test::TraceTotals t = test::trace_totals(*resolve_launch(row, test::hopper_facts()).source);
  CHECK(t.delivered_sectors == 512 * 256);  // a sector for every element
  CHECK(t.stored_sectors == 512 * 256 * 2 / 32);
  const std::string many =
      "void at::native::vectorized_elementwise_kernel<4, at::native::unheard_of_kernel(at::TensorIteratorBase&)::"
      "{lambda(float, float, float, float)#1}, at::detail::Array<char*, 5> >(int)";
  const BuiltKernel k = resolve_launch(row_of("other", "64,1024", many, "fp32"), test::hopper_facts());
  CHECK(test::trace_totals(*k.source).delivered_sectors == 4 * 64 * 1024 * 4 / 32);
  CHECK_THAT(k.notes.front(), Catch::Contains("unknown cost"));
}

TEST_CASE("row-wise names that a profiler cut say so", "[workloads][rowwise][library]") {
  const char* shape = "4096,4096";
  for (const char* kernel :
       {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float",
        "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel",
        "void at::native::triu_tril_kernel<bool, int, true, 8", "void at::native::triu_tril_kernel<bool, int, true, ",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, F, unsigned int, float, 4, 4>",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, at",
        "void (anonymous namespace)::softmax_warp_forward<float, float, float, 12, false"}) {
    INFO(kernel);
    CHECK_THAT(reason(row_of("", shape, kernel)),
               Catch::Contains("cut short") && Catch::Contains("record whole names"));
  }
  CHECK_THAT(reason(row_of("", shape, "void at::native::(anonymous namespace)::vectorized_layer_no")),
             Catch::Contains("'vectorized_layer_no' is cut short: names of layer_norm begin"));
}

TEST_CASE("row-wise names: an operator that the kernel's name rules out is warned of",
          "[workloads][rowwise][library]") {
  const auto warning = [](const char* op, const std::string& kernel) {
    return resolve_launch(row_of(op, "64,64", kernel, "fp32"), test::hopper_facts()).warning;
  };
  const std::string norm = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, ";
  for (const char* op : {"layernorm", "layer_norm", "native_layer_norm", ""}) {
    CHECK(warning(op, norm + "false>()").empty());
  }
  CHECK(warning("rms_norm", norm + "true>()").empty());
  CHECK(warning("softmax", norm + "false>()") == "an op of 'softmax'; the layernorm of the kernel's name is simulated");
  CHECK(warning("layernorm", norm + "true>()") ==
        "an op of 'layernorm'; the rmsnorm of the kernel's name is simulated");
  const std::string softmax =
      "void (anonymous namespace)::softmax_warp_forward<float, float, float, 6, false, false>()";
  CHECK(warning("log_softmax", softmax).empty());
  CHECK(warning("rmsnorm", softmax) == "an op of 'rmsnorm'; the softmax of the kernel's name is simulated");
  CHECK(warning("tril", "at::triu_tril_kernel<float, int, true, 2, false>(int)") ==
        "an op of 'tril'; the triu of the kernel's name is simulated");
  LaunchRow typed = row_of("layernorm", "64,64", norm + "false>()", "bf16");
  CHECK(resolve_launch(typed, test::hopper_facts()).warning ==
        "operands of bf16; the fp32 of the kernel's name is simulated");
}

TEST_CASE("template arguments of canonical names", "[workloads][library]") {
  const auto arguments = template_arguments("a::f<g<1, 2>, h(i, j)::[k], c10::Half>", "f");
  REQUIRE(arguments.size() == 3);
  CHECK(arguments[0] == "g<1, 2>");
  CHECK(arguments[1] == "h(i, j)::[k]");
  CHECK(cpp_data_type(arguments[2]) == DataType::kFp16);
  CHECK(template_arguments("f", "f").empty());
  CHECK_THROWS_AS(type_argument(arguments, 0), UnsupportedError);
  CHECK_THROWS_AS(integer_argument(arguments, 7), UnsupportedError);
  CHECK(cpp_integer(" 12 ") == 12U);
  CHECK_FALSE(cpp_integer("12u"));
}

/// Attention and elementwise generators against the counters of recorded launches: counts that no timing changes.
#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "sim/base/error.hpp"
#include "tests/support/family_conformance.hpp"
#include "tests/support/launch_rows.hpp"
#include "workloads/library/resolve.hpp"

using namespace strata;

using test::check_family;
using test::error_of;
using Means = test::FamilyMeans;

TEST_CASE("FlashAttention-2: counts of recorded launches", "[workloads][attention][conformance]") {
  const Means means = check_family("flash_attention_2", [](const test::RecordedRow& row, const test::TraceTotals& t) {
    CHECK(t.tensor_insts == static_cast<std::uint64_t>(row.number("tensor_insts")));
    CHECK(std::abs(error_of(t.delivered_sectors, row.number("xbar2l1_read_sectors"))) < 0.01);
    CHECK(std::abs(error_of(t.stored_sectors, row.number("l12xbar_write_sectors"))) < 0.01);
  });
  CHECK(means.launches == 7);
  CHECK(means.instructions < 0.01);
  CHECK(means.wavefronts < 0.02);
}

TEST_CASE("cuDNN attention: counts of recorded launches", "[workloads][attention][conformance]") {
  const Means means =
      check_family("cudnn_sm90_attention", [](const test::RecordedRow& row, const test::TraceTotals& t) {
        CHECK(t.tensor_insts == static_cast<std::uint64_t>(row.number("tensor_insts")));
        CHECK(std::abs(error_of(t.delivered_sectors, row.number("xbar2l1_read_sectors"))) < 0.01);
        CHECK(std::abs(error_of(t.stored_sectors, row.number("l12xbar_write_sectors"))) < 0.01);
      });
  CHECK(means.launches == 7);
  CHECK(means.instructions < 0.02);
  CHECK(means.wavefronts < 0.02);
}

TEST_CASE("PyTorch elementwise: counts of recorded launches", "[workloads][elementwise][conformance]") {
  const Means means = check_family("elementwise", [](const test::RecordedRow& row, const test::TraceTotals& t) {
    CHECK(std::abs(error_of(t.stored_sectors, row.number("l12xbar_write_sectors"))) < 0.01);
    CHECK(error_of(t.tensor_insts, row.number("tensor_insts")) == Approx(0).margin(0.001));
    // The walk counts what L1 is asked for. A where of two scalars loads one of them or both, by its flags.
    const bool scalars = row.launch.kernel.find("where") != std::string::npos;
    CHECK(std::abs(error_of(t.delivered_sectors, row.number("l1_global_ld_sectors"))) < (scalars ? 0.25 : 0.001));
  });
  CHECK(means.instructions < 0.03);
  CHECK(means.wavefronts < 0.02);
}

TEST_CASE("attention library: names of other profilers, tiles and flags", "[workloads][attention][library]") {
  const auto row = [](const char* kernel, const char* shape) {
    LaunchRow r;
    r.op = "attention";
    r.dtype = "bf16";
    r.kernel = kernel;
    r.shape = shape;
    return r;
  };
  const char* kineto =
      "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
      "cutlass::bfloat16_t, Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, true, false, false, "
      "true, true, false, false>(pytorch_flash::Flash_fwd_params)";
  const BuiltKernel causal = resolve_launch(row(kineto, "1,2,2,512,512,64,1,flash"), test::hopper_facts());
  CHECK(causal.source->launch().grid == Dim3{4, 1, 2});
  CHECK(test::trace_totals(*causal.source).tensor_insts == 2 * 1024 * 10);
  CHECK_THROWS_AS(resolve_launch(row(kineto, "1,2,2,512,512,128,1,flash"), test::hopper_facts()), UnsupportedError);
  CHECK(causal.warning.empty());
  CHECK(resolve_launch(row(kineto, "1,2,2,512,512,64,0,flash"), test::hopper_facts()).warning ==
        "a shape of full attention; the causal one of the kernel's name is simulated");
  LaunchRow asked = row(kineto, "1,2,2,512,512,64,0,flash");
  asked.asked.causal = false;
  CHECK_THAT(test::unsupported_reason(asked), Catch::Contains("the name says causal attention, --causal says off"));
  LaunchRow typed = row(kineto, "1,2,2,512,512,64,1,flash");
  typed.dtype = "fp16";
  CHECK(resolve_launch(typed, test::hopper_facts()).warning ==
        "operands of fp16; the bf16 of the kernel's name is simulated");
  const char* cudnn =
      "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1x1_kernel0_0";
  CHECK(resolve_launch(row(cudnn, "1,2,2,512,512,64,0,cudnn"), test::hopper_facts()).source->launch().grid.x == 132);
  CHECK_THROWS_AS(resolve_launch(row(cudnn, "1,2,2,512"), test::hopper_facts()), UnsupportedError);
}

TEST_CASE("elementwise library: functors, types and sizes from names", "[workloads][elementwise][library]") {
  LaunchRow r;
  r.op = "gelu";
  r.dtype = "fp16";
  r.shape = "128,1000";
  r.kernel =
      "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
      "at::native::GeluType)::{lambda()#1}::operator()() const::{lambda()#4}::operator()() "
      "const::{lambda(c10::Half)#1}, "
      "std::array<char*, 2ul> >(int, at::native::GeluCUDAKernelImpl, std::array<char*, 2ul>)";
  BuiltKernel k = resolve_launch(r, test::hopper_facts());
  CHECK(k.source->launch().buffers.back().bytes == 128 * 1000 * 2);
  CHECK(k.source->launch().buffers.size() == 2);
  CHECK_THAT(k.description, Catch::Contains("gelu"));
  r.grid = Dim3{250, 1, 1};  // an earlier release: four elements per thread
  CHECK(resolve_launch(r, test::hopper_facts()).source->launch().buffers.back().bytes == 128 * 1000 * 2);
  r.kernel =
      "void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, "
      "c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int)";
  r.grid = Dim3{125, 1, 1};
  k = resolve_launch(r, test::hopper_facts());
  CHECK(k.source->launch().buffers.size() == 3);
  CHECK_THAT(k.description, Catch::Contains("mul"));
  r.shape = "";
  r.grid = std::nullopt;
  CHECK_THROWS_AS(resolve_launch(r, test::hopper_facts()), UnsupportedError);
}

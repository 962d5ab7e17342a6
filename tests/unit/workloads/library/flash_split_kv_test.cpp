#include "workloads/library/flash_split_kv.hpp"

#include <catch2/catch.hpp>

#include "tests/support/launch_rows.hpp"
#include "tests/support/trace_totals.hpp"

using namespace strata;

namespace {

std::string kernel(const char* flags) {
  return std::string(
             "void pytorch_flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, 0, 0, "
             "cutlass::bfloat16_t, Flash_kernel_traits<128, 64, 128, 4, cutlass::bfloat16_t>>, ") +
         flags + ">(pytorch_flash::Flash_fwd_params)";
}

LaunchRow row(const char* flags, const char* shape) { return test::launch_row("attention", kernel(flags), shape); }

}  // namespace

TEST_CASE("split KV: each split reads its own keys and leaves fp32 partials", "[workloads][attention][library]") {
  const BuiltKernel built =
      resolve_launch(row("0, 0, 0, 0, 1, 0, 1, 0", "1,32,32,1,512,128,0,flash"), test::hopper_facts());
  CHECK(built.source->launch().grid == Dim3{1, 4, 32});  // the splits that the library chooses for 132 SMs
  const test::TraceTotals totals = test::trace_totals(*built.source);
  CHECK(totals.delivered_sectors == 128 * (8 + 2 * 128 * 8));  // one query, 128 keys and values of 256 B
  CHECK(totals.stored_sectors == 128 * (16 + 1));              // 512 B of O and 4 B of LSE
  CHECK(totals.tensor_insts == 128 * 4 * 256);
}

TEST_CASE("split KV: a split beyond the last block leaves zeros", "[workloads][attention][library]") {
  LaunchRow r = row("0, 0, 0, 0, 1, 0, 1, 0", "1,2,2,1,640,128,0,flash");  // five blocks in four splits of two
  r.grid = Dim3{1, 4, 2};
  const test::TraceTotals totals = test::trace_totals(*resolve_launch(r, test::hopper_facts()).source);
  CHECK(totals.delivered_sectors == 2 * (3 * 8 + 2 * 640 * 8));
  CHECK(totals.stored_sectors == 2 * 4 * (16 + 1));
}

TEST_CASE("split KV: heads of a group become query rows; without Split the grid is FlashAttention-2's",
          "[workloads][attention][library]") {
  LaunchRow grouped = row("0, 0, 0, 0, 1, 0, 1, 0", "2,32,8,1,4096,128,0,flash");
  grouped.grid = Dim3{1, 16, 16};
  CHECK(resolve_launch(grouped, test::hopper_facts()).source->launch().grid == Dim3{1, 16, 16});
  const BuiltKernel plain =
      resolve_launch(row("1, 0, 0, 0, 1, 0, 0, 0", "2,4,4,256,256,128,1,flash"), test::hopper_facts());
  CHECK(plain.source->launch().grid == Dim3{4, 2, 4});
}

TEST_CASE("split KV: a mask that the shape says otherwise is warned of, unless it hides nothing",
          "[workloads][attention][library]") {
  const auto warning = [](const LaunchRow& r) { return resolve_launch(r, test::hopper_facts()).warning; };
  CHECK(warning(row("1, 0, 0, 0, 1, 0, 0, 0", "2,4,4,256,256,128,0,flash")) ==
        "a shape of full attention; the causal one of the kernel's name is simulated");
  CHECK(warning(row("0, 0, 0, 0, 1, 0, 1, 0", "1,32,32,1,512,128,1,flash")).empty());
}

TEST_CASE("split KV: what cannot be simulated says why", "[workloads][attention][library]") {
  const char* shape = "1,32,32,1,512,128,0,flash";
  CHECK_THAT(test::unsupported_reason(row("0, 1, 0, 0, 1, 0, 1, 0", shape)), Catch::Contains("window"));
  CHECK_THAT(test::unsupported_reason(row("0, 0, 0, 0, 1, 0, 1, 1", shape)), Catch::Contains("appending"));
  CHECK_THAT(test::unsupported_reason(row("0, 0", shape)), Catch::Contains("flags"));
  LaunchRow wrong = row("0, 0, 0, 0, 1, 0, 1, 0", shape);
  wrong.grid = Dim3{2, 4, 32};
  CHECK_THAT(test::unsupported_reason(wrong), Catch::Contains("does not fit the shape"));
  wrong.grid = Dim3{1, 65535, 32};
  CHECK_THAT(test::unsupported_reason(wrong),
             Catch::Contains("65535 splits of 512 keys; at most 4 have a block of 128"));
  LaunchRow fp8 = row("0, 0, 0, 0, 1, 0, 1, 0", shape);
  for (std::size_t at = fp8.kernel.find("bfloat16_t"); at != std::string::npos; at = fp8.kernel.find("bfloat16_t")) {
    fp8.kernel.replace(at, 10, "float_e4m3_t");
  }
  CHECK_THAT(test::unsupported_reason(fp8), Catch::Contains("elements of cutlass::float_e4m3_t: FlashAttention-2 has"));
}

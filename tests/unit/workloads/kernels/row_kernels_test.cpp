/// Softmax, norms, reductions, triangles and sums of splits: traffic counted by hand, options.
#include <catch2/catch.hpp>
#include <cmath>

#include "sim/base/error.hpp"
#include "tests/support/recorded_rows.hpp"
#include "tests/support/trace_totals.hpp"
#include "tests/unit/workloads/kernels/untimed_run.hpp"
#include "workloads/kernels/row_norm.hpp"
#include "workloads/kernels/row_softmax.hpp"
#include "workloads/kernels/rowwise_spec.hpp"
#include "workloads/kernels/split_sum.hpp"
#include "workloads/kernels/tensor_reduce.hpp"
#include "workloads/kernels/triangle.hpp"

using namespace strata;

namespace {

SoftmaxConfig softmax(std::uint64_t rows, std::uint64_t cols, DataType type) {
  SoftmaxConfig c;
  c.rows = rows;
  c.cols = cols;
  c.input = c.output = type;
  choose_softmax_form(c);
  return c;
}

std::string option_error(const KernelOptions& options) {
  try {
    (void)rowwise_spec().make(options, test::hopper_facts());
  } catch (const InputError& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("softmax: PyTorch's form for every row length", "[workloads][rowwise]") {
  CHECK(softmax(8, 1024, DataType::kBf16).form == SoftmaxForm::kWarp);
  CHECK(softmax(8, 2048, DataType::kFp32).form == SoftmaxForm::kWarp);
  CHECK(softmax(8, 2049, DataType::kFp32).form == SoftmaxForm::kRegisters);
  CHECK(softmax(8, 4096, DataType::kFp32).threads == 1024);
  CHECK(softmax(8, 9216, DataType::kBf16).form == SoftmaxForm::kRegisters);
  CHECK(softmax(8, 9224, DataType::kBf16).form == SoftmaxForm::kShared);
  CHECK(softmax(8, 9225, DataType::kBf16).form == SoftmaxForm::kGlobal);  // no multiple of eight
  CHECK(softmax(8, 32768, DataType::kBf16).form == SoftmaxForm::kGlobal);
}

TEST_CASE("softmax: each element is read and written once, three times where nothing keeps it",
          "[workloads][rowwise]") {
  const std::uint64_t cols = GENERATE(16, 128, 512, 1024, 4096, 16384, 32768);
  const SoftmaxConfig c = softmax(40, cols, DataType::kBf16);
  const auto source = make_row_softmax(c);
  const test::TraceTotals t = test::trace_totals(*source);
  const std::uint64_t sectors = 40 * cols * 2 / 32;
  CHECK(t.delivered_sectors == (c.form == SoftmaxForm::kGlobal ? 3 : 1) * sectors);
  CHECK(t.stored_sectors == sectors);
  CHECK(test::UntimedRun(*source, 0).finishes());
}

TEST_CASE("softmax: rows per CTA of the warp form", "[workloads][rowwise]") {
  CHECK(make_row_softmax(softmax(100, 1024, DataType::kBf16))->launch().grid.x == 25);  // 4 warps
  CHECK(make_row_softmax(softmax(100, 128, DataType::kBf16))->launch().grid.x == 13);   // two rows a warp
  const auto narrow = make_row_softmax(softmax(100, 8, DataType::kFp32));               // 16 groups of 8 lanes
  CHECK(narrow->launch().block == Dim3{8, 16, 1});
  CHECK(narrow->launch().grid.x == 4);
}

TEST_CASE("softmax: instructions of a warp", "[workloads][rowwise]") {
  SoftmaxConfig c = softmax(4, 512, DataType::kFp32);
  CHECK(test::trace_totals(*make_row_softmax(c)).warp_insts == 4 * 620);  // as the profiler counts
  c.cols = 300;  // compiled for 16 elements of a lane, ten of which exist
  CHECK(test::trace_totals(*make_row_softmax(c)).warp_insts == 4 * 500);
  c.cols = 512;
  c.causal_queries = 4;  // 16 divisions of rows of 512 columns: all but the first element of some lane are masked
  const test::TraceTotals masked = test::trace_totals(*make_row_softmax(c));
  CHECK(masked.warp_insts == 4 * (620 + 16 * 36));
  CHECK(masked.tensor_insts == 4 * (1 + 16));
  c.causal_queries = 512;  // rows 0 to 30 mask something of columns 0 to 31, rows 0 to 62 of 32 to 63, ...
  const double slow = (16 * 31 + 32 * 120) / 512.0;
  CHECK(std::abs(static_cast<double>(test::trace_totals(*make_row_softmax(c)).warp_insts) - 4 * (620 + slow * 36)) < 1);
}

TEST_CASE("layer norm reads its rows twice and its parameters one element at a time", "[workloads][rowwise]") {
  NormConfig c;
  c.rows = 3;
  c.cols = 1024;
  const auto source = make_row_norm(c);
  const test::TraceTotals t = test::trace_totals(*source);
  CHECK(t.delivered_sectors == 3 * (2 + 4 + 4) * 64);
  CHECK(t.stored_sectors == 3 * (64 + 1 + 1));
  CHECK(source->launch().buffers.size() == 6);
  CHECK(test::UntimedRun(*source, 2).finishes());
  c.rms = true;
  c.parameters = 1;
  CHECK(test::trace_totals(*make_row_norm(c)).delivered_sectors == 3 * (2 + 4) * 64);
  c.cols = 1023;
  CHECK_THROWS_AS(make_row_norm(c), ModelBug);
}

TEST_CASE("reduce: threads and CTAs as PyTorch plans them", "[workloads][rowwise]") {
  ReduceConfig c;
  c.shape = {65536, 512, true};
  ReducePlan p = plan_reduce(c);
  CHECK(p.block_x == 32);
  CHECK(p.block_y == 16);
  CHECK(p.grid_x == 4096);
  CHECK_FALSE(p.y_reduces);
  c.shape = {1, 1 << 24, true};  // everything: 512 threads, 16M / 512 / 4 values each, the whole GPU
  p = plan_reduce(c);
  CHECK(p.block_x == 512);
  CHECK(p.y_reduces);
  CHECK(p.ctas_per_output == 528);
  c.shape = {4096, 8192, false};  // columns: 32 lanes take outputs, 16 rows of threads the inputs
  p = plan_reduce(c);
  CHECK(p.block_x == 32);
  CHECK(p.block_y == 16);
  CHECK(p.y_reduces);
  CHECK(p.grid_x == 128);
  CHECK(p.ctas_per_output == 5);
}

TEST_CASE("reduce: every input is read once", "[workloads][rowwise]") {
  ReduceConfig c;
  c.shape = GENERATE(ReduceShape{100, 512, true}, ReduceShape{1, 1000000, true}, ReduceShape{512, 4000, false});
  const auto source = make_tensor_reduce(c);
  const std::uint64_t sectors = c.shape.outputs * c.shape.inputs * 4 / 32;
  const std::uint64_t staged =
      source->launch().buffers.size() > 2 ? std::uint64_t{source->launch().grid.x} * source->launch().grid.y : 0;
  const std::uint64_t delivered = test::trace_totals(*source).delivered_sectors;
  CHECK(delivered >= sectors);
  CHECK(delivered <= sectors + 4 * staged + 32);
  CHECK(test::UntimedRun(*source, source->launch().num_ctas() - 1).finishes());
}

TEST_CASE("split-K sum: rows of partial matrices that start off a sector touch one more", "[workloads][rowwise]") {
  SplitKSumConfig c;
  c.rows = 333;
  c.cols = 777;
  c.splits = 12;
  const auto source = make_splitk_sum(c);
  CHECK(source->launch().grid == Dim3{25, 21, 1});
  const test::TraceTotals t = test::trace_totals(*source);
  CHECK(static_cast<double>(t.delivered_sectors) == Approx(475512).epsilon(0.001));  // the profiler's count
  CHECK(t.tensor_insts == 8325);
  CHECK(test::UntimedRun(*source, 524).finishes());
}

TEST_CASE("attention split sums read every part once", "[workloads][rowwise]") {
  AttentionSplitConfig c;
  c.rows = 32;
  const auto flash = make_flash_combine(c);
  CHECK(flash->launch().grid.x == 8);
  CHECK(test::trace_totals(*flash).delivered_sectors == 4 * 32 * 16 + 8 * 4);
  CHECK(test::trace_totals(*flash).stored_sectors == 32 * 8 + 8);
  c.splits = 8;
  const auto lean = make_lean_reduction(c);
  CHECK(lean->launch().grid.y == 32);
  CHECK(test::trace_totals(*lean).delivered_sectors == 8 * 32 * 16 + 32 * 16);
  for (const TraceSource* source : {flash.get(), lean.get()}) CHECK(test::UntimedRun(*source, 0).finishes());
}

TEST_CASE("triangle: only the kept side is read", "[workloads][rowwise]") {
  TriangleConfig c;
  c.rows = c.cols = 1024;
  const auto lower = make_triangle(c);
  CHECK(lower->launch().grid.x == 1024);
  const test::TraceTotals t = test::trace_totals(*lower);
  CHECK(static_cast<double>(t.delivered_sectors) == Approx(8.0 * 32 * 1024 / 2).epsilon(0.05));
  CHECK(t.stored_sectors == 8 * 32 * 1024);
  c.upper = true;
  c.diagonal = 1;
  CHECK(static_cast<double>(test::trace_totals(*make_triangle(c)).delivered_sectors + t.delivered_sectors) ==
        Approx(8.0 * 32 * 1024).epsilon(0.05));
  c.cols = 16;  // rows shorter than a CTA's part: one piece, all of it
  CHECK(test::trace_totals(*make_triangle(c)).stored_sectors == 8 * 1024 * 16 / 32);
  c.rows = c.cols = 256;  // a warp a row: all but the last keep something above the diagonal
  CHECK(test::trace_totals(*make_triangle(c)).warp_insts == 255 * (161 + 129) + 161 + 8);
  CHECK(test::UntimedRun(*lower, 7).finishes());
}

TEST_CASE("rowwise options: every operator builds, problems come together", "[workloads][rowwise]") {
  for (const char* op : {"softmax", "log_softmax", "layer_norm", "rms_norm", "sum", "max", "argmax", "var"}) {
    const BuiltKernel k = rowwise_spec().make({{"rows", "64"}, {"cols", "1000"}, {"operator", op}, {"dtype", "fp16"}},
                                              test::hopper_facts());
    INFO(op);
    CHECK(test::trace_totals(*k.source).delivered_sectors >= 64 * 1000 * 2 / 32);
  }
  const std::string error =
      option_error({{"rows", "0"}, {"cols", "1001"}, {"operator", "layer_norm"}, {"threads", "33"}, {"dtype", "bf61"}});
  CHECK_THAT(error, Catch::Contains("rows") && Catch::Contains("multiples of 4") && Catch::Contains("multiple of 32") &&
                        Catch::Contains("bf16"));
  CHECK_THAT(option_error({{"rows", "2147483648"}, {"cols", "1024"}}), Catch::Contains("GiB"));
}

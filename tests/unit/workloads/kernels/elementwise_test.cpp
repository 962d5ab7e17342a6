/// Streaming elementwise kernels: bytes, ragged ends, lane patterns, options.
#include "workloads/kernels/elementwise.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "tests/support/recorded_rows.hpp"
#include "tests/support/trace_totals.hpp"
#include "tests/unit/workloads/kernels/untimed_run.hpp"
#include "workloads/kernels/elementwise_spec.hpp"

using namespace strata;

namespace {

BuiltKernel build(const KernelOptions& options) { return elementwise_spec().make(options, test::hopper_facts()); }

std::string error_of(const KernelOptions& options) {
  try {
    (void)build(options);
  } catch (const InputError& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("elementwise: each input is read once and the output written once", "[workloads][elementwise]") {
  const std::string inputs = GENERATE("0", "1", "2", "3");
  const std::string dtype = GENERATE("fp32", "bf16", "fp8");
  const BuiltKernel k = build({{"rows", "300"}, {"cols", "1024"}, {"inputs", inputs}, {"dtype", dtype}});
  const test::TraceTotals t = test::trace_totals(*k.source);
  const std::uint64_t sectors = std::uint64_t{300} * 1024 * bits_of(parse_data_type(dtype)) / 8 / 32;
  CHECK(t.delivered_sectors == sectors * std::stoul(inputs));
  CHECK(t.stored_sectors == sectors);
  CHECK(k.source->launch().work.compulsory_read_bytes == Approx(32.0 * static_cast<double>(t.delivered_sectors)));
}

TEST_CASE("elementwise: the last CTA touches only what is left", "[workloads][elementwise]") {
  const BuiltKernel k = build({{"rows", "1"}, {"cols", "1025"}, {"dtype", "fp32"}});
  REQUIRE(k.source->launch().num_ctas() == 2);
  CHECK(test::trace_totals(*k.source).stored_sectors == 128 + 1);
  for (std::uint64_t cta = 0; cta < 2; ++cta) CHECK(test::UntimedRun(*k.source, cta).finishes());
}

TEST_CASE("elementwise: loads of all inputs are issued before the first use", "[workloads][elementwise]") {
  const BuiltKernel k = build({{"rows", "64"}, {"cols", "1024"}, {"inputs", "3"}});
  std::vector<OpKind> kinds;
  std::uint32_t waited = 0;
  test::walk_cta(*k.source, 0, [&](const StreamId&, const Operation& op) {
    kinds.push_back(op.kind);
    if (op.kind == OpKind::kCompute) waited = op.waits[0].count;
  });
  CHECK(kinds ==
        std::vector<OpKind>{OpKind::kMemory, OpKind::kMemory, OpKind::kMemory, OpKind::kCompute, OpKind::kMemory});
  CHECK(waited == 3);
}

TEST_CASE("elementwise: a vector wider than 16 bytes per lane touches its sectors twice", "[workloads][elementwise]") {
  ElementwiseConfig c;
  c.elements = 1 << 20;
  c.inputs = {Operand{.type = DataType::kFp32}};
  c.output = Operand{.type = DataType::kBf16};
  c.vector = 8;
  c.elements_per_thread = 8;
  const test::TraceTotals t = test::trace_totals(*make_elementwise(c));
  CHECK(t.delivered_sectors == 2 * (std::uint64_t{1} << 20) * 4 / 32);
  CHECK(t.stored_sectors == (std::uint64_t{1} << 20) * 2 / 32);
}

TEST_CASE("elementwise: broadcast and permuted operands stay inside their buffers", "[workloads][elementwise]") {
  ElementwiseConfig c;
  c.elements = std::uint64_t{2} * 3 * 40 * 64;
  c.order = ThreadOrder::kStrided;
  c.vector = 1;
  c.elements_per_thread = 4;
  c.inputs = {Operand{.access = OperandAccess::kPermuted, .extent = 64, .inner = 3, .middle = 40},
              Operand{.access = OperandAccess::kPeriodic, .extent = 40 * 64},
              Operand{.access = OperandAccess::kPerRow, .extent = 64}};
  const auto source = make_elementwise(c);
  std::uint64_t read = 0;
  for (std::uint64_t cta = 0; cta < source->launch().num_ctas(); ++cta) {
    test::walk_cta(*source, cta, [&](const StreamId&, const Operation& op) {
      if (op.mem.rows == 0) return;
      const Launch& l = source->launch();
      const std::uint64_t last = op.mem.address + (op.mem.rows - 1) * static_cast<std::uint64_t>(op.mem.row_pitch);
      bool inside = false;
      for (const Buffer& b : l.buffers) inside |= op.mem.address >= b.base && last < b.base + b.bytes;
      CHECK(inside);
      if (op.mem.address < l.buffers[1].base) read += std::uint64_t{op.mem.rows} * op.mem.row_bytes;
    });
  }
  CHECK(read == c.elements * 4);
}

TEST_CASE("elementwise: bad options name the option, the value and what is allowed", "[workloads][elementwise]") {
  CHECK_THAT(error_of({{"rows", "0"}, {"cols", "8"}}), Catch::Contains("rows"));
  CHECK_THAT(error_of({{"rows", "8"}}), Catch::Contains("cols") && Catch::Contains("required"));
  CHECK_THAT(error_of({{"rows", "8"}, {"cols", "8"}, {"inputs", "4"}}), Catch::Contains("inputs"));
  CHECK_THAT(error_of({{"rows", "8"}, {"cols", "8"}, {"vector", "3"}}), Catch::Contains("vector"));
  CHECK_THAT(error_of({{"rows", "8"}, {"cols", "8"}, {"block", "100"}}), Catch::Contains("multiple of 32"));
  CHECK_THAT(error_of({{"rows", "8"}, {"cols", "8"}, {"dtype", "bf"}}), Catch::Contains("dtype"));
  CHECK_THAT(error_of({{"rows", "1000000"}, {"cols", "1000000"}}), Catch::Contains("GiB"));
  CHECK_THAT(error_of({{"rows", "1099511627776"}, {"cols", "1099511627776"}}), Catch::Contains("GiB"));
}

namespace {

/// Instructions that a warp executes in a grid of whole CTAs.
double instructions_per_warp(const ElementwiseConfig& c) {
  const auto source = make_elementwise(c);
  std::uint64_t count = 0;
  test::walk_cta(*source, 0, [&](const StreamId&, const Operation& op) { count += op.warp_insts; });
  return static_cast<double>(count) / 4;
}

}  // namespace

TEST_CASE("elementwise: instructions of a warp are those of PyTorch's kernels", "[workloads][elementwise]") {
  ElementwiseConfig c;
  c.elements = 1 << 20;
  const Operand fp32;
  const Operand bf16{.type = DataType::kBf16};
  SECTION("vectorized: executed counts of sm_90") {
    c.inputs = {fp32, fp32};
    c.functor = Functor::kAdd;
    CHECK(instructions_per_warp(c) == 34);
    c.functor = Functor::kMul;
    CHECK(instructions_per_warp(c) == 33);
    c.inputs = {fp32};  // the other operand is a constant
    CHECK(instructions_per_warp(c) == 29);
    c.vector = 8;
    c.inputs = {bf16, bf16};
    c.output = bf16;
    c.functor = Functor::kAdd;
    CHECK(instructions_per_warp(c) == 59);
    c.inputs = {bf16};
    c.functor = Functor::kSilu;
    CHECK(instructions_per_warp(c) == 194);
    c.inputs = {fp32};
    c.functor = Functor::kCopy;
    CHECK(instructions_per_warp(c) == 23);
  }
  SECTION("strided: by dimensions and operands") {
    c.order = ThreadOrder::kStrided;
    c.vector = 1;
    c.dims = 2;
    c.elements_per_thread = 4;
    c.inputs = {bf16};
    c.output = bf16;
    CHECK(instructions_per_warp(c) == 170);
    c.elements_per_thread = 2;
    CHECK(instructions_per_warp(c) == 90);
    c.functor = Functor::kAdd;
    c.output = fp32;
    c.inputs = {fp32, fp32};
    CHECK(instructions_per_warp(c) == 111);
  }
}

TEST_CASE("elementwise: a cast waits for each load before the next and stores at the end", "[workloads][elementwise]") {
  ElementwiseConfig c;
  c.elements = 512 + 130;
  c.order = ThreadOrder::kUnrolled;
  c.casts = true;
  c.vector = 1;
  c.elements_per_thread = 4;
  c.inputs = {Operand{.type = DataType::kBf16}};
  const auto source = make_elementwise(c);
  std::vector<std::uint32_t> waits;
  std::uint32_t loads = 0;
  std::uint64_t instructions = 0;
  const auto look = [&](const StreamId&, const Operation& op) {
    instructions += op.warp_insts;
    if (op.kind == OpKind::kMemory) loads += op.mem.dir == MemDir::kLoad ? 1 : 0;
    if (op.kind == OpKind::kCompute && op.issue_slots > 0) waits.push_back(op.waits[0].count);
  };
  test::walk_cta(*source, 0, look);
  CHECK(waits == std::vector<std::uint32_t>{1, 2, 3, 4});
  CHECK(static_cast<double>(instructions) / 4 == Approx(207).epsilon(0.005));
  waits.clear();
  test::walk_cta(*source, 1, look);  // 130 elements: the second load is a ragged one
  CHECK(waits == std::vector<std::uint32_t>{1, 2});
  CHECK(test::trace_totals(*source).stored_sectors == (512 + 130) * 4 / 32 + 1);
}

TEST_CASE("elementwise: a transpose repeats with the columns of a line", "[workloads][elementwise]") {
  ElementwiseConfig c;
  c.elements = 4096 * 1024;
  c.order = ThreadOrder::kStrided;
  c.vector = 1;
  c.elements_per_thread = 4;
  c.output = Operand{.type = DataType::kBf16};
  c.inputs = {c.output};
  CHECK(make_elementwise(c)->launch().repeats_every == 1);
  c.inputs[0].access = OperandAccess::kTransposed;
  c.inputs[0].extent = 4096;
  c.inputs[0].inner = 1024;
  CHECK(make_elementwise(c)->launch().repeats_every == 64 * 4096 / 512);
}

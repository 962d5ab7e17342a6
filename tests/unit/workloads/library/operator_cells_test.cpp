#include "workloads/library/operator_cells.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace strata;

namespace {

OperatorArgument bf16(std::vector<std::int64_t> dims, std::vector<std::int64_t> strides = {}) {
  return {std::move(dims), std::move(strides), "c10::BFloat16", ""};
}

OperatorArgument scalar(std::string value) { return {{}, {}, "Scalar", std::move(value)}; }

void expect(const RecordedOperator& op, const std::string& name, const std::string& shape) {
  const OperatorCells cells = cells_of_operator(op);
  CHECK(cells.op == name);
  CHECK(cells.dtype == "bf16");
  CHECK(cells.shape == shape);
}

std::string reason(const RecordedOperator& op) {
  try {
    (void)cells_of_operator(op);
  } catch (const UnsupportedError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("operator cells: matrix products as C = A B in row-major order") {
  // B of torch.mm(x, w.t()) has K contiguous: strides 1, K.
  expect({"aten::mm", {bf16({16, 4096}, {4096, 1}), bf16({4096, 12288}, {1, 4096})}}, "gemm", "16,12288,4096,TN");
  expect({"aten::mm", {bf16({16, 32}), bf16({32, 8})}}, "gemm", "16,8,32,NN");
  expect({"aten::mm", {bf16({16, 32}, {1, 16}), bf16({32, 8}, {8, 1})}}, "gemm", "16,8,32,NT");
  expect({"aten::addmm", {bf16({8}), bf16({16, 32}), bf16({32, 8}, {1, 32})}}, "gemm", "16,8,32,TN");
  expect({"aten::linear", {bf16({2, 16, 32}), bf16({8, 32})}}, "gemm", "32,8,32,TN");
  expect({"aten::bmm", {bf16({4, 16, 32}), bf16({4, 32, 8})}}, "gemm", "4,16,8,32,NN");
  expect({"aten::mv", {bf16({16, 32}), bf16({32})}}, "gemm", "16,1,32,TN");
}

TEST_CASE("operator cells: attentions, whatever the order of heads and sequence") {
  std::vector<OperatorArgument> cudnn{bf16({16, 32, 1, 128}), bf16({16, 8, 2048, 128}), bf16({16, 8, 2048, 128})};
  cudnn.resize(10);
  cudnn.push_back(scalar("False"));
  expect({"aten::_cudnn_attention_forward", cudnn}, "attention", "16,32,8,1,2048,128,0,cudnn");
  std::vector<OperatorArgument> flash{bf16({2, 512, 32, 64}), bf16({2, 1024, 4, 64}), bf16({2, 1024, 4, 64})};
  flash.resize(8);
  flash.push_back(scalar("True"));
  expect({"aten::_flash_attention_forward", flash}, "attention", "2,32,4,512,1024,64,1,flash");
  flash.pop_back();
  CHECK_THAT(reason({"aten::_flash_attention_forward", flash}), Catch::Contains("does not say whether it is causal"));
  const std::vector<OperatorArgument> packed{bf16({512, 32, 64}), bf16({512, 32, 64}), bf16({512, 32, 64})};
  CHECK_THAT(reason({"aten::_flash_attention_forward", packed}), Catch::Contains("packed sequences"));
}

TEST_CASE("operator cells: rows and columns of norms, softmax and elementwise operators") {
  expect({"aten::_fused_rms_norm", {bf16({16, 1, 4096}), scalar("[4096]"), bf16({4096})}}, "rmsnorm", "16,4096");
  expect({"aten::native_layer_norm", {bf16({16, 8, 4}), scalar("[8, 4]")}}, "layernorm", "16,32");
  expect({"aten::_softmax", {bf16({2, 3, 64}), scalar("-1"), scalar("False")}}, "softmax", "6,64");
  CHECK_THAT(reason({"aten::_softmax", {bf16({2, 3, 64}), scalar("1")}}), Catch::Contains("along dimension 1"));
  expect({"aten::mul", {bf16({16, 32, 1, 128}), bf16({1, 128})}}, "mul", "512,128");
  expect({"aten::add_", {bf16({1, 8}), bf16({4, 1, 8}), scalar("1")}}, "add", "4,8");
  expect({"aten::copy_", {bf16({64, 32}, {32, 1}), bf16({64, 32}, {1, 64})}}, "transpose", "64,32");
}

TEST_CASE("operator cells: what is not recorded is said, with what to do") {
  CHECK_THAT(reason({"aten::mm", {}}), Catch::Contains("record_shapes=True"));
  CHECK_THAT(reason({"aten::add", {scalar("1")}}), Catch::Contains("record_shapes=True"));
  CHECK_THAT(reason({"aten::mm", {bf16({16, 32}), bf16({31, 8})}}), Catch::Contains("do not fit"));
  CHECK_THAT(reason({"aten::add", {bf16({16, 0})}}), Catch::Contains("no elements"));
  CHECK_THAT(reason({"aten::add", {bf16({1LL << 40, 1LL << 40})}}), Catch::Contains("2^44"));
}

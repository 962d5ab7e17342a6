#include "workloads/library/name_words.hpp"

#include <array>
#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "workloads/library/gemm_operation.hpp"

using namespace strata;

TEST_CASE("name words: dimensions are numbers joined by x and nothing else", "[workloads][library]") {
  std::array<std::uint32_t, 2> pair{};
  CHECK(parse_dims("128x64", pair));
  CHECK(pair == std::array<std::uint32_t, 2>{128, 64});
  for (const char* bad : {"", "128", "128x", "x64", "128x64x8", "128x0", "128x99999999999", "a128x64", "128x64b"}) {
    INFO(bad);
    CHECK_FALSE(parse_dims(bad, pair));
  }
  CHECK(number_after("stage3", "stage") == 3U);
  CHECK_FALSE(number_after("stages", "stage"));
  CHECK_FALSE(number_after("3", "stage"));
}

TEST_CASE("name words: operand types and pairs of them", "[workloads][library]") {
  CHECK(operand_type("bf16") == DataType::kBf16);
  CHECK(operand_type("tf32") == DataType::kTf32);
  CHECK_FALSE(operand_type("f61"));
  const auto pair = operand_type_pair("tf32f32");
  REQUIRE(pair);
  CHECK(pair->first == DataType::kTf32);
  CHECK(pair->second == DataType::kFp32);
  CHECK(operand_type_pair("i8i32")->second == DataType::kInt32);
  CHECK(operand_type_pair("e4m3bf16")->second == DataType::kBf16);
  CHECK_FALSE(operand_type_pair("f32"));
  CHECK(is_layout("tn"));
  CHECK_FALSE(is_layout("tx"));
}

TEST_CASE("GEMM operations: accumulators, instruction and operands", "[workloads][library]") {
  CHECK(parse_gemm_operation("sgemm", true).instruction.k == 0);
  CHECK(parse_gemm_operation("s16816gemm", true).instruction.k == 16);
  CHECK(parse_gemm_operation("s1688gemm", true).input == DataType::kTf32);
  CHECK(parse_gemm_operation("s1688gemm", false).input == DataType::kFp16);
  CHECK(parse_gemm_operation("h884gemm", false).instruction.k == 4);
  CHECK(parse_gemm_operation("s161616gemm", true).instruction.k == 16);
  CHECK(parse_gemm_operation("i16832gemm", true).output == DataType::kInt32);
  for (const char* bad : {"d884gemm", "s7gemm", "gemm", "cgemm", "s1688f16gemm", "s168gemm"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_gemm_operation(bad, true), UnsupportedError);
  }
}

#include "workloads/library/gemm_operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/error.hpp"
#include "workloads/library/name_words.hpp"

namespace strata {

namespace {

constexpr std::string_view kGemm = "gemm";

/// An instruction written as its three dimensions in a row: 16816 is 16x8x16.
TensorInstruction instruction_of(std::string_view digits) {
  struct Sides {
    std::string_view digits;
    std::uint32_t m;
    std::uint32_t n;
  };
  static constexpr std::array<Sides, 4> kSides{{{"168", 16, 8}, {"1616", 16, 16}, {"328", 32, 8}, {"88", 8, 8}}};
  for (const Sides& sides : kSides) {
    std::array<std::uint32_t, 1> k{};
    if (digits.starts_with(sides.digits) && parse_dims(digits.substr(sides.digits.size()), k) &&
        (k[0] == 4 || k[0] % 8 == 0) && k[0] <= 256) {
      return {sides.m, sides.n, k[0]};
    }
  }
  throw UnsupportedError(fmt::format(
      "instruction '{}' of the name is not modelled; known are 1688, 16816, 16832, 8816 and their like", digits));
}

DataType operands_of(char accumulator, bool ampere) {
  if (accumulator == 'i') {
    return DataType::kInt8;
  }
  return accumulator == 'h' || !ampere ? DataType::kFp16 : DataType::kTf32;
}

}  // namespace

bool is_gemm_operation(std::string_view word) { return word.size() > kGemm.size() && word.ends_with(kGemm); }

GemmOperation parse_gemm_operation(std::string_view word, bool ampere) {
  GemmOperation out;
  if (word == "sgemm") {
    return out;
  }
  const char accumulator = word.front();
  const std::string_view body = word.substr(1, word.size() - kGemm.size() - 1);
  const std::size_t digits = std::min(body.find_first_not_of("0123456789"), body.size());
  if ((accumulator != 's' && accumulator != 'h' && accumulator != 'i') || digits == 0) {
    throw UnsupportedError(fmt::format(
        "operation '{}' of the name is not modelled; expected sgemm, or a tensor-core one with s, h or i accumulators",
        word));
  }
  out.instruction = instruction_of(body.substr(0, digits));
  out.input = operands_of(accumulator, ampere);
  out.output = accumulator == 'i' ? DataType::kInt32 : (accumulator == 'h' ? DataType::kFp16 : DataType::kFp32);
  const std::string_view converted = body.substr(digits);
  if (!converted.empty() && converted != "tf32") {
    throw UnsupportedError(fmt::format("'{}': operands converted to another type in registers are not modelled", word));
  }
  return out;
}

void expect_operands(std::string_view word, const GemmOperation& operation, DataType operands) {
  if (operands == DataType::kInt4) {
    throw UnsupportedError(fmt::format("'{}' of the name: products of int4 are not modelled", word));
  }
  if (operation.instruction.k == 0) {
    if (operands != DataType::kFp32 && operands != DataType::kFp16 && operands != DataType::kBf16) {
      throw UnsupportedError(
          fmt::format("'{}' of the name multiplies in fp32, its operands are {}", word, to_string(operands)));
    }
    return;
  }
  expect_mma_sync(word, operation.instruction, operands);
  const bool integers = operands == DataType::kInt8;
  if (integers != (operation.output == DataType::kInt32) ||
      (operation.output == DataType::kFp16 && operands != DataType::kFp16 && operands != DataType::kFp8)) {
    throw UnsupportedError(fmt::format("'{}' of the name adds up in {}, which no tensor core does of {}", word,
                                       to_string(operation.output), to_string(operands)));
  }
}

}  // namespace strata

#include "workloads/library/gemm_operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/error.hpp"
#include "workloads/library/name_words.hpp"

namespace strata {

namespace {

constexpr std::string_view kGemm = "gemm";

/// K of an instruction written as its three dimensions in a row: 16816 is 16x8x16.
std::uint32_t instruction_k(std::string_view digits) {
  for (const std::string_view mn : {"168", "1616", "328", "88"}) {
    std::array<std::uint32_t, 1> k{};
    if (digits.starts_with(mn) && parse_dims(digits.substr(mn.size()), k) && (k[0] == 4 || k[0] % 8 == 0) &&
        k[0] <= 256) {
      return k[0];
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
  out.mma_k = instruction_k(body.substr(0, digits));
  out.input = operands_of(accumulator, ampere);
  out.output = accumulator == 'i' ? DataType::kInt32 : (accumulator == 'h' ? DataType::kFp16 : DataType::kFp32);
  const std::string_view converted = body.substr(digits);
  if (!converted.empty() && converted != "tf32") {
    throw UnsupportedError(fmt::format("'{}': operands converted to another type in registers are not modelled", word));
  }
  return out;
}

}  // namespace strata

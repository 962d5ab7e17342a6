#include "workloads/library/tensor_instruction.hpp"

#include <fmt/format.h>

#include "sim/base/error.hpp"

namespace strata {

namespace {

bool is_integer(DataType type) { return type == DataType::kInt8 || type == DataType::kInt4; }

bool is_modelled(DataType type) {
  return is_integer(type) || type == DataType::kFp16 || type == DataType::kBf16 || type == DataType::kTf32 ||
         type == DataType::kFp8;
}

/// PTX: mma.m16n8 takes 128 or 256 bits of K, of fp8 256; m8n8 takes 128 bits of integers (its four fp16 are Volta's,
/// emulated since); the shapes of wmma take 16 elements of 16 or 8 bits, and eight of tf32.
bool has_mma_sync(const TensorInstruction& i, DataType type) {
  const std::uint32_t bits = i.k * bits_of(type);
  if (i.m == 16 && i.n == 8) return bits == 256 || (bits == 128 && type != DataType::kFp8);
  if (i.m == 8 && i.n == 8) return is_integer(type) && bits == 128;
  const bool square = i.m == 16 && i.n == 16;
  if (!square && !(i.m == 32 && i.n == 8) && !(i.m == 8 && i.n == 32)) return false;
  if (type == DataType::kTf32) return square && i.k == 8;
  return i.k == 16 && type != DataType::kFp8 && type != DataType::kInt4;
}

}  // namespace

void expect_mma_sync(std::string_view word, const TensorInstruction& instruction, DataType operands) {
  if (!is_modelled(operands)) {
    throw UnsupportedError(
        fmt::format("'{}' of the name: mma.sync of {} operands is not modelled", word, to_string(operands)));
  }
  if (has_mma_sync(instruction, operands)) return;
  throw UnsupportedError(
      fmt::format("'{}' of the name: the tensor cores of Ampere and later have no instruction of {}x{}x{} for {}", word,
                  instruction.m, instruction.n, instruction.k, to_string(operands)));
}

void expect_whole_instructions(const TensorInstruction& i, std::uint32_t tile_m, std::uint32_t tile_n,
                               std::uint32_t tile_k) {
  constexpr std::uint32_t kLeastSide = 8;  // of every instruction; which side is M is the generator's matter
  if (i.k == 0 || (tile_m % kLeastSide == 0 && tile_n % kLeastSide == 0 && tile_k % i.k == 0)) return;
  throw UnsupportedError(fmt::format("instructions of {}x{}x{} do not divide the {}x{}x{} tile of the name", i.m, i.n,
                                     i.k, tile_m, tile_n, tile_k));
}

}  // namespace strata

#include "workloads/spec/launch.hpp"

#include "sim/base/error.hpp"

namespace strata {

std::uint32_t bits_of(DataType t) {
  switch (t) {
    case DataType::kFp64:
      return 64;
    case DataType::kFp32:
    case DataType::kTf32:
    case DataType::kInt32:
      return 32;
    case DataType::kFp16:
    case DataType::kBf16:
      return 16;
    case DataType::kFp8:
    case DataType::kInt8:
    case DataType::kBool:
      return 8;
    case DataType::kInt4:
      return 4;
  }
  throw ModelBug("unknown data type");
}

const char* to_string(DataType t) {
  static constexpr const char* kNames[] = {"fp64", "fp32", "tf32",  "fp16", "bf16",
                                           "fp8",  "int8", "int32", "int4", "bool"};
  return kNames[static_cast<std::size_t>(t)];
}

}  // namespace strata

/// What an elementwise functor costs in instructions, by class.
#pragma once

#include <cstdint>
#include <string_view>

namespace strata {

enum class Functor : std::uint8_t {
  kCopy,
  kFill,
  kAdd,
  kMul,
  kClassify,  ///< isneginf and the like
  kNegate,    ///< abs and square too: one instruction
  kWhere,
  kSilu,
  kGelu,
  kGeluTanh,
  kFma,
  kCompare,
  kClamp,
  kMaximum,
  kDivide,  ///< reciprocal and square root too
  kRsqrt,
  kRound,
  kExp,
  kLog,
  kSine,
  kErf,
  kTanh,
  kSigmoid,
  kLeakyRelu,
  kElu,
  kSoftplus,
  kMish,
  kHardswish,
  kLerp,
  kCube,
  kPower,
  kOther
};

/// Thread instructions per element in fp32 arithmetic, by pipe, loads, stores and type conversions left out.
struct FunctorCost {
  const char* name;
  double fma;
  double alu;
  double mufu;
  double fp32_flops;      ///< useful floating-point operations, for the roofline
  double scalars = 0;     ///< constants that a thread loads once
  double fp16_moves = 0;  ///< constants per element that the FP16 pipe moves, part of `fma`
  double narrow = 0;      ///< beside, for each operand of 16 bits
};

[[nodiscard]] const FunctorCost& cost_of(Functor f);

/// The class of a PyTorch functor name ("CUDAFunctor_add<float>", "silu_kernel(...)...", "FillFunctor<bool>", ...) or
/// of an option text ("add", "gelu"); kOther when unknown.
[[nodiscard]] Functor functor_class(std::string_view name);

}  // namespace strata

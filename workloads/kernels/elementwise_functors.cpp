#include "workloads/kernels/elementwise_functors.hpp"

#include <array>
#include <cctype>

#include "sim/base/error.hpp"

namespace strata {
namespace {

// Counted in the SASS (sm_90) of PyTorch's kernels, calibration rows. classify: isneginf, two comparisons, selections
// and merging of four bytes, 23 instructions for 8 elements. where: the comparison and the choice of one operand. silu:
// x / (1 + exp(-x)) with the full-precision division, whose range check is a special-function instruction, and the
// branch to its slow path. gelu: erff's two polynomials, 207 instructions for 8 elements; their split is inferred.
// From the second block on: executed instructions of 4096 x 4096 in fp32 and bf16 (PyTorch 2.11, H200,
// `launches.py --set functors`) less those of loads, stores, conversions and addresses; the split over pipes is
// inferred.
constexpr std::array kCosts = {
    FunctorCost{"copy", 0, 0, 0, 0},
    FunctorCost{"fill", 0, 0, 0, 0},
    FunctorCost{"add", 1, 0, 0, 1, 1},  // alpha
    FunctorCost{"mul", 1, 0, 0, 1},
    FunctorCost{"classify", 0, 2.875, 0, 0},
    FunctorCost{"negate", 0, 1, 0, 1},
    FunctorCost{"where", 0, 2, 0, 0},
    FunctorCost{"silu", 12, 5, 3, 4, 0, 1},
    FunctorCost{"gelu", 14, 10.875, 1, 20, 0, 0.25},
    FunctorCost{"gelu tanh", 15.25, 5, 2, 20},
    FunctorCost{"fma", 1, 0, 0, 2, 1},

    FunctorCost{"compare", 0, 4.2, 0, 1, 0, 0, 1.7},
    FunctorCost{"clamp", 0, 3.6, 0, 1, 0, 0, 2.1},
    FunctorCost{"maximum", 0, 8, 0, 1, 0, 0, 1.2},
    FunctorCost{"divide", 5, 4, 1, 1},
    FunctorCost{"rsqrt", 1, 2, 1, 1},
    FunctorCost{"round", 0, 0, 1, 1},
    FunctorCost{"exp", 6.25, 1, 1, 1},
    FunctorCost{"log", 14.6, 10.5, 0, 12},
    FunctorCost{"sine", 17, 8.5, 0, 12},
    FunctorCost{"erf", 9.9, 11, 1, 16},
    FunctorCost{"tanh", 8, 5.3, 2, 6},
    FunctorCost{"sigmoid", 13.8, 3.8, 2, 4},
    FunctorCost{"leaky relu", 1, 1.1, 0, 1},
    FunctorCost{"elu", 26.7, 12.3, 2, 6},
    FunctorCost{"softplus", 32, 17.5, 3, 8},
    FunctorCost{"mish", 33.75, 12, 3, 8},
    FunctorCost{"hardswish", 4, 3.25, 0, 4},
    FunctorCost{"lerp", 2, 0.5, 0, 2},
    FunctorCost{"cube", 2, 0, 0, 2, 0, 0, 2},
    FunctorCost{"power", 50, 27, 3, 10},
    FunctorCost{"other", 2, 2, 0, 2},
};

struct Pattern {
  std::string_view text;
  Functor functor;
  bool begins = false;  ///< only at the beginning of an identifier: "asin_kernel" is no "sin_kernel"
};

/// Searched in order: a name that holds several is what the first of them says.
constexpr std::array kPatterns = {
    // PyTorch's functions hold a lambda for each case; the tanh approximation is the first.
    Pattern{"GeluCUDAKernelImpl(at::TensorIteratorBase&, at::GeluType)::[lambda()(instance 1)]", Functor::kGeluTanh},
    Pattern{"GeluCUDAKernelImpl(TensorIteratorBase&, GeluType)::[lambda()(instance 1)]", Functor::kGeluTanh},
    Pattern{"gelu_tanh", Functor::kGeluTanh},
    Pattern{"GeluCUDAKernelImpl", Functor::kGelu},
    Pattern{"gelu", Functor::kGelu},
    Pattern{"silu", Functor::kSilu},
    Pattern{"masked_fill", Functor::kWhere},
    Pattern{"where_kernel", Functor::kWhere},
    Pattern{"where", Functor::kWhere},
    Pattern{"FillFunctor", Functor::kFill},
    Pattern{"fill", Functor::kFill},
    Pattern{"leaky_relu", Functor::kLeakyRelu},
    Pattern{"launch_clamp", Functor::kClamp},
    Pattern{"clamp", Functor::kClamp, true},
    Pattern{"relu", Functor::kClamp, true},
    Pattern{"elu_kernel", Functor::kElu, true},
    Pattern{"softplus_kernel", Functor::kSoftplus, true},
    Pattern{"mish_kernel", Functor::kMish, true},
    Pattern{"hardswish_kernel", Functor::kHardswish, true},
    Pattern{"lerp_", Functor::kLerp, true},
    Pattern{"DivFunctor", Functor::kDivide, true},
    Pattern{"div", Functor::kDivide, true},
    Pattern{"reciprocal", Functor::kDivide, true},
    Pattern{"sqrt", Functor::kDivide, true},
    Pattern{"rsqrt", Functor::kRsqrt, true},
    Pattern{"maximum", Functor::kMaximum, true},
    Pattern{"minimum", Functor::kMaximum, true},
    Pattern{"floor_kernel", Functor::kRound, true},
    Pattern{"ceil_kernel", Functor::kRound, true},
    Pattern{"round_kernel", Functor::kRound, true},
    Pattern{"trunc_kernel", Functor::kRound, true},
    Pattern{"sigmoid", Functor::kSigmoid, true},
    Pattern{"tanh", Functor::kTanh, true},
    Pattern{"erf_kernel", Functor::kErf, true},
    Pattern{"sin_kernel", Functor::kSine, true},
    Pattern{"cos_kernel", Functor::kSine, true},
    Pattern{"exp_kernel", Functor::kExp, true},
    Pattern{"log_kernel", Functor::kLog, true},
    Pattern{"AbsFunctor", Functor::kNegate, true},
    Pattern{"MulFunctor", Functor::kMul},
    Pattern{"CUDAFunctor_add", Functor::kAdd},
    Pattern{"CUDAFunctorOnSelf_add", Functor::kAdd},
    Pattern{"CUDAFunctorOnOther_add", Functor::kAdd},
    Pattern{"addcmul", Functor::kFma},
    Pattern{"fma", Functor::kFma},
    Pattern{"mul", Functor::kMul},
    Pattern{"add", Functor::kAdd},
    Pattern{"isneginf", Functor::kClassify},
    Pattern{"isposinf", Functor::kClassify},
    Pattern{"Compare", Functor::kCompare},
    Pattern{"compare", Functor::kCompare},
    Pattern{"neg_kernel", Functor::kNegate},
    Pattern{"negate", Functor::kNegate},
    Pattern{"copy", Functor::kCopy},
};

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool holds(std::string_view name, const Pattern& p) {
  for (std::size_t at = name.find(p.text); at != std::string_view::npos; at = name.find(p.text, at + 1)) {
    if (!p.begins || at == 0 || !is_letter(name[at - 1])) return true;
  }
  return false;
}

/// x^2 and x^3 have kernels of their own, the first two lambdas of the function; 1/x^2 is the third.
Functor power_of(std::string_view name) {
  if (name.find("(instance 1)]") != std::string_view::npos) return Functor::kNegate;
  if (name.find("(instance 2)]") != std::string_view::npos) return Functor::kCube;
  return name.find("(instance 3)]") != std::string_view::npos ? Functor::kDivide : Functor::kPower;
}

}  // namespace

const FunctorCost& cost_of(Functor f) {
  const auto i = static_cast<std::size_t>(f);
  if (i >= kCosts.size()) throw ModelBug("unknown elementwise functor");
  return kCosts[i];
}

Functor functor_class(std::string_view name) {
  if (name.find("pow_tensor_scalar_kernel_impl") != std::string_view::npos) return power_of(name);
  for (const Pattern& p : kPatterns) {
    if (holds(name, p)) return p.functor;
  }
  return Functor::kOther;
}

}  // namespace strata

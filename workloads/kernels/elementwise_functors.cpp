#include "workloads/kernels/elementwise_functors.hpp"

#include <array>

#include "sim/base/error.hpp"

namespace strata {
namespace {

// Counted in the SASS (sm_90) of PyTorch's kernels, calibration rows. compare: isneginf, two comparisons, selections
// and merging of four bytes, 23 instructions for 8 elements. where: the comparison and the choice of one operand. silu:
// x / (1 + exp(-x)) with the full-precision division, whose range check is a special-function instruction, and the
// branch to its slow path. gelu: erff's two polynomials, 207 instructions for 8 elements; their split is inferred.
constexpr std::array kCosts = {
    FunctorCost{"copy", 0, 0, 0, 0},        FunctorCost{"fill", 0, 0, 0, 0},
    FunctorCost{"add", 1, 0, 0, 1, 1},  // alpha
    FunctorCost{"mul", 1, 0, 0, 1},         FunctorCost{"compare", 0, 2.875, 0, 0},
    FunctorCost{"negate", 0, 1, 0, 1},      FunctorCost{"where", 0, 2, 0, 0},
    FunctorCost{"silu", 12, 5, 3, 4, 0, 1}, FunctorCost{"gelu", 14, 10.875, 1, 20, 0, 0.25},
    FunctorCost{"fma", 1, 0, 0, 2, 1},      FunctorCost{"other", 2, 2, 0, 2},
};

struct Pattern {
  std::string_view text;
  Functor functor;
};

/// Searched in order: a name that holds several is what the first of them says.
constexpr std::array kPatterns = {
    Pattern{"GeluCUDAKernelImpl", Functor::kGelu},
    Pattern{"gelu", Functor::kGelu},
    Pattern{"silu", Functor::kSilu},
    Pattern{"where_kernel", Functor::kWhere},
    Pattern{"where", Functor::kWhere},
    Pattern{"FillFunctor", Functor::kFill},
    Pattern{"fill", Functor::kFill},
    Pattern{"MulFunctor", Functor::kMul},
    Pattern{"mul", Functor::kMul},
    Pattern{"CUDAFunctor_add", Functor::kAdd},
    Pattern{"CUDAFunctorOnSelf_add", Functor::kAdd},
    Pattern{"CUDAFunctorOnOther_add", Functor::kAdd},
    Pattern{"add", Functor::kAdd},
    Pattern{"isneginf", Functor::kCompare},
    Pattern{"isposinf", Functor::kCompare},
    Pattern{"Compare", Functor::kCompare},
    Pattern{"compare", Functor::kCompare},
    Pattern{"neg_kernel", Functor::kNegate},
    Pattern{"negate", Functor::kNegate},
    Pattern{"addcmul", Functor::kFma},
    Pattern{"fma", Functor::kFma},
    Pattern{"copy", Functor::kCopy},
};

}  // namespace

const FunctorCost& cost_of(Functor f) {
  const auto i = static_cast<std::size_t>(f);
  if (i >= kCosts.size()) throw ModelBug("unknown elementwise functor");
  return kCosts[i];
}

Functor functor_class(std::string_view name) {
  for (const Pattern& p : kPatterns) {
    if (name.find(p.text) != std::string_view::npos) return p.functor;
  }
  return Functor::kOther;
}

}  // namespace strata

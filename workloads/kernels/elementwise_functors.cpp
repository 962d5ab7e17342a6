#include "workloads/kernels/elementwise_functors.hpp"

#include <array>

#include "sim/base/error.hpp"

namespace strata {
namespace {

// Origins. copy, fill, mul: nothing or one instruction. compare: isneginf on fp32 takes 43 warp instructions for 8
// elements; 4 loads and stores and 17 of set-up leave 22. add: 59 for 8 bf16 elements; 3 loads and stores, 17 of set-up
// and 20 of conversion leave 19 (alpha and its conversion). where: 7 more than an add of the strided kernel. All from
// calibration rows of PyTorch's kernels. silu and gelu: inferred from the arithmetic, x / (1 + exp(-x)) with the
// full-precision division and x * normcdf(x) through erff's two polynomials.
constexpr std::array kCosts = {
    FunctorCost{"copy", 0, 0, 0, 0},    FunctorCost{"fill", 0, 0, 0, 0},       FunctorCost{"add", 1, 1.375, 0, 1},
    FunctorCost{"mul", 1, 0, 0, 1},     FunctorCost{"compare", 0, 2.75, 0, 0}, FunctorCost{"negate", 0, 1, 0, 1},
    FunctorCost{"where", 0, 6.5, 0, 0}, FunctorCost{"silu", 8, 6, 2, 4},       FunctorCost{"gelu", 14, 12, 1, 20},
    FunctorCost{"fma", 1, 0, 0, 2},     FunctorCost{"other", 2, 2, 0, 2},
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

// Activations, bias and residual: one 16-byte vector a thread (vN), or one element (v1).
//
// Teaches: kernels that only move bytes, what vector width is worth, and what fusion saves: `bias` then `gelu` read and
// write the matrix twice, `bias_gelu` once.
#include <cmath>

#include "../common/convert.cuh"
#include "block.hpp"
#include "rows.hpp"

namespace ladder {

namespace {

constexpr int kThreads = 256;

constexpr float kGeluScale = 0.7978845608f, kGeluCubic = 0.044715f;

/// GELU by tanh, as most models use it: 0.5 x (1 + tanh(u)) = x / (1 + exp(-2 u)). No branch depends on the data.
__device__ __forceinline__ float gelu(float x) {
  const float inner = kGeluScale * (x + kGeluCubic * x * x * x);
  return __fdividef(x, 1.0f + __expf(-2.0f * inner));
}
__device__ __forceinline__ float silu(float x) { return __fdividef(x, 1.0f + __expf(-x)); }
double gelu_exactly(double x) {
  return 0.5 * x * (1 + std::tanh(double(kGeluScale) * (x + double(kGeluCubic) * x * x * x)));
}
double silu_exactly(double x) { return x / (1 + std::exp(-x)); }

/// One operation: x is a matrix; y a second matrix (BINARY), or a vector of one row (BIAS).
struct Gelu {
  static constexpr bool kBinary = false, kBias = false;
  __device__ static float apply(float x, float) { return gelu(x); }
  static double exactly(double x, double) { return gelu_exactly(x); }
};
struct Silu {
  static constexpr bool kBinary = false, kBias = false;
  __device__ static float apply(float x, float) { return silu(x); }
  static double exactly(double x, double) { return silu_exactly(x); }
};
struct Geglu {
  static constexpr bool kBinary = true, kBias = false;
  __device__ static float apply(float x, float y) { return gelu(x) * y; }
  static double exactly(double x, double y) { return gelu_exactly(x) * y; }
};
struct Swiglu {
  static constexpr bool kBinary = true, kBias = false;
  __device__ static float apply(float x, float y) { return silu(x) * y; }
  static double exactly(double x, double y) { return silu_exactly(x) * y; }
};
struct Residual {
  static constexpr bool kBinary = true, kBias = false;
  __device__ static float apply(float x, float y) { return x + y; }
  static double exactly(double x, double y) { return x + y; }
};
struct Bias {
  static constexpr bool kBinary = false, kBias = true;
  __device__ static float apply(float x, float y) { return x + y; }
  static double exactly(double x, double y) { return x + y; }
};
struct BiasGelu {
  static constexpr bool kBinary = false, kBias = true;
  __device__ static float apply(float x, float y) { return gelu(x + y); }
  static double exactly(double x, double y) { return gelu_exactly(x + y); }
};

template <class T>
struct ElementArgs {
  const T *x, *y;
  T* out;
  unsigned count, cols;
};

template <class Op, class T, int WIDE>
__device__ __forceinline__ void elementwise(const ElementArgs<T>& p) {
  using Piece = Vector<T, WIDE>;
  const unsigned at = (blockIdx.x * kThreads + threadIdx.x) * WIDE;
  if (at >= p.count) return;
  const Piece x = *reinterpret_cast<const Piece*>(p.x + at);
  Piece y = {};
  if constexpr (Op::kBinary) y = *reinterpret_cast<const Piece*>(p.y + at);
  if constexpr (Op::kBias) y = *reinterpret_cast<const Piece*>(p.y + at % p.cols);
  Piece out;
#pragma unroll
  for (int i = 0; i < WIDE; ++i) out.v[i] = from_float<T>(Op::apply(to_float(x.v[i]), to_float(y.v[i])));
  *reinterpret_cast<Piece*>(p.out + at) = out;
}

template <class Op, class T>
Problem make_elementwise(const char* name, Type type, int wide, void (*kernel)(ElementArgs<T>), const Shape& shape) {
  const RowsCols rc = rows_cols(shape);
  require(rc.cols % std::size_t(wide) == 0, "cols must be a multiple of " + std::to_string(wide));
  Problem problem = rows_problem(rc, type, Op::kBinary ? 3 : 2);
  const TensorPtr x = Tensor::random(type, rc.count(), 3), out = Tensor::output(type, rc.count());
  TensorPtr y;
  if (Op::kBinary) y = Tensor::random(type, rc.count(), 3);
  if (Op::kBias) y = Tensor::random(type, rc.cols, 3);
  problem.tensors = {x, y};
  auto value = [=](std::size_t row, std::size_t col) {
    const std::size_t at = row * rc.cols + col;
    return Op::exactly(x->value(at), Op::kBias ? y->value(col) : Op::kBinary ? y->value(at) : 0.0);
  };
  problem.outputs.push_back(element_output(out, rc, value, 10));
  const ElementArgs<T> args{x->data<T>(), y ? y->data<T>() : nullptr, out->data<T>(), unsigned(rc.count()),
                            unsigned(rc.cols)};
  const unsigned per_cta = unsigned(kThreads * wide);
  problem.plan.add(name, kernel, Geometry{dim3(unsigned((rc.count() + per_cta - 1) / per_cta)), dim3(kThreads)}, args);
  return problem;
}

}  // namespace

#define ELEMENTWISE_TYPES(X, name, Op, teaches) \
  X(name, Op, 4, f32, float, teaches)           \
  X(name, Op, 1, f32, float, teaches)           \
  X(name, Op, 8, bf16, __nv_bfloat16, teaches)
#define ELEMENTWISE_ALL(X)                                                                \
  ELEMENTWISE_TYPES(X, gelu, Gelu, "GELU (tanh)")                                         \
  ELEMENTWISE_TYPES(X, silu, Silu, "SiLU")                                                \
  ELEMENTWISE_TYPES(X, geglu, Geglu, "GELU of one matrix times another")                  \
  ELEMENTWISE_TYPES(X, swiglu, Swiglu, "SiLU of one matrix times another")                \
  ELEMENTWISE_TYPES(X, residual, Residual, "sum of two matrices: two reads to one write") \
  ELEMENTWISE_TYPES(X, bias, Bias, "a row vector added to every row")                     \
  ELEMENTWISE_TYPES(X, bias_gelu, BiasGelu, "bias and GELU in one pass over memory")

#define ELEMENTWISE(name, Op, wide, type, T, teaches)                                                         \
  extern "C" __global__ void __launch_bounds__(kThreads) strata_##name##_v##wide##_##type(ElementArgs<T> p) { \
    elementwise<Op, T, wide>(p);                                                                              \
  }
ELEMENTWISE_ALL(ELEMENTWISE)

void add_elementwise(Catalogue& catalogue) {
#define ADD(name, Op, wide, type, T, teaches)                                                                         \
  catalogue.push_back({"strata_" #name "_v" #wide "_" #type, #name, type_name(Type::type), teaches, rows_cols_keys(), \
                       [](const Shape& shape) {                                                                       \
                         return make_elementwise<Op, T>("strata_" #name "_v" #wide "_" #type, Type::type, wide,       \
                                                        strata_##name##_v##wide##_##type, shape);                     \
                       }});
  ELEMENTWISE_ALL(ADD)
#undef ADD
}

}  // namespace ladder

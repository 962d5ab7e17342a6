// Rotary embedding: turns pairs (i, i + d/2) of every head by an angle that grows with the token's position.
//
// Teaches: a table shared by all heads comes from cache, the tensor from HBM. A thread turns one vector of each half.
#include <cmath>

#include "../common/convert.cuh"
#include "block.hpp"
#include "rows.hpp"

namespace ladder {

namespace {

constexpr int kThreads = 256;

template <class T>
struct RotaryArgs {
  const T* x;              // [tokens][heads][d]
  const float *cos, *sin;  // [tokens][d / 2]
  T* out;
  int tokens, heads, d;
};

template <class T, int WIDE>
__device__ __forceinline__ void rotary(const RotaryArgs<T>& p) {
  using Piece = Vector<T, WIDE>;
  const int half = p.d / 2, pieces = half / WIDE;
  const int at = blockIdx.x * kThreads + threadIdx.x;
  if (at >= p.tokens * p.heads * pieces) return;
  const int col = at % pieces * WIDE, head_row = at / pieces, token = head_row / p.heads;
  const T* x = p.x + size_t(head_row) * p.d + col;
  T* out = p.out + size_t(head_row) * p.d + col;
  const Piece low = *reinterpret_cast<const Piece*>(x), high = *reinterpret_cast<const Piece*>(x + half);
  Piece new_low, new_high;
#pragma unroll
  for (int part = 0; part < WIDE; part += 4) {
    const size_t entry = size_t(token) * half + col + part;
    const float4 c = *reinterpret_cast<const float4*>(p.cos + entry),
                 s = *reinterpret_cast<const float4*>(p.sin + entry);
    const float cs[4] = {c.x, c.y, c.z, c.w}, sn[4] = {s.x, s.y, s.z, s.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float a = to_float(low.v[part + i]), b = to_float(high.v[part + i]);
      new_low.v[part + i] = from_float<T>(a * cs[i] - b * sn[i]);
      new_high.v[part + i] = from_float<T>(b * cs[i] + a * sn[i]);
    }
  }
  *reinterpret_cast<Piece*>(out) = new_low;
  *reinterpret_cast<Piece*>(out + half) = new_high;
}

/// cos or sin of token * 10000^(-2 i / d), as [tokens][d / 2].
TensorPtr angle_table(long tokens, long d, double (*f)(double)) {
  std::vector<double> values;
  values.reserve(std::size_t(tokens * d / 2));
  for (long token = 0; token < tokens; ++token)
    for (long i = 0; i < d / 2; ++i)
      values.push_back(f(double(token) * std::pow(10000.0, -2.0 * double(i) / double(d))));
  return Tensor::of(Type::f32, values);
}

template <class T>
Problem make_rotary(const char* name, Type type, int wide, void (*kernel)(RotaryArgs<T>), const Shape& shape) {
  const long tokens = shape.size("tokens"), heads = shape.size("heads"), d = shape.size("d");
  require(d % (2 * wide) == 0, "d must be a multiple of " + std::to_string(2 * wide));
  const RowsCols rc{std::size_t(tokens * heads), std::size_t(d)};
  require(rc.count() < (std::size_t{1} << 31), "tokens x heads x d must be under 2^31");
  Problem problem = rows_problem(rc, type, 2);
  problem.shape = std::to_string(tokens) + "," + std::to_string(heads) + "," + std::to_string(d);
  problem.bytes += double(tokens * d) * 4;
  const TensorPtr x = Tensor::random(type, rc.count()), out = Tensor::output(type, rc.count());
  const TensorPtr cosines = angle_table(tokens, d, std::cos), sines = angle_table(tokens, d, std::sin);
  problem.tensors = {x, cosines, sines};
  auto value = [=](std::size_t row, std::size_t col) {
    const auto half = std::size_t(d / 2), i = col % half;
    const std::size_t entry = row / std::size_t(heads) * half + i, first = row * std::size_t(d);
    const double low = x->value(first + i), high = x->value(first + half + i);
    const double c = cosines->value(entry), s = sines->value(entry);
    return col < half ? low * c - high * s : high * c + low * s;
  };
  problem.outputs.push_back(element_output(out, rc, value, 10));
  const long threads = tokens * heads * (d / 2 / wide);
  const RotaryArgs<T> args{
      x->data<T>(), cosines->data<float>(), sines->data<float>(), out->data<T>(), int(tokens), int(heads), int(d)};
  problem.plan.add(name, kernel, Geometry{dim3(unsigned((threads + kThreads - 1) / kThreads)), dim3(kThreads)}, args);
  return problem;
}

}  // namespace

#define ROTARY(wide, type, T)                                                                              \
  extern "C" __global__ void __launch_bounds__(kThreads) strata_rotary_v##wide##_##type(RotaryArgs<T> p) { \
    rotary<T, wide>(p);                                                                                    \
  }
ROTARY(4, f32, float)
ROTARY(8, bf16, __nv_bfloat16)

void add_rotary(Catalogue& catalogue) {
#define ADD(wide, type, T)                                                                                    \
  catalogue.push_back({"strata_rotary_v" #wide "_" #type,                                                     \
                       "rotary",                                                                              \
                       type_name(Type::type),                                                                 \
                       "rotary embedding, halves apart, angles from a table",                                 \
                       {{"tokens", 4096, "positions"}, {"heads", 32, "heads"}, {"d", 128, "head dimension"}}, \
                       [](const Shape& shape) {                                                               \
                         return make_rotary("strata_rotary_v" #wide "_" #type, Type::type, wide,              \
                                            strata_rotary_v##wide##_##type, shape);                           \
                       }});
  ADD(4, f32, float)
  ADD(8, bf16, __nv_bfloat16)
#undef ADD
}

}  // namespace ladder

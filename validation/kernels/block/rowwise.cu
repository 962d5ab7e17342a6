// Softmax and norms: one CTA of 256 threads a row.
//
// Teaches: a reduction over a row costs passes over memory. `3pass` reads the row from global memory for the maximum,
// for the sum and for the result; `smem` reads it once and keeps it in shared memory as fp32. `residual_` variants add
// a second input first and write the sum as well: what fusing the residual connection into the norm saves. vN: elements
// that a thread reads at once (16 bytes, or 1: any number of columns).
#include "../common/convert.cuh"
#include "../common/reduce.cuh"
#include "block.hpp"
#include "rows.hpp"

namespace ladder {

namespace {

constexpr int kThreads = 256;
constexpr float kEpsilon = 1e-5f;

template <class T>
struct RowArgs {
  const T *x, *residual, *gain, *shift;
  T *y, *sum;
  int cols;
};

enum class Norm { softmax, layer, rms };

/// Calls f(column, vector) for the thread's pieces of a row.
template <int WIDE, class F>
__device__ __forceinline__ void for_pieces(int cols, F f) {
  for (int col = threadIdx.x * WIDE; col < cols; col += kThreads * WIDE) f(col);
}

/// Softmax that reads its row three times.
template <class T, int WIDE>
__device__ __forceinline__ void softmax_3pass(const RowArgs<T>& p) {
  using Piece = Vector<T, WIDE>;
  __shared__ float scratch[kThreads / 32];
  const T* x = p.x + size_t(blockIdx.x) * p.cols;
  float largest = Max::kNeutral;
  for_pieces<WIDE>(p.cols, [&](int col) {
    const Piece v = *reinterpret_cast<const Piece*>(x + col);
#pragma unroll
    for (int i = 0; i < WIDE; ++i) largest = fmaxf(largest, to_float(v.v[i]));
  });
  largest = reduce_cta<Max, kThreads>(largest, scratch);
  float sum = 0;
  for_pieces<WIDE>(p.cols, [&](int col) {
    const Piece v = *reinterpret_cast<const Piece*>(x + col);
#pragma unroll
    for (int i = 0; i < WIDE; ++i) sum += __expf(to_float(v.v[i]) - largest);
  });
  const float scale = 1.0f / reduce_cta<Add, kThreads>(sum, scratch);
  for_pieces<WIDE>(p.cols, [&](int col) {
    Piece v = *reinterpret_cast<const Piece*>(x + col);
#pragma unroll
    for (int i = 0; i < WIDE; ++i) v.v[i] = from_float<T>(__expf(to_float(v.v[i]) - largest) * scale);
    *reinterpret_cast<Piece*>(p.y + size_t(blockIdx.x) * p.cols + col) = v;
  });
}

/// Reads the row (and adds the residual, and writes the sum) into shared memory. Only this thread reads its pieces
/// again.
template <class T, int WIDE, bool RESIDUAL>
__device__ __forceinline__ void read_row(const RowArgs<T>& p, float* row) {
  using Piece = Vector<T, WIDE>;
  const size_t first = size_t(blockIdx.x) * p.cols;
  for_pieces<WIDE>(p.cols, [&](int col) {
    Piece v = *reinterpret_cast<const Piece*>(p.x + first + col);
    if constexpr (RESIDUAL) {
      const Piece r = *reinterpret_cast<const Piece*>(p.residual + first + col);
#pragma unroll
      for (int i = 0; i < WIDE; ++i) v.v[i] = from_float<T>(to_float(v.v[i]) + to_float(r.v[i]));
      *reinterpret_cast<Piece*>(p.sum + first + col) = v;
    }
#pragma unroll
    for (int i = 0; i < WIDE; ++i) row[col + i] = to_float(v.v[i]);
  });
}

/// The two numbers that turn an element into its result: (x - centre) * scale, or exp(x - centre) * scale.
template <Norm NORM, int WIDE>
__device__ __forceinline__ float2 row_statistics(float* row, int cols) {
  __shared__ float scratch[kThreads / 32];
  float centre = 0;
  if constexpr (NORM == Norm::softmax) {
    centre = Max::kNeutral;
    for_pieces<WIDE>(cols, [&](int col) {
#pragma unroll
      for (int i = 0; i < WIDE; ++i) centre = fmaxf(centre, row[col + i]);
    });
    centre = reduce_cta<Max, kThreads>(centre, scratch);
  }
  if constexpr (NORM == Norm::layer) {
    for_pieces<WIDE>(cols, [&](int col) {
#pragma unroll
      for (int i = 0; i < WIDE; ++i) centre += row[col + i];
    });
    centre = reduce_cta<Add, kThreads>(centre, scratch) / cols;
  }
  float sum = 0;
  for_pieces<WIDE>(cols, [&](int col) {
#pragma unroll
    for (int i = 0; i < WIDE; ++i) {
      const float x = row[col + i] - centre;
      if constexpr (NORM == Norm::softmax) row[col + i] = __expf(x);
      sum += NORM == Norm::softmax ? row[col + i] : x * x;
    }
  });
  sum = reduce_cta<Add, kThreads>(sum, scratch);
  return make_float2(centre, NORM == Norm::softmax ? 1.0f / sum : rsqrtf(sum / cols + kEpsilon));
}

template <Norm NORM, class T, int WIDE, bool RESIDUAL>
__device__ __forceinline__ void normalise_row(const RowArgs<T>& p) {
  using Piece = Vector<T, WIDE>;
  extern __shared__ __align__(16) float row[];
  read_row<T, WIDE, RESIDUAL>(p, row);
  const float2 s = row_statistics<NORM, WIDE>(row, p.cols);
  for_pieces<WIDE>(p.cols, [&](int col) {
    Piece out, gain, shift;
    if constexpr (NORM != Norm::softmax) gain = *reinterpret_cast<const Piece*>(p.gain + col);
    if constexpr (NORM == Norm::layer) shift = *reinterpret_cast<const Piece*>(p.shift + col);
#pragma unroll
    for (int i = 0; i < WIDE; ++i) {
      float y = NORM == Norm::softmax ? row[col + i] * s.y : (row[col + i] - s.x) * s.y;
      if constexpr (NORM != Norm::softmax) y *= to_float(gain.v[i]);
      if constexpr (NORM == Norm::layer) y += to_float(shift.v[i]);
      out.v[i] = from_float<T>(y);
    }
    *reinterpret_cast<Piece*>(p.y + size_t(blockIdx.x) * p.cols + col) = out;
  });
}

// ---- host side -----------------------------------------------------------------------------------------------------

struct RowTensors {
  TensorPtr x, residual, gain, shift, y, sum;
  /// The row's input, residual added and rounded as the kernel rounds it.
  [[nodiscard]] double input(std::size_t i) const {
    const double x_i = x->value(i);
    return residual ? x_i + residual->value(i) : x_i;
  }
};

Output norm_output(const RowTensors& t, const RowsCols& rc, Norm norm) {
  Output output;
  output.tensor = t.y;
  output.rows = rc.rows;
  output.cols = rc.cols;
  output.cost_per_row = 4.0 * double(rc.cols);
  output.cost_per_element = 4;
  output.reference = [=](std::size_t row, std::span<const std::size_t> cols, double* values) {
    std::vector<double> x(rc.cols);
    double centre = norm == Norm::softmax ? -1e300 : 0, sum = 0;
    for (std::size_t i = 0; i < rc.cols; ++i) {
      x[i] = t.input(row * rc.cols + i);
      if (norm == Norm::softmax) centre = std::max(centre, x[i]);
      if (norm == Norm::layer) centre += x[i] / double(rc.cols);
    }
    for (const double v : x) sum += norm == Norm::softmax ? std::exp(v - centre) : (v - centre) * (v - centre);
    const double scale = norm == Norm::softmax ? 1 / sum : 1 / std::sqrt(sum / double(rc.cols) + double(kEpsilon));
    for (std::size_t i = 0; i < cols.size(); ++i) {
      const double v = x[cols[i]] - centre;
      values[i] = norm == Norm::softmax ? std::exp(v) * scale : v * scale * t.gain->value(cols[i]);
      if (norm == Norm::layer) values[i] += t.shift->value(cols[i]);
    }
  };
  return output;
}

struct RowKind {
  const char* name;
  const char* op;
  const char* teaches;
  Norm norm;
  Type type;
  int wide;
  bool residual, in_shared;
};

template <class T>
Problem make_rowwise(const RowKind& kind, void (*kernel)(RowArgs<T>), const Shape& shape) {
  const RowsCols rc = rows_cols(shape);
  require(rc.cols % std::size_t(kind.wide) == 0, "cols must be a multiple of " + std::to_string(kind.wide));
  require(!kind.in_shared || rc.cols <= 56 * 1024, "a row of fp32 must fit in shared memory: at most 57344 columns");
  Problem problem = rows_problem(rc, kind.type, kind.residual ? 4 : 2);
  RowTensors t;
  t.x = Tensor::random(kind.type, rc.count(), kind.norm == Norm::softmax ? 4 : 1);
  if (kind.residual) t.residual = Tensor::random(kind.type, rc.count());
  if (kind.norm != Norm::softmax) t.gain = Tensor::random(kind.type, rc.cols);
  if (kind.norm == Norm::layer) t.shift = Tensor::random(kind.type, rc.cols);
  t.y = Tensor::output(kind.type, rc.count());
  problem.outputs.push_back(norm_output(t, rc, kind.norm));
  if (kind.residual) {
    t.sum = Tensor::output(kind.type, rc.count());
    problem.outputs.push_back(element_output(
        t.sum, rc, [t, rc](std::size_t row, std::size_t col) { return t.input(row * rc.cols + col); }, 1));
  }
  problem.tensors = {t.x, t.residual, t.gain, t.shift};
  auto data = [](const TensorPtr& tensor) { return tensor ? tensor->data<T>() : nullptr; };
  const RowArgs<T> args{data(t.x), data(t.residual), data(t.gain), data(t.shift), data(t.y), data(t.sum), int(rc.cols)};
  const Geometry geometry{dim3(unsigned(rc.rows)), dim3(kThreads), kind.in_shared ? rc.cols * sizeof(float) : 0};
  problem.plan.add(kind.name, kernel, geometry, args);
  return problem;
}

}  // namespace

// X(name, op, body, norm, wide, type, T, Type, residual, in_shared)
#define ROWWISE_TYPES(X, name, op, norm, residual)    \
  X(name, op, norm, 4, f32, float, residual)          \
  X(name, op, norm, 8, bf16, __nv_bfloat16, residual) \
  X(name, op, norm, 8, f16, __half, residual)
#define ROWWISE_ALL(X)                                             \
  ROWWISE_TYPES(X, softmax, softmax, softmax, false)               \
  ROWWISE_TYPES(X, layernorm, layernorm, layer, false)             \
  ROWWISE_TYPES(X, rmsnorm, rmsnorm, rms, false)                   \
  ROWWISE_TYPES(X, residual_layernorm, residual_norm, layer, true) \
  ROWWISE_TYPES(X, residual_rmsnorm, residual_norm, rms, true)     \
  X(softmax, softmax, softmax, 1, f32, float, false)               \
  X(layernorm, layernorm, layer, 1, f32, float, false)             \
  X(rmsnorm, rmsnorm, rms, 1, f32, float, false)

#define ROWWISE(name, op, norm, wide, type, T, residual)                                                       \
  extern "C" __global__ void __launch_bounds__(kThreads) strata_##name##_smem_v##wide##_##type(RowArgs<T> p) { \
    normalise_row<Norm::norm, T, wide, residual>(p);                                                           \
  }
ROWWISE_ALL(ROWWISE)
#define SOFTMAX_3PASS(wide, type, T)                                                                           \
  extern "C" __global__ void __launch_bounds__(kThreads) strata_softmax_3pass_v##wide##_##type(RowArgs<T> p) { \
    softmax_3pass<T, wide>(p);                                                                                 \
  }
SOFTMAX_3PASS(1, f32, float)
SOFTMAX_3PASS(4, f32, float)
SOFTMAX_3PASS(8, bf16, __nv_bfloat16)

void add_rowwise(Catalogue& catalogue) {
  auto add = [&](const RowKind& kind, auto kernel) {
    catalogue.push_back({kind.name, kind.op, type_name(kind.type), kind.teaches, rows_cols_keys(),
                         [kind, kernel](const Shape& shape) { return make_rowwise(kind, kernel, shape); }});
  };
#define ADD_3PASS(wide, type, T)                                                                                 \
  add({"strata_softmax_3pass_v" #wide "_" #type, "softmax", "softmax, each row read three times", Norm::softmax, \
       Type::type, wide, false, false},                                                                          \
      strata_softmax_3pass_v##wide##_##type);
  ADD_3PASS(1, f32, float)
  ADD_3PASS(4, f32, float)
  ADD_3PASS(8, bf16, __nv_bfloat16)
#define ADD(name, op, norm, wide, type, T, residual)                           \
  add({"strata_" #name "_smem_v" #wide "_" #type, #op,                         \
       residual ? "residual added, its sum written and normalised in one pass" \
                : "each row read once and kept in shared memory",              \
       Norm::norm, Type::type, wide, residual, true},                          \
      strata_##name##_smem_v##wide##_##type);
  ROWWISE_ALL(ADD)
#undef ADD
#undef ADD_3PASS
}

}  // namespace ladder

// GEMV: one row of activations times a weight matrix, as decoding does for every token.
//
// Teaches: a product that moves a weight per multiply-add is bound by HBM, whatever computes it. `tn`: a warp takes one
// column of D (a row of the stored weights) and strides along K, 16 bytes a lane. `nn`: four lanes take 4 x 16 bytes of
// columns and every 64th row of K; the 64 partial sums of a column meet in shared memory.
#include "../common/convert.cuh"
#include "../common/reduce.cuh"
#include "gemm.hpp"
#include "problem.hpp"

namespace ladder {

namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32, kNnLanes = 4;

template <class T>
constexpr int kWide = 16 / int(sizeof(T));
template <class T>
using Wide = Vector<T, kWide<T>>;

template <class T>
__device__ __forceinline__ void store_result(const GemmArgs<T, T>& p, int col, float sum) {
  p.d[col] = from_float<T>(p.alpha * sum + (p.beta != 0 ? p.beta * to_float(p.c[col]) : 0.0f));
}

template <class T>
__device__ __forceinline__ void gemv_tn(const GemmArgs<T, T>& p) {
  const int col = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (col >= p.n) return;
  const T* weights = p.b + size_t(col) * p.k;
  float sum = 0;
#pragma unroll 4
  for (int k = lane * kWide<T>; k < p.k; k += 32 * kWide<T>) {
    const Wide<T> w = *reinterpret_cast<const Wide<T>*>(weights + k), x = *reinterpret_cast<const Wide<T>*>(p.a + k);
#pragma unroll
    for (int i = 0; i < kWide<T>; ++i) sum += to_float(w.v[i]) * to_float(x.v[i]);
  }
  sum = reduce_warp<Add>(sum);
  if (lane == 0) store_result(p, col, sum);
}

template <class T>
__device__ __forceinline__ void gemv_nn(const GemmArgs<T, T>& p) {
  constexpr int kCols = kNnLanes * kWide<T>, kParts = kThreads / kNnLanes;
  __shared__ float partial[kParts][kCols];
  const int part = threadIdx.x / kNnLanes, lane = threadIdx.x % kNnLanes, col = blockIdx.x * kCols + lane * kWide<T>;
  float sum[kWide<T>] = {};
  if (col < p.n) {
#pragma unroll 4
    for (int k = part; k < p.k; k += kParts) {
      const Wide<T> w = *reinterpret_cast<const Wide<T>*>(p.b + size_t(k) * p.n + col);
      const float x = to_float(p.a[k]);
#pragma unroll
      for (int i = 0; i < kWide<T>; ++i) sum[i] += to_float(w.v[i]) * x;
    }
  }
#pragma unroll
  for (int i = 0; i < kWide<T>; ++i) partial[part][lane * kWide<T> + i] = sum[i];
  __syncthreads();
  const int mine = threadIdx.x;
  if (mine >= kCols || blockIdx.x * kCols + mine >= p.n) return;
  float total = 0;
#pragma unroll 8
  for (int i = 0; i < kParts; ++i) total += partial[i][mine];
  store_result(p, blockIdx.x * kCols + mine, total);
}

}  // namespace

#define GEMV(type, T)                                                                                                 \
  extern "C" __global__ void __launch_bounds__(kThreads) strata_gemv_w8_##type##_tn(GemmArgs<T, T> p) { gemv_tn(p); } \
  extern "C" __global__ void __launch_bounds__(kThreads) strata_gemv_w8_##type##_nn(GemmArgs<T, T> p) { gemv_nn(p); }
GEMV(f32, float)
GEMV(bf16, __nv_bfloat16)

void add_gemv(Catalogue& catalogue) {
  GemmKind kind;
#define ADD(suffix, type, T, cols_of_cta)                                                 \
  kind.layout = #suffix;                                                                  \
  kind.align = kWide<T>;                                                                  \
  kind.align_d = false;                                                                   \
  kind.add_launches = [](const Shape&, const GemmCase& c, Problem& problem) {             \
    require(c.m == 1, "m must be 1: a matrix-vector product");                            \
    const Geometry geometry{dim3(ceil_div(int(c.n), cols_of_cta)), dim3(kThreads)};       \
    STRATA_ADD(problem.plan, strata_gemv_w8_##type##_##suffix, geometry, c.args<T, T>()); \
  };                                                                                      \
  catalogue.push_back(gemm_kernel("strata_gemv_w8_" #type "_" #suffix, kind));
  kind.teaches = "matrix-vector product, a warp for each row of stored weights";
  ADD(tn, f32, float, kWarps)
  kind.teaches = "matrix-vector product, weights stored K x N: 64 groups of lanes share the depth";
  ADD(nn, f32, float, kNnLanes* kWide<float>)
  kind.input = kind.output = Type::bf16;
  ADD(nn, bf16, __nv_bfloat16, kNnLanes * kWide<__nv_bfloat16>)
  kind.teaches = "matrix-vector product, a warp for each row of stored weights";
  ADD(tn, bf16, __nv_bfloat16, kWarps)
#undef ADD
}

}  // namespace ladder

// Rung 4b: split-K. Several CTAs share a tile of D, each over a part of K; a second kernel adds their fp32 partial
// sums.
//
// Teaches: filling the chip when D has few tiles, and what the partial sums cost in traffic. grid.z is the number of
// parts.
#include "gemm.hpp"
#include "layout.hpp"
#include "mma_tile.cuh"
#include "problem.hpp"

namespace ladder {

namespace {

using mma_tile::kTile;
constexpr int kReduceThreads = 256, kReduceWide = 4;  // elements of one thread

/// Partial sums of part blockIdx.z, stored as fp32 [part][m][n]: a fragment's row is a whole 32-byte sector.
template <class Layout, class T>
__device__ __forceinline__ void gemm_part(const GemmArgs<T, T>& p, float* partial) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const int m0 = blockIdx.y * kTile, n0 = blockIdx.x * kTile;
  const int depth = ceil_div(ceil_div(p.k, mma_tile::kDepth), int(gridDim.z)) * mma_tile::kDepth;
  const int k_begin = min(p.k, int(blockIdx.z) * depth), k_end = min(p.k, k_begin + depth);
  mma_tile::Sums sum;
  mma_tile::multiply_tile<Layout, T>(sum,
                                     {p.a, p.b, Layout::kAKContiguous ? p.k : p.m, Layout::kBKContiguous ? p.k : p.n,
                                      m0, n0, p.m, p.n, k_begin, k_end},
                                     shared_address(shared));
  const int lane = threadIdx.x % 32;
  partial += size_t(blockIdx.z) * p.m * p.n;
#pragma unroll
  for (int i = 0; i < mma_tile::kFragmentsM; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = m0 + mma_tile::warp_m() + i * 16 + half * 8 + lane / 4;
      if (row >= p.m) continue;
#pragma unroll
      for (int j = 0; j < mma_tile::kFragmentsN; ++j) {
        const int col = n0 + mma_tile::warp_n() + j * 8 + lane % 4 * 2;
        if (col < p.n)
          *reinterpret_cast<float2*>(partial + size_t(row) * p.n + col) =
              make_float2(sum.v[i][j][half * 2], sum.v[i][j][half * 2 + 1]);
      }
    }
}

template <class T>
__device__ __forceinline__ void reduce_parts(const float* partial, const T* c, T* d, size_t count, int parts,
                                             float alpha, float beta) {
  const size_t at = (blockIdx.x * size_t(kReduceThreads) + threadIdx.x) * kReduceWide;
  if (at >= count) return;
  float4 sum = {};
  for (int part = 0; part < parts; ++part) {
    const float4 v = *reinterpret_cast<const float4*>(partial + part * count + at);
    sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
  }
  Vector<T, kReduceWide> old = {};
  if (beta != 0) old = *reinterpret_cast<const Vector<T, kReduceWide>*>(c + at);
  const float values[kReduceWide] = {sum.x, sum.y, sum.z, sum.w};
  Vector<T, kReduceWide> out;
#pragma unroll
  for (int i = 0; i < kReduceWide; ++i) out.v[i] = from_float<T>(alpha * values[i] + beta * to_float(old.v[i]));
  *reinterpret_cast<Vector<T, kReduceWide>*>(d + at) = out;
}

}  // namespace

#define SPLITK(suffix, Layout, T)                                                            \
  extern "C" __global__ void __launch_bounds__(mma_tile::kThreads, 2)                        \
      strata_gemm_mma_128x128x64_3s_splitk_bf16_##suffix(GemmArgs<T, T> p, float* partial) { \
    gemm_part<Layout, T>(p, partial);                                                        \
  }
STRATA_FOR_LAYOUTS(SPLITK, __nv_bfloat16)

extern "C" __global__ void __launch_bounds__(kReduceThreads)
    strata_splitk_reduce_bf16(const float* partial, const __nv_bfloat16* c, __nv_bfloat16* d, size_t count, int parts,
                              float alpha, float beta) {
  reduce_parts(partial, c, d, count, parts, alpha, beta);
}

void add_gemm_splitk(Catalogue& catalogue) {
  GemmKind kind;
  kind.align = 8;
  kind.input = kind.output = Type::bf16;
  kind.extra_keys = {{"splits", 4, "parts of K"}};
  kind.teaches = "split-K: several CTAs a tile, fp32 partial sums through memory, a second kernel adds them";
#define ADD(suffix, Layout, T)                                                                                         \
  kind.layout = Layout::kName;                                                                                         \
  kind.add_launches = [](const Shape& shape, const GemmCase& c, Problem& problem) {                                    \
    const int parts = int(shape.size("splits"));                                                                       \
    require(parts <= ceil_div(int(c.k), mma_tile::kDepth), "more splits than 64-deep tiles of K");                     \
    const dim3 grid(ceil_div(int(c.n), kTile), ceil_div(int(c.m), kTile), parts);                                      \
    require(grid.y < 65536 && grid.z < 65536, "too many tiles for a grid");                                            \
    const size_t count = size_t(c.m) * size_t(c.n);                                                                    \
    const TensorPtr partial = Tensor::output(Type::f32, count * size_t(parts));                                        \
    problem.tensors.push_back(partial);                                                                                \
    STRATA_ADD(problem.plan, strata_gemm_mma_128x128x64_3s_splitk_bf16_##suffix,                                       \
               Geometry{grid, dim3(mma_tile::kThreads), mma_tile::kSharedBytes}, c.args<T, T>(),                       \
               partial->data<float>());                                                                                \
    const unsigned blocks = unsigned((count / kReduceWide + kReduceThreads - 1) / kReduceThreads);                     \
    STRATA_ADD(problem.plan, strata_splitk_reduce_bf16, Geometry{dim3(blocks), dim3(kReduceThreads)},                  \
               partial->data<float>(), c.c ? c.c->data<T>() : nullptr, c.d->data<T>(), count, parts, c.alpha, c.beta); \
    problem.plan.describe_last("splitk_sum", std::to_string(parts) + "," + std::to_string(count));                     \
  };                                                                                                                   \
  catalogue.push_back(gemm_kernel("strata_gemm_mma_128x128x64_3s_splitk_bf16_" #suffix, kind));
  STRATA_FOR_LAYOUTS(ADD, __nv_bfloat16)
#undef ADD
}

}  // namespace ladder

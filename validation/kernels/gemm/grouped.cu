// Rung 4c: the grouped product of a mixture of experts: every expert multiplies its own rows by its own weights.
//
// Teaches: one persistent launch over products of unequal size. Tokens are sorted by expert; expert e owns rows
// offset[e] to offset[e + 1] of A (tokens x K) and D (tokens x N), and weights B[e] (N x K). Two CTAs an SM walk over
// all tiles, expert after expert. Loads are skewed and fixed: expert e of E gets tokens in proportion to e + 1.
#include "../../microbench/bench.cuh"
#include "gemm.hpp"
#include "layout.hpp"
#include "mma_tile.cuh"
#include "problem.hpp"

namespace ladder {

namespace {

using mma_tile::kTile;
constexpr int kMaxExperts = 64;

struct GroupedArgs {
  const __nv_bfloat16 *a, *b;
  __nv_bfloat16* d;
  int experts, n, k;
  int offset[kMaxExperts + 1];
};

__device__ __forceinline__ void gemm_grouped(const GroupedArgs& p) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const int cols = ceil_div(p.n, kTile);
  int expert = 0, before = 0;  // tiles of the experts before this one
  for (int tile = blockIdx.x;; tile += gridDim.x) {
    int rows = ceil_div(p.offset[1 + expert] - p.offset[expert], kTile);
    while (tile >= before + rows * cols) {
      before += rows * cols;
      if (++expert == p.experts) return;
      rows = ceil_div(p.offset[1 + expert] - p.offset[expert], kTile);
    }
    const int m0 = p.offset[expert] + (tile - before) / cols * kTile, m_end = p.offset[expert + 1];
    const int n0 = (tile - before) % cols * kTile;
    mma_tile::Sums sum;
    mma_tile::multiply_tile<LayoutTn, __nv_bfloat16>(
        sum, {p.a, p.b + size_t(expert) * p.n * p.k, p.k, p.k, m0, n0, m_end, p.n, 0, p.k}, shared_address(shared));
    mma_tile::store_tile<__nv_bfloat16>(sum, {p.d, nullptr, p.n, m0, n0, m_end, p.n, 1.0f, 0.0f}, shared);
    __syncthreads();  // the tile has left shared memory
  }
}

/// First row of every expert, and the number of rows behind the last.
std::vector<int> expert_offsets(long tokens, long experts) {
  std::vector<int> offset;
  for (long e = 0; e <= experts; ++e) offset.push_back(int(tokens * (e * (e + 1)) / (experts * (experts + 1))));
  return offset;
}

Output grouped_output(const TensorPtr& a, const TensorPtr& b, const TensorPtr& d, const std::vector<int>& offset,
                      long n, long k) {
  Output output;
  output.tensor = d;
  output.rows = std::size_t(offset.back());
  output.cols = std::size_t(n);
  output.cost_per_element = double(k);
  output.reference = [=](std::size_t row, std::span<const std::size_t> cols, double* values) {
    const auto expert = std::upper_bound(offset.begin(), offset.end(), int(row)) - offset.begin() - 1;
    for (std::size_t i = 0; i < cols.size(); ++i) {
      const std::size_t weights = (std::size_t(expert) * std::size_t(n) + cols[i]) * std::size_t(k);
      values[i] = 0;
      for (std::size_t at = 0; at < std::size_t(k); ++at)
        values[i] += a->value(row * std::size_t(k) + at) * b->value(weights + at);
    }
  };
  return output;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(mma_tile::kThreads, 2)
    strata_gemm_mma_128x128x64_3s_grouped_bf16_tn(const __grid_constant__ GroupedArgs p) {
  gemm_grouped(p);
}

namespace {

Problem make_grouped(const Shape& shape) {
  const long tokens = shape.size("tokens"), experts = shape.size("experts"), n = shape.size("n"), k = shape.size("k");
  require(experts <= kMaxExperts, "at most 64 experts");
  require(n % mma_tile::kPiece == 0 && k % mma_tile::kPiece == 0, "n and k must be multiples of 8");
  const std::vector<int> offset = expert_offsets(tokens, experts);
  const TensorPtr a = Tensor::random(Type::bf16, std::size_t(tokens * k));
  const TensorPtr b = Tensor::random(Type::bf16, std::size_t(experts * n * k));
  const TensorPtr d = Tensor::output(Type::bf16, std::size_t(tokens * n));
  Problem problem;
  // The columns of a GEMM row; the number of experts is its own cell behind the layout.
  problem.shape =
      std::to_string(tokens) + "," + std::to_string(n) + "," + std::to_string(k) + ",TN," + std::to_string(experts);
  problem.tensors = {a, b};
  problem.flops = 2.0 * double(tokens) * double(n) * double(k);
  problem.bytes = 2.0 * double(tokens * k + experts * n * k + tokens * n);
  problem.outputs = {grouped_output(a, b, d, offset, n, k)};
  GroupedArgs args = {
      a->data<__nv_bfloat16>(), b->data<__nv_bfloat16>(), d->data<__nv_bfloat16>(), int(experts), int(n), int(k), {}};
  std::copy(offset.begin(), offset.end(), args.offset);
  STRATA_ADD(problem.plan, strata_gemm_mma_128x128x64_3s_grouped_bf16_tn,
             Geometry{dim3(2 * unsigned(bench::smCount())), dim3(mma_tile::kThreads), mma_tile::kSharedBytes}, args);
  return problem;
}

}  // namespace

void add_gemm_grouped(Catalogue& catalogue) {
  catalogue.push_back({"strata_gemm_mma_128x128x64_3s_grouped_bf16_tn",
                       "gemm_grouped",
                       "bf16",
                       "mixture of experts: one persistent launch over products of unequal size",
                       {{"tokens", 4096, "rows of A and D, all experts together"},
                        {"experts", 8, "number of products"},
                        {"n", 1024, "columns of D"},
                        {"k", 1024, "depth"}},
                       make_grouped});
}

}  // namespace ladder

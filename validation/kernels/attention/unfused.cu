// Unfused attention, fp32: scores = Q K^T, softmax over each row, output = weights V, three launches.
//
// Teaches: the scores and the weights make four trips through the memory, q_len * kv_len floats each. On long
// sequences that traffic, not the arithmetic, decides; every fused rung below does without it.
// Both products are 64x64 tiles, 16 deep, 4x4 results a thread.
#include "attention.hpp"
#include "case.hpp"
#include "device.cuh"

namespace ladder {
namespace attention {

constexpr int kGemmRows = 64;
constexpr int kGemmDepth = 16;
constexpr int kGemmThreads = 256;
constexpr int kGemmPitch = kGemmRows + 4;  ///< floats; keeps rows of four aligned
constexpr int kSoftmaxThreads = 256;
constexpr int kSoftmaxWarps = kSoftmaxThreads / 32;

/// Reads 64 rows x 16 columns, four floats a thread, and stores them transposed: tile[column][row].
/// Rows and columns out of range are zero; `columns` may be ragged within four, where the padding is read.
__device__ __forceinline__ void loadTransposed(float (*tile)[kGemmPitch], const float* from, int64_t pitch, int rows,
                                               int columns) {
  const int row = threadIdx.x / 4, column = threadIdx.x % 4 * 4;
  float4 x = make_float4(0, 0, 0, 0);
  if (row < rows && column < columns) x = *reinterpret_cast<const float4*>(from + row * pitch + column);
  tile[column][row] = x.x;
  tile[column + 1][row] = x.y;
  tile[column + 2][row] = x.z;
  tile[column + 3][row] = x.w;
}

/// Reads 16 rows x COLUMNS columns as they are.
template <int COLUMNS>
__device__ __forceinline__ void loadStraight(float (*tile)[kGemmPitch], const float* from, int64_t pitch, int rows) {
  constexpr int kLanes = COLUMNS / 4;  // a row
  const int row = threadIdx.x / kLanes, column = threadIdx.x % kLanes * 4;
  if (row >= kGemmDepth) return;
  float4 x = make_float4(0, 0, 0, 0);
  if (row < rows) x = *reinterpret_cast<const float4*>(from + row * pitch + column);
  *reinterpret_cast<float4*>(&tile[row][column]) = x;
}

/// One 16-deep step of 4 x WIDTH results a thread.
template <int WIDTH>
__device__ __forceinline__ void multiply(const float (*left)[kGemmPitch], const float (*right)[kGemmPitch],
                                         float (&sum)[4][WIDTH]) {
  const int row = threadIdx.x / 16 * 4, column = threadIdx.x % 16 * WIDTH;
#pragma unroll
  for (int i = 0; i < kGemmDepth; ++i) {
    float l[4], r[WIDTH];
    *reinterpret_cast<float4*>(l) = *reinterpret_cast<const float4*>(&left[i][row]);
    if constexpr (WIDTH == 4) {
      *reinterpret_cast<float4*>(r) = *reinterpret_cast<const float4*>(&right[i][column]);
    } else {
      *reinterpret_cast<float2*>(r) = *reinterpret_cast<const float2*>(&right[i][column]);
    }
#pragma unroll
    for (int m = 0; m < 4; ++m) {
#pragma unroll
      for (int n = 0; n < WIDTH; ++n) sum[m][n] += l[m] * r[n];
    }
  }
}

/// Grid: x = 64 keys, y = 64 query rows, z = batch * heads.
template <int D>
__device__ __forceinline__ void scoresTile(const AttentionArguments& a) {
  __shared__ __align__(16) float left[kGemmDepth][kGemmPitch], right[kGemmDepth][kGemmPitch];
  const int64_t head = blockIdx.z, kvHead = head / (a.heads / a.kv_heads);
  const int row0 = blockIdx.y * kGemmRows, key0 = blockIdx.x * kGemmRows;
  const float* q = static_cast<const float*>(a.q) + (head * a.q_len + row0) * D;
  const float* k = static_cast<const float*>(a.k) + (kvHead * a.kv_len + key0) * D;
  float sum[4][4] = {};
  for (int i = 0; i < D; i += kGemmDepth) {
    loadTransposed(left, q + i, D, a.q_len - row0, D);
    loadTransposed(right, k + i, D, a.kv_len - key0, D);
    __syncthreads();
    multiply(left, right, sum);
    __syncthreads();
  }
  const int row = row0 + threadIdx.x / 16 * 4, key = key0 + threadIdx.x % 16 * 4;
#pragma unroll
  for (int m = 0; m < 4; ++m) {
    if (row + m >= a.q_len || key >= a.score_pitch) continue;
    *reinterpret_cast<float4*>(a.workspace + (head * a.q_len + row + m) * a.score_pitch + key) =
        make_float4(sum[m][0] * a.scale_log2, sum[m][1] * a.scale_log2, sum[m][2] * a.scale_log2,
                    sum[m][3] * a.scale_log2);
  }
}

/// Grid: x = query row, y = batch * heads. One pass for maximum and sum together, one to write the weights.
__device__ __forceinline__ void softmaxRow(const AttentionArguments& a) {
  __shared__ float scratch[kSoftmaxWarps];
  float4* row = reinterpret_cast<float4*>(a.workspace + (int64_t(blockIdx.y) * a.q_len + blockIdx.x) * a.score_pitch);
  float peak = kMinusInfinity, sum = 0;
  auto masked = [&](int i) {
    float4 x = row[i];
    if (4 * i + 1 >= a.kv_len) x.y = kMinusInfinity;
    if (4 * i + 2 >= a.kv_len) x.z = kMinusInfinity;
    if (4 * i + 3 >= a.kv_len) x.w = kMinusInfinity;
    return x;
  };
  for (int i = threadIdx.x; i < a.score_pitch / 4; i += kSoftmaxThreads) {
    const float4 x = masked(i);
    const float newPeak = fmaxf(peak, fmaxf(fmaxf(x.x, x.y), fmaxf(x.z, x.w)));
    sum = sum * exp2Fast(peak - newPeak) + exp2Fast(x.x - newPeak) + exp2Fast(x.y - newPeak) +
          exp2Fast(x.z - newPeak) + exp2Fast(x.w - newPeak);
    peak = newPeak;
  }
  const float rowPeak = reduce_cta<Max, kSoftmaxThreads>(peak, scratch);
  sum = peak == kMinusInfinity ? 0 : sum * exp2Fast(peak - rowPeak);  // threads beyond a short row saw nothing
  const float scale = 1 / reduce_cta<Add, kSoftmaxThreads>(sum, scratch);
  for (int i = threadIdx.x; i < a.score_pitch / 4; i += kSoftmaxThreads) {
    const float4 x = masked(i);  // the padding becomes zero: the next product reads it
    row[i] = make_float4(exp2Fast(x.x - rowPeak) * scale, exp2Fast(x.y - rowPeak) * scale,
                         exp2Fast(x.z - rowPeak) * scale, exp2Fast(x.w - rowPeak) * scale);
  }
}

/// Grid: x = tile of 64 (d = 32: 32) output columns, y = 64 query rows, z = batch * heads.
template <int D>
__device__ __forceinline__ void valuesTile(const AttentionArguments& a) {
  constexpr int kColumns = D < 64 ? D : 64;
  constexpr int kWidth = kColumns / 16;
  __shared__ __align__(16) float left[kGemmDepth][kGemmPitch], right[kGemmDepth][kGemmPitch];
  const int64_t head = blockIdx.z, kvHead = head / (a.heads / a.kv_heads);
  const int row0 = blockIdx.y * kGemmRows, column0 = blockIdx.x * kColumns;
  const float* weights = a.workspace + (head * a.q_len + row0) * a.score_pitch;
  const float* v = static_cast<const float*>(a.v) + kvHead * a.kv_len * D + column0;
  float sum[4][kWidth] = {};
  for (int key = 0; key < a.kv_len; key += kGemmDepth) {
    loadTransposed(left, weights + key, a.score_pitch, a.q_len - row0, a.kv_len - key);
    loadStraight<kColumns>(right, v + int64_t(key) * D, D, a.kv_len - key);
    __syncthreads();
    multiply(left, right, sum);
    __syncthreads();
  }
  const int row = row0 + threadIdx.x / 16 * 4, column = column0 + threadIdx.x % 16 * kWidth;
#pragma unroll
  for (int m = 0; m < 4; ++m) {
    if (row + m >= a.q_len) continue;
    float* to = static_cast<float*>(a.o) + (head * a.q_len + row + m) * D + column;
    if constexpr (kWidth == 4) {
      *reinterpret_cast<float4*>(to) = make_float4(sum[m][0], sum[m][1], sum[m][2], sum[m][3]);
    } else {
      *reinterpret_cast<float2*>(to) = make_float2(sum[m][0], sum[m][1]);
    }
  }
}

#define STRATA_UNFUSED(D, COLUMNS)                                                                                            \
  extern "C" __global__ void __launch_bounds__(kGemmThreads)                                                         \
      strata_attention_unfused_scores_64x64x16_d##D##_f32(const AttentionArguments a) {                              \
    scoresTile<D>(a);                                                                                                \
  }                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(kGemmThreads)                                                         \
      strata_attention_unfused_values_64x##COLUMNS##x16_d##D##_f32(const AttentionArguments a) {                              \
    valuesTile<D>(a);                                                                                                \
  }
STRATA_UNFUSED(32, 32)
STRATA_UNFUSED(64, 64)
STRATA_UNFUSED(128, 64)
#undef STRATA_UNFUSED

extern "C" __global__ void __launch_bounds__(kSoftmaxThreads)
    strata_attention_unfused_softmax_f32(const AttentionArguments a) {
  softmaxRow(a);
}

}  // namespace attention

namespace {

template <class F>
void add(Catalogue& catalogue, const char* scores, F* scores_kernel, const char* values, F* values_kernel, int d) {
  using namespace attention;
  auto make = [=](const Shape& shape) {
    const AttentionCase c = make_attention_case(shape, d, Type::f32, false);
    const auto heads = static_cast<unsigned>(c.batch * c.heads);
    const unsigned row_tiles = blocks_of(c.q_len, kGemmRows), key_tiles = blocks_of(c.kv_len, kGemmRows);
    require(heads <= 65535 && row_tiles <= 65535, "batch * heads and q / 64 may be at most 65535");
    AttentionArguments a = c.arguments();
    a.score_pitch = static_cast<int>((c.kv_len + 3) / 4 * 4);
    const TensorPtr workspace = Tensor::output(
        Type::f32, static_cast<std::size_t>(c.rows()) * static_cast<std::size_t>(a.score_pitch));
    a.workspace = workspace->data<float>();
    Problem p = make_attention_problem(c, "unfused");
    p.tensors.push_back(workspace);
    p.plan.add(scores, scores_kernel, Geometry{dim3(key_tiles, row_tiles, heads), dim3(kGemmThreads)}, a);
    STRATA_ADD(p.plan, strata_attention_unfused_softmax_f32,
               Geometry{dim3(unsigned(c.q_len), heads), dim3(kSoftmaxThreads)}, a);
    p.plan.add(values, values_kernel, Geometry{dim3(blocks_of(d, kGemmRows), row_tiles, heads), dim3(kGemmThreads)}, a);
    return p;
  };
  catalogue.push_back({scores, "attention", "fp32", "scores, softmax and output as three launches through memory",
                       attention_keys(), make});
}

}  // namespace

void add_unfused_attention(Catalogue& catalogue) {
  using namespace attention;
#define STRATA_ADD_UNFUSED(D, COLUMNS)                                                                                        \
  add(catalogue, "strata_attention_unfused_scores_64x64x16_d" #D "_f32",                                             \
      strata_attention_unfused_scores_64x64x16_d##D##_f32, "strata_attention_unfused_values_64x" #COLUMNS "x16_d" #D "_f32", \
      strata_attention_unfused_values_64x##COLUMNS##x16_d##D##_f32, D)
  STRATA_ADD_UNFUSED(32, 32);
  STRATA_ADD_UNFUSED(64, 64);
  STRATA_ADD_UNFUSED(128, 64);
#undef STRATA_ADD_UNFUSED
}

}  // namespace ladder

// Tiled attention, fp32: 32 query rows and 32 keys at a time through shared memory, scores and output kept there too.
//
// Teaches: a tile of 32 rows reads K and V a 32nd of the times that the naive kernel does; and what bank conflicts
// cost. Each lane of a warp owns a key, so the lanes read K in steps of one row: with rows of d floats (a multiple of
// 32) all 32 lanes hit one bank, with one float of padding none do. The pad is a launch argument: both rungs run the
// same instructions. One thread a row does the softmax, as simple code would.
#include <string>

#include "attention.hpp"
#include "case.hpp"
#include "device.cuh"

namespace ladder {
namespace attention {

constexpr int kTile = 32;  ///< query rows, and keys
constexpr int kTiledThreads = 256;
constexpr int kTiledRows = kTile / (kTiledThreads / 32);  ///< query rows of a warp

constexpr int tiledFloats(int d, int pad) { return 3 * kTile * (d + pad) + kTile * (kTile + pad) + kTile * d + kTile; }

/// Copies rows first.. of `from` to shared memory, zeros where there are none.
template <int D>
__device__ __forceinline__ void loadTile(float* to, int pitch, const float* from, int rows) {
#pragma unroll
  for (int step = 0; step < kTile * D / kTiledThreads; ++step) {
    const int row = step * (kTiledThreads / D) + threadIdx.x / D, column = threadIdx.x % D;
    to[row * pitch + column] = row < rows ? from[int64_t(row) * D + column] : 0.f;
  }
}

/// One thread a row: new maximum, weights in place of the scores, and the factor that the old output shrinks by.
__device__ __forceinline__ void softmaxRow(float* scores, float& peak, float& sum, float& rescale) {
  float newPeak = peak;
#pragma unroll 8
  for (int i = 0; i < kTile; ++i) newPeak = fmaxf(newPeak, scores[i]);
  rescale = exp2Fast(peak - newPeak);
  sum *= rescale;
#pragma unroll 8
  for (int i = 0; i < kTile; ++i) {
    const float weight = exp2Fast(scores[i] - newPeak);
    scores[i] = weight;
    sum += weight;
  }
  peak = newPeak;
}

template <int D>
__device__ __forceinline__ void tiled(const AttentionArguments& a, int pad) {
  extern __shared__ float shared[];
  const int pitch = D + pad, scorePitch = kTile + pad;
  float* q = shared;
  float* k = q + kTile * pitch;
  float* v = k + kTile * pitch;
  float* scores = v + kTile * pitch;
  float* output = scores + kTile * scorePitch;  // rows of d, never padded
  float* rescale = output + kTile * D;
  const int tid = threadIdx.x, lane = tid % 32, row0 = tid / 32 * kTiledRows;
  const HeadRows rows = headRows(a);
  const int firstRow = blockIdx.x * kTile;
  const float* from = static_cast<const float*>(a.q) + (rows.q + firstRow) * D;
  const float* kFrom = static_cast<const float*>(a.k) + rows.kv * D;
  const float* vFrom = static_cast<const float*>(a.v) + rows.kv * D;
  loadTile<D>(q, pitch, from, a.q_len - firstRow);
#pragma unroll
  for (int step = 0; step < kTile * D / kTiledThreads; ++step) output[step * kTiledThreads + tid] = 0;
  float peak = kMinusInfinity, sum = 0;  // of row `tid`

  for (int key0 = 0; key0 < a.kv_len; key0 += kTile) {
    loadTile<D>(k, pitch, kFrom + int64_t(key0) * D, a.kv_len - key0);
    loadTile<D>(v, pitch, vFrom + int64_t(key0) * D, a.kv_len - key0);
    __syncthreads();

    float score[kTiledRows] = {};
#pragma unroll 16
    for (int i = 0; i < D; ++i) {
      const float key = k[lane * pitch + i];
#pragma unroll
      for (int r = 0; r < kTiledRows; ++r) score[r] += q[(row0 + r) * pitch + i] * key;
    }
#pragma unroll
    for (int r = 0; r < kTiledRows; ++r) {
      scores[(row0 + r) * scorePitch + lane] = key0 + lane < a.kv_len ? score[r] * a.scale_log2 : kMinusInfinity;
    }
    __syncthreads();
    if (tid < kTile) softmaxRow(scores + tid * scorePitch, peak, sum, rescale[tid]);
    __syncthreads();

    float added[kTiledRows][D / 32] = {};
#pragma unroll 8
    for (int i = 0; i < kTile; ++i) {
      float value[D / 32];
#pragma unroll
      for (int n = 0; n < D / 32; ++n) value[n] = v[i * pitch + n * 32 + lane];
#pragma unroll
      for (int r = 0; r < kTiledRows; ++r) {
        const float weight = scores[(row0 + r) * scorePitch + i];
#pragma unroll
        for (int n = 0; n < D / 32; ++n) added[r][n] += weight * value[n];
      }
    }
#pragma unroll
    for (int r = 0; r < kTiledRows; ++r) {
      const float factor = rescale[row0 + r];
#pragma unroll
      for (int n = 0; n < D / 32; ++n) {
        float& o = output[(row0 + r) * D + n * 32 + lane];
        o = o * factor + added[r][n];
      }
    }
    __syncthreads();
  }

  if (tid < kTile) rescale[tid] = 1 / sum;
  __syncthreads();
  float* to = static_cast<float*>(a.o) + (rows.q + firstRow) * D;
#pragma unroll
  for (int step = 0; step < kTile * D / kTiledThreads; ++step) {
    const int i = step * kTiledThreads + tid, row = step * (kTiledThreads / D) + threadIdx.x / D;
    if (firstRow + row < a.q_len) to[i] = output[i] * rescale[row];
  }
}

#define STRATA_TILED(PAD, D)                                                                        \
  extern "C" __global__ void __launch_bounds__(kTiledThreads)                                       \
      strata_attention_tiled_32x32_pad##PAD##_d##D##_f32(const AttentionArguments a, int pad) {     \
    tiled<D>(a, pad);                                                                               \
  }
STRATA_TILED(0, 32)
STRATA_TILED(0, 64)
STRATA_TILED(0, 128)
STRATA_TILED(1, 32)
STRATA_TILED(1, 64)
STRATA_TILED(1, 128)
#undef STRATA_TILED

}  // namespace attention

void add_tiled_attention(Catalogue& catalogue) {
  using namespace attention;
  const char* const teaches[] = {"32x32 tiles in shared memory, rows of d floats: 32-way bank conflicts",
                                 "the same instructions with one float of padding a row: no conflicts"};
#define STRATA_ADD_TILED(PAD, D)                                                                              \
  add_rung(catalogue,                                                                                         \
           Rung{"strata_attention_tiled_32x32_pad" #PAD "_d" #D "_f32", teaches[PAD], "tiled", D, Type::f32,  \
                false, kTile, kTiledThreads,                                                                  \
                [](const AttentionCase&) { return sizeof(float) * std::size_t(tiledFloats(D, PAD)); }},       \
           strata_attention_tiled_32x32_pad##PAD##_d##D##_f32, PAD)
  STRATA_ADD_TILED(0, 32);
  STRATA_ADD_TILED(0, 64);
  STRATA_ADD_TILED(0, 128);
  STRATA_ADD_TILED(1, 32);
  STRATA_ADD_TILED(1, 64);
  STRATA_ADD_TILED(1, 128);
#undef STRATA_ADD_TILED
}

}  // namespace ladder

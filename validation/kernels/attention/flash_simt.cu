// FlashAttention, fp32 on the ordinary cores: 64 query rows, 64 keys at a time, online softmax, output in registers.
//
// Teaches: registers instead of shared memory for what one thread owns (4x4 scores, 4 x d/16 outputs), which takes
// two shared loads for every sixteen multiply-adds; one buffer against two ("sb", "db": the next keys are on their
// way while these are used, at twice the shared memory, so fewer CTAs fit); and the causal mask with early exit, which
// leaves out the tiles above the diagonal.
#include "attention.hpp"
#include "case.hpp"
#include "device.cuh"

namespace ladder {
namespace attention {

constexpr int kSimtTile = 64;  ///< query rows, and keys
constexpr int kSimtThreads = 256;
constexpr int kRowThreads = 16;                      ///< threads that share four rows
constexpr int kSimtColumns = kSimtTile / kRowThreads;  ///< keys of a thread: its number + 0, 16, 32, 48
constexpr int kWeightPitch = kSimtTile + 4;

constexpr int simtFloats(int d, int stages) {
  return kSimtTile * (d + 4) + stages * kSimtTile * (d + 4 + d) + kSimtTile * kWeightPitch;
}

/// Starts copies of 64 rows of D floats; rows that do not exist are not read and become zeros.
template <int D, int PITCH>
__device__ __forceinline__ void startTile(float* to, const float* from, int rows) {
  constexpr int kChunks = D / 4;  // 16 bytes each, in a row
#pragma unroll
  for (int step = 0; step < kSimtTile * kChunks / kSimtThreads; ++step) {
    const int row = step * (kSimtThreads / kChunks) + threadIdx.x / kChunks, column = threadIdx.x % kChunks * 4;
    copy_async<16>(shared_address(to + row * PITCH + column), from + row * D + column, row < rows);
  }
}

__device__ __forceinline__ float dot4(float4 x, float4 y, float sum) {
  sum += x.x * y.x;
  sum += x.y * y.y;
  sum += x.z * y.z;
  return sum + x.w * y.w;
}

/// score[r][c] = row 4 * group + r against key column + 16 * c.
template <int D>
__device__ __forceinline__ void scoresOf(const float* q, const float* k, int group, int column,
                                         float (&score)[4][kSimtColumns]) {
  constexpr int kPitch = D + 4;
#pragma unroll 2
  for (int i = 0; i < D; i += 4) {
    float4 left[4], right[kSimtColumns];
#pragma unroll
    for (int r = 0; r < 4; ++r) left[r] = *reinterpret_cast<const float4*>(q + (group * 4 + r) * kPitch + i);
#pragma unroll
    for (int c = 0; c < kSimtColumns; ++c) {
      right[c] = *reinterpret_cast<const float4*>(k + (column + kRowThreads * c) * kPitch + i);
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
#pragma unroll
      for (int c = 0; c < kSimtColumns; ++c) score[r][c] = dot4(left[r], right[c], score[r][c]);
    }
  }
}

/// Adds weights * V. A thread owns VECTOR neighbouring columns in each of GROUPS blocks of 16 * VECTOR.
template <int D, int VECTOR, int GROUPS>
__device__ __forceinline__ void addValues(const float* weights, const float* v, int group, int column,
                                          float (&output)[4][GROUPS * VECTOR]) {
#pragma unroll 2
  for (int i = 0; i < kSimtTile; i += 4) {
    float4 left[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) left[r] = *reinterpret_cast<const float4*>(weights + (group * 4 + r) * kWeightPitch + i);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float right[GROUPS * VECTOR];
#pragma unroll
      for (int g = 0; g < GROUPS; ++g) {
        const float* from = v + (i + j) * D + (g * kRowThreads + column) * VECTOR;
        if constexpr (VECTOR == 4) {
          *reinterpret_cast<float4*>(right + g * 4) = *reinterpret_cast<const float4*>(from);
        } else {
          *reinterpret_cast<float2*>(right + g * 2) = *reinterpret_cast<const float2*>(from);
        }
      }
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const float weight = j == 0 ? left[r].x : j == 1 ? left[r].y : j == 2 ? left[r].z : left[r].w;
#pragma unroll
        for (int n = 0; n < GROUPS * VECTOR; ++n) output[r][n] += weight * right[n];
      }
    }
  }
}

template <int D, int STAGES, bool CAUSAL>
__device__ __forceinline__ void flashSimt(const AttentionArguments& a) {
  constexpr int kPitch = D + 4;                    // floats: eight rows, 16 bytes each, fall on 32 different banks
  constexpr int kVector = D < 64 ? 2 : 4, kGroups = D / kRowThreads / kVector;
  extern __shared__ __align__(16) float shared[];
  float* q = shared;
  float* k = q + kSimtTile * kPitch;
  float* v = k + STAGES * kSimtTile * kPitch;
  float* weights = v + STAGES * kSimtTile * D;
  const int group = threadIdx.x / kRowThreads, column = threadIdx.x % kRowThreads;
  const HeadRows rows = headRows(a);
  const int firstRow = firstRowOfTile<CAUSAL, kSimtTile>();
  const float* kFrom = static_cast<const float*>(a.k) + rows.kv * D;
  const float* vFrom = static_cast<const float*>(a.v) + rows.kv * D;
  const int keys = visibleKeys<CAUSAL>(a, firstRow + kSimtTile);
  const int tiles = (keys + kSimtTile - 1) / kSimtTile;
  auto startKeys = [&](int tile) {
    const int stage = tile % STAGES, rest = a.kv_len - tile * kSimtTile;
    startTile<D, kPitch>(k + stage * kSimtTile * kPitch, kFrom + int64_t(tile) * kSimtTile * D, rest);
    startTile<D, D>(v + stage * kSimtTile * D, vFrom + int64_t(tile) * kSimtTile * D, rest);
  };
  startTile<D, kPitch>(q, static_cast<const float*>(a.q) + (rows.q + firstRow) * D, a.q_len - firstRow);

  float output[4][kGroups * kVector] = {}, peak[4], sum[4] = {};
#pragma unroll
  for (int r = 0; r < 4; ++r) peak[r] = kMinusInfinity;
  for (int tile = 0; tile < tiles; ++tile) {
    if (STAGES == 1 || tile == 0) {
      startKeys(tile);
      copy_commit();
    }
    if constexpr (STAGES == 2) {
      if (tile + 1 < tiles) startKeys(tile + 1);
      copy_commit();
    }
    copy_wait<STAGES - 1>();
    __syncthreads();

    float score[4][kSimtColumns] = {};
    scoresOf<D>(q, k + tile % STAGES * kSimtTile * kPitch, group, column, score);
    const int key0 = tile * kSimtTile + column;
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int visible = visibleKeys<CAUSAL>(a, firstRow + group * 4 + r + 1);
      float newPeak = peak[r];
#pragma unroll
      for (int c = 0; c < kSimtColumns; ++c) {
        const bool seen = key0 + kRowThreads * c < visible;
        score[r][c] = seen ? score[r][c] * a.scale_log2 : kMinusInfinity;
        newPeak = fmaxf(newPeak, score[r][c]);
      }
      newPeak = maxOver<kRowThreads>(newPeak);  // finite: key 0 is in the first tile and seen by every row
      const float rescale = exp2Fast(peak[r] - newPeak);
      peak[r] = newPeak;
      float added = 0;
#pragma unroll
      for (int c = 0; c < kSimtColumns; ++c) {
        const float weight = exp2Fast(score[r][c] - newPeak);
        added += weight;
        weights[(group * 4 + r) * kWeightPitch + column + kRowThreads * c] = weight;
      }
      sum[r] = sum[r] * rescale + added;  // this thread's keys only; added up at the end
#pragma unroll
      for (int n = 0; n < kGroups * kVector; ++n) output[r][n] *= rescale;
    }
    __syncwarp();  // a row's weights are written and read by one half of one warp
    addValues<D, kVector, kGroups>(weights, v + tile % STAGES * kSimtTile * D, group, column, output);
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const float scale = 1 / sumOver<kRowThreads>(sum[r]);
    const int row = firstRow + group * 4 + r;
    if (row >= a.q_len) continue;
    float* to = static_cast<float*>(a.o) + (rows.q + row) * D + column * kVector;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      const float* x = output[r] + g * kVector;
      if constexpr (kVector == 4) {
        *reinterpret_cast<float4*>(to + g * 64) = make_float4(x[0] * scale, x[1] * scale, x[2] * scale, x[3] * scale);
      } else {
        *reinterpret_cast<float2*>(to + g * 32) = make_float2(x[0] * scale, x[1] * scale);
      }
    }
  }
}

#define STRATA_SIMT_KERNEL(D, BUFFERS, STAGES, SUFFIX, CAUSAL)                                          \
  extern "C" __global__ void __launch_bounds__(kSimtThreads, D < 128 ? 2 : 1)                           \
      strata_attention_flash_64x64_##BUFFERS##_d##D##_##SUFFIX##_f32(const AttentionArguments a) {      \
    flashSimt<D, STAGES, CAUSAL>(a);                                                                    \
  }
#define STRATA_SIMT(D)                              \
  STRATA_SIMT_KERNEL(D, sb, 1, full, false)         \
  STRATA_SIMT_KERNEL(D, db, 2, full, false)         \
  STRATA_SIMT_KERNEL(D, sb, 1, causal, true)        \
  STRATA_SIMT_KERNEL(D, db, 2, causal, true)
STRATA_SIMT(32)
STRATA_SIMT(64)
STRATA_SIMT(128)
#undef STRATA_SIMT
#undef STRATA_SIMT_KERNEL

}  // namespace attention

void add_flash_simt_attention(Catalogue& catalogue) {
  using namespace attention;
#define STRATA_ADD_SIMT_KERNEL(D, BUFFERS, STAGES, SUFFIX, CAUSAL, TEACHES)                                      \
  add_rung(catalogue,                                                                                            \
           Rung{"strata_attention_flash_64x64_" #BUFFERS "_d" #D "_" #SUFFIX "_f32", TEACHES, "flash", D,        \
                Type::f32, CAUSAL, kSimtTile, kSimtThreads,                                                      \
                [](const AttentionCase&) { return sizeof(float) * std::size_t(simtFloats(D, STAGES)); }},        \
           strata_attention_flash_64x64_##BUFFERS##_d##D##_##SUFFIX##_f32)
#define STRATA_ADD_SIMT(D)                                                                                       \
  STRATA_ADD_SIMT_KERNEL(D, sb, 1, full, false, "online softmax, output in registers, one buffer of K and V");   \
  STRATA_ADD_SIMT_KERNEL(D, db, 2, full, false, "two buffers: the next keys arrive while these are used");       \
  STRATA_ADD_SIMT_KERNEL(D, sb, 1, causal, true, "tiles above the diagonal are left out; one buffer");           \
  STRATA_ADD_SIMT_KERNEL(D, db, 2, causal, true, "tiles above the diagonal are left out; two buffers")
  STRATA_ADD_SIMT(32);
  STRATA_ADD_SIMT(64);
  STRATA_ADD_SIMT(128);
#undef STRATA_ADD_SIMT
#undef STRATA_ADD_SIMT_KERNEL
}

}  // namespace ladder

// FlashAttention-2 style: mma.sync, ldmatrix, cp.async; scores, weights and output never leave the registers.
//
// Teaches: a score accumulator has the layout of the next product's left operand, so softmax sits between two
// products without touching shared memory; swizzled rows in place of padding; one buffer each for K and V, filled
// alternately while the other is used; and what the tile of a warp buys: with 16 query rows (64 a CTA) every ldmatrix
// of K or V feeds two mma.sync, with 32 (128 a CTA) four. At d = 128 the large tile takes 32 keys at a time: 64 spill.
#include "attention.hpp"
#include "case.hpp"
#include "device.cuh"
#include "mma.cuh"

namespace ladder {
namespace attention {

constexpr int kMmaWarps = 4;
constexpr int kMmaThreads = 32 * kMmaWarps;

/// D: elements of a row; BM query rows of a CTA, BN keys at a time; T: bf16 or f16.
template <class T, int D, int BM, int BN, bool CAUSAL>
struct FlashMma {
  static constexpr int kRowTiles = BM / (16 * kMmaWarps);  ///< m16 tiles of a warp
  static constexpr int kSharedBytes = (BM + 2 * BN) * D * 2;

  const AttentionArguments& a;
  uint32_t q, k, v;  ///< shared-memory addresses
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  // What this lane addresses for ldmatrix: rows and chunks of the first 16 x 16 elements of each operand.
  uint32_t qLane = q + swizzled<D>(warp * kRowTiles * 16 + lane % 16, lane / 16);
  uint32_t kLane = k + swizzled<D>(lane / 16 * 8 + lane % 8, lane / 8 % 2);
  uint32_t vLane = v + swizzled<D>(lane % 16, lane / 16);
  float output[kRowTiles][D / 8][4] = {};
  float score[kRowTiles][BN / 8][4];
  float peak[kRowTiles][2], sum[kRowTiles][2] = {};  ///< of rows lane / 4 and lane / 4 + 8

  __device__ FlashMma(const AttentionArguments& arguments, uint32_t shared)
      : a(arguments), q(shared), k(shared + BM * D * 2), v(shared + (BM + BN) * D * 2) {
    for (auto& tile : peak) tile[0] = tile[1] = kMinusInfinity;
  }

  /// Starts copies of ROWS rows; those that do not exist become zeros.
  template <int ROWS>
  __device__ void startTile(uint32_t to, const T* from, int rows) {
    constexpr int kChunks = D / 8;
#pragma unroll
    for (int step = 0; step < ROWS * kChunks / kMmaThreads; ++step) {
      const int row = step * (kMmaThreads / kChunks) + threadIdx.x / kChunks, chunk = threadIdx.x % kChunks;
      copy_async<16>(to + swizzled<D>(row, chunk), from + row * D + chunk * 8, row < rows);
    }
  }

  __device__ void multiplyScores() {
#pragma unroll
    for (auto& tile : score) {
      for (auto& fragment : tile) fragment[0] = fragment[1] = fragment[2] = fragment[3] = 0;
    }
#pragma unroll
    for (int i = 0; i < D / 16; ++i) {
      uint32_t left[kRowTiles][4];
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m) {
        loadMatrices(left[m], chunkPair<D>(qLane, i) + m * 16 * D * 2);
      }
#pragma unroll
      for (int n = 0; n < BN / 16; ++n) {
        uint32_t right[4];
        loadMatrices(right, chunkPair<D>(kLane, i) + n * 16 * D * 2);
#pragma unroll
        for (int m = 0; m < kRowTiles; ++m) {
          multiplyAdd(score[m][2 * n], left[m], right[0], right[1], T());
          multiplyAdd(score[m][2 * n + 1], left[m], right[2], right[3], T());
        }
      }
    }
  }

  /// Hides keys that do not exist or lie above the diagonal.
  __device__ void mask(int key0, int firstRow) {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = firstRow + (warp * kRowTiles + m) * 16 + half * 8 + lane / 4;
        const int visible = visibleKeys<CAUSAL>(a, row + 1);
#pragma unroll
        for (int n = 0; n < BN / 8; ++n) {
#pragma unroll
          for (int x = 0; x < 2; ++x) {
            if (key0 + n * 8 + lane % 4 * 2 + x >= visible) score[m][n][half * 2 + x] = kMinusInfinity;
          }
        }
      }
    }
  }

  /// Scores become weights; the output so far shrinks to the new maximum.
  __device__ void softmax() {
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float newPeak = peak[m][half];
#pragma unroll
        for (int n = 0; n < BN / 8; ++n) {
          newPeak = fmaxf(newPeak, fmaxf(score[m][n][half * 2], score[m][n][half * 2 + 1]));
        }
        newPeak = maxOver<4>(newPeak);  // finite: key 0 is in the first tile and seen by every row
        const float rescale = exp2Fast((peak[m][half] - newPeak) * a.scale_log2);
        const float shift = newPeak * a.scale_log2;
        peak[m][half] = newPeak;
        float added = 0;
#pragma unroll
        for (int n = 0; n < BN / 8; ++n) {
#pragma unroll
          for (int x = 0; x < 2; ++x) {
            float& s = score[m][n][half * 2 + x];
            s = exp2Fast(s * a.scale_log2 - shift);
            added += s;
          }
        }
        sum[m][half] = sum[m][half] * rescale + added;  // this thread's keys only; added up at the end
#pragma unroll
        for (int n = 0; n < D / 8; ++n) {
          output[m][n][half * 2] *= rescale;
          output[m][n][half * 2 + 1] *= rescale;
        }
      }
    }
  }

  __device__ void multiplyValues() {
#pragma unroll
    for (int i = 0; i < BN / 16; ++i) {
      uint32_t left[kRowTiles][4];
#pragma unroll
      for (int m = 0; m < kRowTiles; ++m) {
        left[m][0] = pack_two<T>(score[m][2 * i][0], score[m][2 * i][1]);
        left[m][1] = pack_two<T>(score[m][2 * i][2], score[m][2 * i][3]);
        left[m][2] = pack_two<T>(score[m][2 * i + 1][0], score[m][2 * i + 1][1]);
        left[m][3] = pack_two<T>(score[m][2 * i + 1][2], score[m][2 * i + 1][3]);
      }
#pragma unroll
      for (int n = 0; n < D / 16; ++n) {
        uint32_t right[4];
        loadMatricesTransposed(right, chunkPair<D>(vLane, n) + i * 16 * D * 2);
#pragma unroll
        for (int m = 0; m < kRowTiles; ++m) {
          multiplyAdd(output[m][2 * n], left[m], right[0], right[1], T());
          multiplyAdd(output[m][2 * n + 1], left[m], right[2], right[3], T());
        }
      }
    }
  }

  /// Divides by the sums and stores whole rows: through the warp's own rows of the Q tile, which nobody else reads.
  __device__ void store(T* to, int rows) {
    __syncwarp();
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float scale = 1 / sumOver<4>(sum[m][half]);
        const int row = (warp * kRowTiles + m) * 16 + half * 8 + lane / 4;
#pragma unroll
        for (int n = 0; n < D / 8; ++n) {
          const uint32_t pair = pack_two<T>(output[m][n][half * 2] * scale, output[m][n][half * 2 + 1] * scale);
          storeShared(q + swizzled<D>(row, n) + lane % 4 * 4, pair);
        }
      }
    }
    __syncwarp();
    constexpr int kChunks = D / 8, kWarpRows = 16 * kRowTiles;
#pragma unroll
    for (int step = 0; step < kWarpRows * kChunks / 32; ++step) {
      const int row = warp * kWarpRows + step * (32 / kChunks) + lane / kChunks, chunk = lane % kChunks;
      if (row < rows) {
        *reinterpret_cast<uint4*>(to + int64_t(row) * D + chunk * 8) = loadShared16(q + swizzled<D>(row, chunk));
      }
    }
  }

  __device__ void run() {
    const HeadRows rows = headRows(a);
    const int firstRow = firstRowOfTile<CAUSAL, BM>();
    const T* kFrom = static_cast<const T*>(a.k) + rows.kv * D;
    const T* vFrom = static_cast<const T*>(a.v) + rows.kv * D;
    const int keys = visibleKeys<CAUSAL>(a, firstRow + BM);
    const int unmasked = visibleKeys<CAUSAL>(a, firstRow + 1);  // keys that every row of the tile sees
    startTile<BM>(q, static_cast<const T*>(a.q) + (rows.q + firstRow) * D, a.q_len - firstRow);
    startTile<BN>(k, kFrom, a.kv_len);
    copy_commit();
    for (int key0 = 0; key0 < keys; key0 += BN) {
      copy_wait<0>();
      __syncthreads();  // K has arrived, and nobody reads V any more
      startTile<BN>(v, vFrom + int64_t(key0) * D, a.kv_len - key0);
      copy_commit();
      multiplyScores();
      copy_wait<0>();
      __syncthreads();  // V has arrived, and nobody reads K any more
      if (key0 + BN < keys) {
        startTile<BN>(k, kFrom + int64_t(key0 + BN) * D, a.kv_len - key0 - BN);
        copy_commit();
      }
      if (key0 + BN > unmasked) mask(key0, firstRow);
      softmax();
      multiplyValues();
    }
    store(static_cast<T*>(a.o) + (rows.q + firstRow) * D, a.q_len - firstRow);
  }
};

#define STRATA_MMA_KERNEL(BM, BN, D, SUFFIX, CAUSAL, T)                                                            \
  extern "C" __global__ void __launch_bounds__(kMmaThreads)                                                    \
      strata_attention_mma_##BM##x##BN##_d##D##_##SUFFIX##_##T(const AttentionArguments a) {                       \
    extern __shared__ __align__(128) char shared[];                                                            \
    FlashMma<T, D, BM, BN, CAUSAL>(a, shared_address(shared)).run();                                            \
  }
#define STRATA_MMA(BM, BN, D, T)                   \
  STRATA_MMA_KERNEL(BM, BN, D, full, false, T)     \
  STRATA_MMA_KERNEL(BM, BN, D, causal, true, T)
#define STRATA_MMA_ALL(OF) \
  OF(64, 64, 32, bf16)     \
  OF(64, 64, 64, bf16)     \
  OF(64, 64, 128, bf16)    \
  OF(128, 64, 32, bf16)    \
  OF(128, 64, 64, bf16)    \
  OF(128, 32, 128, bf16)   \
  OF(128, 64, 32, f16)     \
  OF(128, 64, 64, f16)     \
  OF(128, 32, 128, f16)
STRATA_MMA_ALL(STRATA_MMA)

}  // namespace attention

void add_flash_mma_attention(Catalogue& catalogue) {
  using namespace attention;
  const char* small = "mma.sync between registers, 16 query rows a warp";
  const char* large = "32 query rows a warp: each fragment of K and V is used twice as often";
#define STRATA_ADD_MMA_KERNEL(BM, BN, D, SUFFIX, CAUSAL, T)                                                             \
  add_rung(catalogue,                                                                                               \
           Rung{"strata_attention_mma_" #BM "x" #BN "_d" #D "_" #SUFFIX "_" #T, BM == 64 ? small : large, "mma", D,      \
                Type::T, CAUSAL, BM, kMmaThreads,                                                                   \
                [](const AttentionCase&) { return std::size_t(FlashMma<T, D, BM, BN, CAUSAL>::kSharedBytes); }},    \
           strata_attention_mma_##BM##x##BN##_d##D##_##SUFFIX##_##T);
#define STRATA_ADD_MMA(BM, BN, D, T)                  \
  STRATA_ADD_MMA_KERNEL(BM, BN, D, full, false, T)    \
  STRATA_ADD_MMA_KERNEL(BM, BN, D, causal, true, T)
  STRATA_MMA_ALL(STRATA_ADD_MMA)
#undef STRATA_ADD_MMA
#undef STRATA_ADD_MMA_KERNEL
}

#undef STRATA_MMA_ALL
#undef STRATA_MMA
#undef STRATA_MMA_KERNEL

}  // namespace ladder

// Naive attention, fp32: one CTA a query row, all its scores in shared memory.
//
// Teaches: every row reads all of K and V again, so the L2 carries q_len times the data; and what the access pattern of
// one load costs. "strided" gives each thread a key of its own, so a warp's load touches 32 lines; "coalesced" gives
// each warp a key and its lanes neighbouring elements, at the price of a shuffle reduction for every key.
#include <string>

#include "attention.hpp"
#include "case.hpp"
#include "device.cuh"

namespace ladder {
namespace attention {

constexpr int kNaiveThreads = 128;
constexpr int kNaiveWarps = kNaiveThreads / 32;

template <int D, bool COALESCED>
__device__ __forceinline__ void naive(const AttentionArguments& a) {
  extern __shared__ float shared[];
  __shared__ float scratch[kNaiveWarps];
  float* parts = shared;                    // partial outputs
  float* query = parts + kNaiveThreads;     // d
  float* scores = query + D;                // kv_len
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  const HeadRows rows = headRows(a);
  const float* q = static_cast<const float*>(a.q) + (rows.q + blockIdx.x) * D;
  const float* k = static_cast<const float*>(a.k) + rows.kv * D;
  const float* v = static_cast<const float*>(a.v) + rows.kv * D;
  if (tid < D) query[tid] = q[tid] * a.scale_log2;
  __syncthreads();

  float peak = kMinusInfinity;
  if constexpr (COALESCED) {
    for (int key = warp; key < a.kv_len; key += kNaiveWarps) {
      float score = 0;
#pragma unroll
      for (int i = 0; i < D; i += 32) score += query[i + lane] * k[int64_t(key) * D + i + lane];
      score = sumOver<32>(score);
      if (lane == 0) scores[key] = score;
      peak = fmaxf(peak, score);
    }
  } else {
    for (int key = tid; key < a.kv_len; key += kNaiveThreads) {
      float score = 0;
#pragma unroll 16
      for (int i = 0; i < D; ++i) score += query[i] * k[int64_t(key) * D + i];
      scores[key] = score;
      peak = fmaxf(peak, score);
    }
  }
  peak = reduce_cta<Max, kNaiveThreads>(peak, scratch);

  float sum = 0;
  for (int key = tid; key < a.kv_len; key += kNaiveThreads) {
    const float weight = exp2Fast(scores[key] - peak);
    scores[key] = weight;
    sum += weight;
  }
  sum = reduce_cta<Add, kNaiveThreads>(sum, scratch);

  constexpr int kParts = kNaiveThreads / D;  // threads that share a column
  const int column = tid % D, part = tid / D;
  float output = 0;
#pragma unroll 4
  for (int key = part; key < a.kv_len; key += kParts) output += scores[key] * v[int64_t(key) * D + column];
  parts[tid] = output;
  __syncthreads();
  if (part == 0) {
#pragma unroll
    for (int p = 1; p < kParts; ++p) output += parts[p * D + column];
    static_cast<float*>(a.o)[(rows.q + blockIdx.x) * D + column] = output / sum;
  }
}

#define STRATA_NAIVE(ACCESS, FLAG, D)                                                                         \
  extern "C" __global__ void __launch_bounds__(kNaiveThreads)                                                 \
      strata_attention_naive_##ACCESS##_d##D##_f32(const AttentionArguments a) {                              \
    naive<D, FLAG>(a);                                                                                        \
  }
STRATA_NAIVE(strided, false, 32)
STRATA_NAIVE(strided, false, 64)
STRATA_NAIVE(strided, false, 128)
STRATA_NAIVE(coalesced, true, 32)
STRATA_NAIVE(coalesced, true, 64)
STRATA_NAIVE(coalesced, true, 128)
#undef STRATA_NAIVE

}  // namespace attention

namespace {

constexpr long kLargestSharedBytes = 227L * 1024 - 4 * attention::kNaiveWarps;

std::size_t shared_bytes(const AttentionCase& c) {
  const long bytes = 4 * (attention::kNaiveThreads + c.head_dim + c.kv_len);
  require(bytes <= kLargestSharedBytes, "all scores of a row must fit in shared memory: kv is too long");
  return static_cast<std::size_t>(bytes);
}

}  // namespace

void add_naive_attention(Catalogue& catalogue) {
  using namespace attention;
  const char* strided = "one CTA a row; every lane reads a key of its own";
  const char* coalesced = "one CTA a row; the lanes of a warp read one key together";
#define STRATA_ADD_NAIVE(ACCESS, D)                                                                            \
  add_rung(catalogue,                                                                                          \
           Rung{"strata_attention_naive_" #ACCESS "_d" #D "_f32", ACCESS, "naive", D, Type::f32, false, 1,      \
                kNaiveThreads, shared_bytes},                                                                  \
           strata_attention_naive_##ACCESS##_d##D##_f32)
  STRATA_ADD_NAIVE(strided, 32);
  STRATA_ADD_NAIVE(strided, 64);
  STRATA_ADD_NAIVE(strided, 128);
  STRATA_ADD_NAIVE(coalesced, 32);
  STRATA_ADD_NAIVE(coalesced, 64);
  STRATA_ADD_NAIVE(coalesced, 128);
#undef STRATA_ADD_NAIVE
}

}  // namespace ladder

// Decoding: one query row against a long cache of keys, cut into splits that are put together by a second launch.
//
// Teaches: with one query there is one CTA a head and nothing to fill the chip, so the keys are split over CTAs and the
// partial softmaxes combined; the cache is read once, so the memory decides. Grouped queries: "split" gives each query
// head CTAs of its own, so the heads of a group read the same keys again (from the L2, if they keep in step);
// "grouped" puts the heads of a group into the sixteen rows of one mma.sync tile and reads them once.
#include "attention.hpp"
#include "case.hpp"
#include "device.cuh"
#include "mma.cuh"

namespace ladder {
namespace attention {

constexpr int kDecodeWarps = 4;
constexpr int kDecodeThreads = 32 * kDecodeWarps;
constexpr float kLowest = -1e30f;  ///< of a running maximum that has seen no key: finite, so that differences are

/// Running softmax of one row over some of the keys.
struct RowState {
  float peak = kLowest, sum = 0;
};

// ---- one query head a CTA ----

/// Grid: x = split of SPLIT keys, y = head, z = batch. A key's d elements are 16 bytes a lane; a warp takes several keys.
template <class T, int D, int SPLIT>
__device__ __forceinline__ void decodeSplit(const AttentionArguments& a) {
  constexpr int kLanes = D / 8;                       ///< of a key
  constexpr int kKeys = 32 / kLanes;                  ///< of a warp's load
  constexpr int kUnroll = 4;                          ///< loads of K, and of V, under way
  constexpr int kParts = kDecodeWarps * kKeys;        ///< partial results of the CTA
  __shared__ float outputs[kParts][D];
  __shared__ RowState states[kParts];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sub = lane / kLanes, element = lane % kLanes * 8;
  const HeadRows rows = headRows(a);
  const int begin = blockIdx.x * SPLIT, end = min(a.kv_len, begin + SPLIT);
  const T* q = static_cast<const T*>(a.q) + rows.q * D + element;
  const T* k = static_cast<const T*>(a.k) + rows.kv * D + element;
  const T* v = static_cast<const T*>(a.v) + rows.kv * D + element;
  float2 query[4];
  const uint4 qRaw = *reinterpret_cast<const uint4*>(q);
  const uint32_t qPairs[4] = {qRaw.x, qRaw.y, qRaw.z, qRaw.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    query[i] = unpack(qPairs[i], T());
    query[i].x *= a.scale_log2;
    query[i].y *= a.scale_log2;
  }
  RowState state;
  float output[8] = {};
  for (int key0 = begin + warp * kKeys * kUnroll; key0 < end; key0 += kParts * kUnroll) {
    uint4 keys[kUnroll], values[kUnroll];
    float score[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int64_t key = min(key0 + u * kKeys + sub, end - 1);  // repeats the last one, and masks it below
      keys[u] = __ldg(reinterpret_cast<const uint4*>(k + key * D));
      values[u] = __ldg(reinterpret_cast<const uint4*>(v + key * D));
    }
    float peak = state.peak;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const uint32_t pairs[4] = {keys[u].x, keys[u].y, keys[u].z, keys[u].w};
      float sum = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 x = unpack(pairs[i], T());
        sum += x.x * query[i].x;
        sum += x.y * query[i].y;
      }
      sum = sumOver<kLanes>(sum);
      score[u] = key0 + u * kKeys + sub < end ? sum : kLowest;
      peak = fmaxf(peak, score[u]);
    }
    const float rescale = exp2Fast(state.peak - peak);
    state.peak = peak;
    state.sum *= rescale;
#pragma unroll
    for (float& o : output) o *= rescale;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const float weight = key0 + u * kKeys + sub < end ? exp2Fast(score[u] - peak) : 0;
      state.sum += weight;
      const uint32_t pairs[4] = {values[u].x, values[u].y, values[u].z, values[u].w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 x = unpack(pairs[i], T());
        output[2 * i] += weight * x.x;
        output[2 * i + 1] += weight * x.y;
      }
    }
  }

  const int part = warp * kKeys + sub;
#pragma unroll
  for (int i = 0; i < 8; ++i) outputs[part][element + i] = output[i];
  if (element == 0) states[part] = state;
  __syncthreads();
  if (threadIdx.x >= D) return;
  float peak = kLowest, sum = 0, total = 0;
#pragma unroll
  for (int p = 0; p < kParts; ++p) peak = fmaxf(peak, states[p].peak);
#pragma unroll
  for (int p = 0; p < kParts; ++p) {
    const float factor = exp2Fast(states[p].peak - peak);
    sum += states[p].sum * factor;
    total += outputs[p][threadIdx.x] * factor;
  }
  const int64_t at = rows.q * a.splits + blockIdx.x;
  a.workspace[at * D + threadIdx.x] = total;
  if (threadIdx.x == 0) a.states[at] = make_float2(peak, sum);
}

// ---- the query heads of a group together ----

constexpr int kGroupedRows = 16;    ///< of the mma.sync tile: query heads of a group, the rest zeros
constexpr int kGroupedKeys = 16;    ///< of a warp's step
constexpr int kGroupedStages = 3;   ///< steps of K and V that a warp has under way

constexpr int groupedSharedBytes(int d) {
  return (kGroupedRows + kDecodeWarps * kGroupedStages * 2 * kGroupedKeys) * d * 2;
}

/// Grid: x = split of SPLIT keys, y = key head, z = batch. Each warp works alone on every fourth block of 16 keys.
template <class T, int D, int SPLIT>
struct DecodeGrouped {
  static constexpr int kRowBytes = D * 2;
  static constexpr uint32_t kTileBytes = kGroupedKeys * kRowBytes;
  static constexpr int kChunks = D / 8;

  const AttentionArguments& a;
  uint32_t shared;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int group = a.heads / a.kv_heads;
  int64_t kvHead = int64_t(blockIdx.z) * a.kv_heads + blockIdx.y;
  int begin = blockIdx.x * SPLIT, end = min(a.kv_len, begin + SPLIT);
  const T* k = static_cast<const T*>(a.k) + kvHead * a.kv_len * D;
  const T* v = static_cast<const T*>(a.v) + kvHead * a.kv_len * D;
  float output[D / 8][4] = {};
  RowState states[2];  ///< of rows lane / 4 and lane / 4 + 8; sums of this thread's keys only

  __device__ uint32_t ring(int stage) const {
    return shared + kTileBytes + (warp * kGroupedStages + stage) * 2 * kTileBytes;
  }
  /// Starts copies of 16 rows by one warp; those that do not exist become zeros.
  __device__ void startRows(uint32_t to, const T* from, int rows) {
#pragma unroll
    for (int step = 0; step < kGroupedKeys * kChunks / 32; ++step) {
      const int row = step * (32 / kChunks) + lane / kChunks, chunk = lane % kChunks;
      copy_async<16>(to + swizzled<D>(row, chunk), from + row * D + chunk * 8, row < rows);
    }
  }
  __device__ void startKeys(int step) {
    const int key0 = begin + (step * kDecodeWarps + warp) * kGroupedKeys;
    if (key0 < end) {
      const uint32_t to = ring(step % kGroupedStages);
      startRows(to, k + int64_t(key0) * D, end - key0);
      startRows(to + kTileBytes, v + int64_t(key0) * D, end - key0);
    }
    copy_commit();
  }

  __device__ void step(const uint32_t (&query)[D / 16][4], uint32_t from, int key0) {
    float score[2][4] = {};
    const uint32_t kLane = from + swizzled<D>(lane / 16 * 8 + lane % 8, lane / 8 % 2);
    const uint32_t vLane = from + kTileBytes + swizzled<D>(lane % 16, lane / 16);
#pragma unroll
    for (int i = 0; i < D / 16; ++i) {
      uint32_t right[4];
      loadMatrices(right, chunkPair<D>(kLane, i));
      multiplyAdd(score[0], query[i], right[0], right[1], T());
      multiplyAdd(score[1], query[i], right[2], right[3], T());
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float peak = states[half].peak;
#pragma unroll
      for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int x = 0; x < 2; ++x) {
          float& s = score[n][half * 2 + x];
          s = key0 + n * 8 + lane % 4 * 2 + x < end ? s * a.scale_log2 : kMinusInfinity;
          peak = fmaxf(peak, s);
        }
      }
      peak = maxOver<4>(peak);  // finite: the first key of a step exists
      const float rescale = exp2Fast(states[half].peak - peak);
      states[half].peak = peak;
      states[half].sum *= rescale;
#pragma unroll
      for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int x = 0; x < 2; ++x) {
          float& s = score[n][half * 2 + x];
          s = exp2Fast(s - peak);
          states[half].sum += s;
        }
      }
#pragma unroll
      for (int n = 0; n < D / 8; ++n) {
        output[n][half * 2] *= rescale;
        output[n][half * 2 + 1] *= rescale;
      }
    }
    const uint32_t weights[4] = {pack_two<T>(score[0][0], score[0][1]), pack_two<T>(score[0][2], score[0][3]),
                                 pack_two<T>(score[1][0], score[1][1]), pack_two<T>(score[1][2], score[1][3])};
#pragma unroll
    for (int n = 0; n < D / 16; ++n) {
      uint32_t right[4];
      loadMatricesTransposed(right, chunkPair<D>(vLane, n));
      multiplyAdd(output[2 * n], weights, right[0], right[1], T());
      multiplyAdd(output[2 * n + 1], weights, right[2], right[3], T());
    }
  }

  /// Puts the four warps' results together and writes the split's.
  __device__ void combineWarps(float (*outputs)[kGroupedRows][D], RowState (*all)[kGroupedRows]) {
    __syncthreads();  // the rings are free
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = half * 8 + lane / 4;
      const float sum = sumOver<4>(states[half].sum);
      if (lane % 4 == 0) all[warp][row] = {states[half].peak, sum};
#pragma unroll
      for (int n = 0; n < D / 8; ++n) {
        *reinterpret_cast<float2*>(&outputs[warp][row][n * 8 + lane % 4 * 2]) =
            make_float2(output[n][half * 2], output[n][half * 2 + 1]);
      }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < group * D; i += kDecodeThreads) {
      const int row = i / D, column = i % D;
      float peak = kLowest, sum = 0, total = 0;
#pragma unroll
      for (int w = 0; w < kDecodeWarps; ++w) peak = fmaxf(peak, all[w][row].peak);
#pragma unroll
      for (int w = 0; w < kDecodeWarps; ++w) {
        const float factor = exp2Fast(all[w][row].peak - peak);
        sum += all[w][row].sum * factor;
        total += outputs[w][row][column] * factor;
      }
      const int64_t at = (kvHead * group + row) * a.splits + blockIdx.x;
      a.workspace[at * D + column] = total;
      if (column == 0) a.states[at] = make_float2(peak, sum);
    }
  }

  __device__ void run(float (*outputs)[kGroupedRows][D], RowState (*all)[kGroupedRows]) {
    if (warp == 0) startRows(shared, static_cast<const T*>(a.q) + kvHead * group * D, group);
    copy_commit();
#pragma unroll
    for (int s = 0; s < kGroupedStages - 1; ++s) startKeys(s);
    copy_wait<kGroupedStages - 1>();
    __syncthreads();  // Q has arrived
    uint32_t query[D / 16][4];
    const uint32_t qLane = shared + swizzled<D>(lane % 16, lane / 16);
#pragma unroll
    for (int i = 0; i < D / 16; ++i) loadMatrices(query[i], chunkPair<D>(qLane, i));
    for (int s = 0;; ++s) {
      const int key0 = begin + (s * kDecodeWarps + warp) * kGroupedKeys;
      if (key0 >= end) break;
      startKeys(s + kGroupedStages - 1);
      copy_wait<kGroupedStages - 1>();
      __syncwarp();  // what the other lanes copied has arrived too
      step(query, ring(s % kGroupedStages), key0);
      __syncwarp();  // nobody reads the stage any more
    }
    copy_wait<0>();
    combineWarps(outputs, all);
  }
};

// ---- combination ----

/// Grid: x = head, y = batch; a thread for each of D columns. Weighs the splits by their maxima and sums.
template <class T, int D>
__device__ __forceinline__ void combineSplits(const AttentionArguments& a) {
  const int64_t row = int64_t(blockIdx.y) * a.heads + blockIdx.x;
  const float2* states = a.states + row * a.splits;
  const float* partial = a.workspace + row * a.splits * D + threadIdx.x;
  float peak = kLowest;
  for (int s = 0; s < a.splits; ++s) peak = fmaxf(peak, states[s].x);
  float sum = 0, total = 0;
#pragma unroll 4
  for (int s = 0; s < a.splits; ++s) {
    const float factor = exp2Fast(states[s].x - peak);
    sum += states[s].y * factor;
    total += partial[int64_t(s) * D] * factor;
  }
  static_cast<T*>(a.o)[row * D + threadIdx.x] = T(total / sum);
}

#define STRATA_DECODE_KERNELS(SPLIT, D, T)                                                                            \
  extern "C" __global__ void __launch_bounds__(kDecodeThreads)                                                        \
      strata_attention_decode_split##SPLIT##_d##D##_##T(const AttentionArguments a) {                                 \
    decodeSplit<T, D, SPLIT>(a);                                                                                      \
  }                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(kDecodeThreads)                                                        \
      strata_attention_decode_grouped##SPLIT##_d##D##_##T(const AttentionArguments a) {                               \
    extern __shared__ __align__(128) char shared[];                                                                   \
    __shared__ RowState states[kDecodeWarps][kGroupedRows];                                                           \
    DecodeGrouped<T, D, SPLIT>{a, shared_address(shared)}.run(                                                         \
        reinterpret_cast<float (*)[kGroupedRows][D]>(shared + kGroupedRows * D * 2), states);                         \
  }
#define STRATA_COMBINE_KERNEL(D, T)                                               \
  extern "C" __global__ void __launch_bounds__(D)                                 \
      strata_attention_decode_combine_d##D##_##T(const AttentionArguments a) {    \
    combineSplits<T, D>(a);                                                       \
  }
#define STRATA_DECODE(OF, D, T) OF(256, D, T) OF(1024, D, T)
#define STRATA_DECODE_ALL(OF)   \
  STRATA_DECODE(OF, 32, bf16)   \
  STRATA_DECODE(OF, 64, bf16)   \
  STRATA_DECODE(OF, 128, bf16)  \
  STRATA_DECODE(OF, 128, f16)
STRATA_DECODE_ALL(STRATA_DECODE_KERNELS)
STRATA_COMBINE_KERNEL(32, bf16)
STRATA_COMBINE_KERNEL(64, bf16)
STRATA_COMBINE_KERNEL(128, bf16)
STRATA_COMBINE_KERNEL(128, f16)

}  // namespace attention

namespace {

using DecodeKernel = void(AttentionArguments);

/// One way of decoding: its kernel, its combination, and whether the heads of a group share CTAs.
struct Decode {
  const char* name;
  DecodeKernel* kernel;
  const char* combine_name;
  DecodeKernel* combine;
  const char* teaches;
  int head_dim;
  Type type;
  int split;
  bool grouped;
};

void add(Catalogue& catalogue, const Decode& decode) {
  using namespace attention;
  auto make = [=](const Shape& shape) {
    const AttentionCase c = make_attention_case(shape, decode.head_dim, decode.type, false, true);
    require(!decode.grouped || c.heads / c.kv_heads <= kGroupedRows, "a group may have at most 16 query heads");
    AttentionArguments a = c.arguments();
    a.splits = static_cast<int>(blocks_of(c.kv_len, decode.split));
    const auto parts = static_cast<std::size_t>(c.rows()) * static_cast<std::size_t>(a.splits);
    const TensorPtr workspace = Tensor::output(Type::f32, parts * static_cast<std::size_t>(c.head_dim));
    const TensorPtr states = Tensor::output(Type::f32, 2 * parts);
    a.workspace = workspace->data<float>();
    a.states = states->data<float2>();
    Problem p = make_attention_problem(c, (decode.grouped ? "grouped" : "split") + std::to_string(decode.split));
    p.tensors.insert(p.tensors.end(), {workspace, states});
    const auto batch = static_cast<unsigned>(c.batch), heads = static_cast<unsigned>(c.heads);
    const unsigned rows = decode.grouped ? static_cast<unsigned>(c.kv_heads) : heads;
    const std::size_t shared = decode.grouped ? std::size_t(groupedSharedBytes(c.head_dim)) : 0;
    p.plan.add(decode.name, decode.kernel,
               Geometry{dim3(static_cast<unsigned>(a.splits), rows, batch), dim3(kDecodeThreads), shared}, a);
    p.plan.add(decode.combine_name, decode.combine,
               Geometry{dim3(heads, batch), dim3(static_cast<unsigned>(c.head_dim))}, a);
    return p;
  };
  catalogue.push_back({decode.name, "attention", dtype_cell(decode.type), decode.teaches, attention_keys(true), make});
}

}  // namespace

void add_decode_attention(Catalogue& catalogue) {
  using namespace attention;
#define STRATA_ADD_DECODE_KERNELS(SPLIT, D, T)                                                                       \
  add(catalogue, {"strata_attention_decode_split" #SPLIT "_d" #D "_" #T,                                             \
                  strata_attention_decode_split##SPLIT##_d##D##_##T, "strata_attention_decode_combine_d" #D "_" #T,  \
                  strata_attention_decode_combine_d##D##_##T, "one query, keys split over CTAs, then combined", D,   \
                  Type::T, SPLIT, false});                                                                           \
  add(catalogue, {"strata_attention_decode_grouped" #SPLIT "_d" #D "_" #T,                                           \
                  strata_attention_decode_grouped##SPLIT##_d##D##_##T, "strata_attention_decode_combine_d" #D "_" #T, \
                  strata_attention_decode_combine_d##D##_##T,                                                        \
                  "the query heads of a group share an mma.sync tile and read their keys once", D, Type::T, SPLIT,   \
                  true});
  STRATA_DECODE_ALL(STRATA_ADD_DECODE_KERNELS)
#undef STRATA_ADD_DECODE_KERNELS
}

#undef STRATA_DECODE_ALL
#undef STRATA_DECODE
#undef STRATA_COMBINE_KERNEL
#undef STRATA_DECODE_KERNELS

}  // namespace ladder

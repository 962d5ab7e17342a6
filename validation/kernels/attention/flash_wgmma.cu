// Hopper attention: TMA, wgmma and warp specialisation.
//
// Teaches: one thread of a producer warpgroup keeps two stages of K and V on their way while two consumer warpgroups,
// 64 query rows each, multiply; wgmma reads Q, K and V from shared memory without register traffic, and setmaxnreg
// moves the producer's registers to the consumers. "serial" waits for each product before its softmax, so only the
// other warpgroup fills the tensor cores meanwhile; "overlap" starts the next scores before the softmax of these, and
// multiplies the last weights by V beside it.
#include <type_traits>

#include "attention.hpp"
#include "case.hpp"
#include "tensor_map.hpp"
#include "wgmma.cuh"

namespace ladder {
namespace attention {

constexpr int kWgmmaRows = 128;  ///< query rows of a CTA
constexpr int kWgmmaKeys = 128;  ///< keys at a time
constexpr int kWgmmaStages = 2;
constexpr int kWgmmaThreads = 384;
constexpr int kGroupThreads = 128;
constexpr int kConsumerGroups = 2;
constexpr int kGroupRows = kWgmmaRows / kConsumerGroups;
constexpr int kProducerRegisters = 24, kConsumerRegisters = 240;

struct WgmmaMaps {
  CUtensorMap q, k, v, o;
};

struct WgmmaBarriers {
  uint64_t qFull, kFull[kWgmmaStages], kEmpty[kWgmmaStages], vFull[kWgmmaStages], vEmpty[kWgmmaStages];
};

template <class T, int D, bool CAUSAL, bool OVERLAP>
struct FlashWgmma {
  static constexpr int kRowBytes = D < 64 ? D * 2 : 128;  ///< of a box
  static constexpr int kBoxes = D * 2 / kRowBytes;
  static constexpr uint32_t kBoxBytes = 128 * kRowBytes;  ///< 128 rows, of Q, K or V
  static constexpr uint32_t kTileBytes = kBoxes * kBoxBytes;
  static constexpr int kSharedBytes = 1024 + (1 + 2 * kWgmmaStages) * kTileBytes;  ///< with room to align
  static constexpr int kBoxSteps = kRowBytes / 32;  ///< k16 steps in a box

  const WgmmaMaps& maps;
  const AttentionArguments& a;
  WgmmaBarriers& bars;
  uint32_t q;  ///< shared-memory address of the Q tile; K and V stages follow
  int firstRow = firstRowOfTile<CAUSAL, kWgmmaRows>();
  int head = blockIdx.z * a.heads + blockIdx.y;
  int keys = visibleKeys<CAUSAL>(a, firstRow + kWgmmaRows);
  int tiles = (keys + kWgmmaKeys - 1) / kWgmmaKeys;

  __device__ uint32_t k(int stage) const { return q + (1 + stage) * kTileBytes; }
  __device__ uint32_t v(int stage) const { return q + (1 + kWgmmaStages + stage) * kTileBytes; }
  static __device__ uint32_t address(const uint64_t& bar) { return bench::smemAddr(&bar); }
  static __device__ unsigned parity(int tile) { return tile / kWgmmaStages % 2; }

  __device__ void initBarriers() {
    bench::mbarInit(address(bars.qFull), 1);
    for (int s = 0; s < kWgmmaStages; ++s) {
      bench::mbarInit(address(bars.kFull[s]), 1);
      bench::mbarInit(address(bars.vFull[s]), 1);
      bench::mbarInit(address(bars.kEmpty[s]), kConsumerGroups * 4);  // one lane of each warp
      bench::mbarInit(address(bars.vEmpty[s]), kConsumerGroups * 4);
    }
    bench::mbarFence();
  }

  // ---- producer: one thread ----

  __device__ void loadTile(uint32_t to, const CUtensorMap& map, int row, int at, uint64_t& bar) {
    bench::mbarExpect(address(bar), kTileBytes);
#pragma unroll
    for (int b = 0; b < kBoxes; ++b) loadBox(to + b * kBoxBytes, map, b * 64, row, at, address(bar));
  }
  __device__ void produce() {
    const int kvHead = blockIdx.z * a.kv_heads + blockIdx.y / (a.heads / a.kv_heads);
    loadTile(q, maps.q, firstRow, head, bars.qFull);
    for (int tile = 0; tile < tiles; ++tile) {
      const int stage = tile % kWgmmaStages;
      waitFor(address(bars.kEmpty[stage]), parity(tile) ^ 1);
      loadTile(k(stage), maps.k, tile * kWgmmaKeys, kvHead, bars.kFull[stage]);
      waitFor(address(bars.vEmpty[stage]), parity(tile) ^ 1);
      loadTile(v(stage), maps.v, tile * kWgmmaKeys, kvHead, bars.vFull[stage]);
    }
  }

  // ---- consumers: a warpgroup each ----

  /// Where this thread's scores lie: rows lane / 4 and lane / 4 + 8 of the warp's 16, keys 8 * n + lane % 4 * 2 + {0, 1}.
  struct Consumer {
    float output[D / 2] = {};
    float score[kWgmmaKeys / 2];
    uint32_t weights[kWgmmaKeys / 16][4];
    float peak[2] = {kMinusInfinity, kMinusInfinity}, sum[2] = {}, rescale[2];
  };

  static __device__ void release(uint64_t& bar) {
    if (threadIdx.x % 32 == 0) bench::mbarArrive(address(bar));
  }

  /// Starts scores = Q K^T for the keys of `tile`.
  __device__ void startScores(Consumer& c, int group, int tile) {
    const int stage = tile % kWgmmaStages;
    waitFor(address(bars.kFull[stage]), parity(tile));
    const uint64_t left = tileDescriptor<kRowBytes>(q + group * kGroupRows * kRowBytes, 16);
    const uint64_t right = tileDescriptor<kRowBytes>(k(stage), 16);
    holdRegisters(c.score);
    bench::wgmmaFence();
#pragma unroll
    for (int i = 0; i < D / 16; ++i) {
      const uint64_t step = (i / kBoxSteps * kBoxBytes + i % kBoxSteps * 32) >> 4;
      if (i == 0) wgmmaScores<T, false>(c.score, left + step, right + step);
      else wgmmaScores<T, true>(c.score, left + step, right + step);
    }
    bench::wgmmaCommit();
  }

  /// Starts output += weights * V for the keys of `tile`.
  __device__ void startValues(Consumer& c, int tile) {
    const int stage = tile % kWgmmaStages;
    waitFor(address(bars.vFull[stage]), parity(tile));
    const uint64_t right = tileDescriptor<kRowBytes>(v(stage), kBoxBytes);
    holdRegisters(c.output);
    bench::wgmmaFence();
#pragma unroll
    for (int i = 0; i < kWgmmaKeys / 16; ++i) wgmmaValues<T>(c.output, c.weights[i], right + (i * 16 * kRowBytes >> 4));
    bench::wgmmaCommit();
  }

  /// Waits until at most PENDING products run; then the scores' stage may be filled again.
  template <int PENDING>
  __device__ void finishScores(Consumer& c, int tile) {
    bench::wgmmaWait<PENDING>();
    holdRegisters(c.score);
    release(bars.kEmpty[tile % kWgmmaStages]);
  }
  __device__ void finishValues(Consumer& c, int tile) {
    bench::wgmmaWait<0>();
    holdRegisters(c.output);
    release(bars.vEmpty[tile % kWgmmaStages]);
  }

  /// Hides keys that do not exist or lie above the diagonal.
  __device__ void mask(Consumer& c, int group, int tile) {
    const int lane = threadIdx.x % 32;
    const int row = firstRow + group * kGroupRows + threadIdx.x / 32 % 4 * 16 + lane / 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int visible = visibleKeys<CAUSAL>(a, row + half * 8 + 1) - tile * kWgmmaKeys - lane % 4 * 2;
#pragma unroll
      for (int n = 0; n < kWgmmaKeys / 8; ++n) {
        if (n * 8 >= visible) c.score[n * 4 + half * 2] = kMinusInfinity;
        if (n * 8 + 1 >= visible) c.score[n * 4 + half * 2 + 1] = kMinusInfinity;
      }
    }
  }

  /// Scores become weights in place; `rescale` is what the output so far shrinks by.
  __device__ void softmax(Consumer& c, int group, int tile) {
    const int unmasked = visibleKeys<CAUSAL>(a, firstRow + group * kGroupRows + 1);  // keys that all its rows see
    if ((tile + 1) * kWgmmaKeys > unmasked) mask(c, group, tile);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float newPeak = c.peak[half];
#pragma unroll
      for (int n = 0; n < kWgmmaKeys / 8; ++n) {
        newPeak = fmaxf(newPeak, fmaxf(c.score[n * 4 + half * 2], c.score[n * 4 + half * 2 + 1]));
      }
      newPeak = maxOver<4>(newPeak);  // finite: key 0 is in the first tile and seen by every row
      c.rescale[half] = exp2Fast((c.peak[half] - newPeak) * a.scale_log2);
      c.peak[half] = newPeak;
      const float shift = newPeak * a.scale_log2;
      float added = 0;
#pragma unroll
      for (int n = 0; n < kWgmmaKeys / 8; ++n) {
#pragma unroll
        for (int x = 0; x < 2; ++x) {
          float& s = c.score[n * 4 + half * 2 + x];
          s = exp2Fast(s * a.scale_log2 - shift);
          added += s;
        }
      }
      c.sum[half] = c.sum[half] * c.rescale[half] + added;  // this thread's keys only; added up at the end
    }
  }

  __device__ void packWeights(Consumer& c) {
#pragma unroll
    for (int i = 0; i < kWgmmaKeys / 16; ++i) {
#pragma unroll
      for (int x = 0; x < 4; ++x) c.weights[i][x] = pack_two<T>(c.score[i * 8 + x * 2], c.score[i * 8 + x * 2 + 1]);
    }
  }
  __device__ void shrinkOutput(Consumer& c) {
#pragma unroll
    for (int n = 0; n < D / 8; ++n) {
#pragma unroll
      for (int x = 0; x < 4; ++x) c.output[n * 4 + x] *= c.rescale[x / 2];
    }
  }

  __device__ void consume(int group) {
    Consumer c;
    waitFor(address(bars.qFull), 0);
    if constexpr (OVERLAP) {
      startScores(c, group, 0);
      finishScores<0>(c, 0);
      softmax(c, group, 0);
      packWeights(c);
      for (int tile = 1; tile < tiles; ++tile) {
        startScores(c, group, tile);
        startValues(c, tile - 1);
        finishScores<1>(c, tile);
        softmax(c, group, tile);
        finishValues(c, tile - 1);
        shrinkOutput(c);
        packWeights(c);
      }
      startValues(c, tiles - 1);
      finishValues(c, tiles - 1);
    } else {
      for (int tile = 0; tile < tiles; ++tile) {
        startScores(c, group, tile);
        finishScores<0>(c, tile);
        softmax(c, group, tile);
        shrinkOutput(c);
        packWeights(c);
        startValues(c, tile);
        finishValues(c, tile);
      }
    }
    store(c, group);
  }

  /// Divides by the sums and stores through this group's rows of the Q tile, which it alone has read.
  __device__ void store(Consumer& c, int group) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const float scale[2] = {1 / sumOver<4>(c.sum[0]), 1 / sumOver<4>(c.sum[1])};
    const int row = group * kGroupRows + warp * 16 + lane % 16;
#pragma unroll
    for (int n = 0; n < D / 16; ++n) {
      uint32_t x[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        x[i] = pack_two<T>(c.output[n * 8 + i * 2] * scale[i % 2], c.output[n * 8 + i * 2 + 1] * scale[i % 2]);
      }
      const int chunk = 2 * n + lane / 16;
      constexpr int kChunks = kRowBytes / 16;
      const int mixed = chunk % kChunks ^ (kRowBytes == 128 ? row % 8 : row / 2 % 4);
      storeMatrices(q + chunk / kChunks * kBoxBytes + row * kRowBytes + mixed * 16, x);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
    if (threadIdx.x % kGroupThreads == 0) {
#pragma unroll
      for (int b = 0; b < kBoxes; ++b) {
        storeBox(maps.o, b * 64, firstRow + group * kGroupRows, head,
                 q + b * kBoxBytes + group * kGroupRows * kRowBytes);
      }
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      bench::bulkStoreWaitRead<0>();
    }
  }

  __device__ void run() {
    if (threadIdx.x == 0) initBarriers();
    __syncthreads();
    const int group = int(threadIdx.x) / kGroupThreads;
    if (group == 0) {
      shrinkRegisters<kProducerRegisters>();
      if (threadIdx.x == 0) produce();
    } else {
      growRegisters<kConsumerRegisters>();
      consume(group - 1);
    }
  }
};

#define STRATA_WGMMA_KERNEL(D, ORDER, OVERLAP, SUFFIX, CAUSAL, T)                                              \
  extern "C" __global__ void __launch_bounds__(kWgmmaThreads, 1)                                               \
      strata_attention_wgmma_128x128_##ORDER##_d##D##_##SUFFIX##_##T(const __grid_constant__ WgmmaMaps maps,   \
                                                                     const AttentionArguments a) {             \
    extern __shared__ __align__(1024) char shared[];                                                           \
    __shared__ WgmmaBarriers bars;                                                                             \
    const uint32_t q = (bench::smemAddr(shared) + 1023) / 1024 * 1024;                                         \
    FlashWgmma<T, D, CAUSAL, OVERLAP>{maps, a, bars, q}.run();                                                 \
  }
#define STRATA_WGMMA(D, T)                                    \
  STRATA_WGMMA_KERNEL(D, serial, false, full, false, T)       \
  STRATA_WGMMA_KERNEL(D, serial, false, causal, true, T)      \
  STRATA_WGMMA_KERNEL(D, overlap, true, full, false, T)       \
  STRATA_WGMMA_KERNEL(D, overlap, true, causal, true, T)
STRATA_WGMMA(32, bf16)
STRATA_WGMMA(64, bf16)
STRATA_WGMMA(128, bf16)
STRATA_WGMMA(64, f16)
STRATA_WGMMA(128, f16)
#undef STRATA_WGMMA
#undef STRATA_WGMMA_KERNEL

}  // namespace attention

namespace {

using WgmmaKernel = void(attention::WgmmaMaps, AttentionArguments);

void add(Catalogue& catalogue, const Rung& rung, WgmmaKernel* kernel) {
  auto make = [=](const Shape& shape) {
    const AttentionCase c = make_attention_case(shape, rung.head_dim, rung.type, rung.causal);
    Problem p = make_attention_problem(c, rung.backend);
    attention::WgmmaMaps maps;
    maps.q = head_tensor_map(*c.q, c.head_dim, c.q_len, c.batch * c.heads, attention::kWgmmaRows);
    maps.k = head_tensor_map(*c.k, c.head_dim, c.kv_len, c.batch * c.kv_heads, attention::kWgmmaKeys);
    maps.v = head_tensor_map(*c.v, c.head_dim, c.kv_len, c.batch * c.kv_heads, attention::kWgmmaKeys);
    maps.o = head_tensor_map(*c.o, c.head_dim, c.q_len, c.batch * c.heads, attention::kGroupRows);
    p.plan.add(rung.name, kernel, rung.geometry(c), maps, c.arguments());
    return p;
  };
  catalogue.push_back({rung.name, "attention", dtype_cell(rung.type), rung.teaches, attention_keys(), make});
}

}  // namespace

void add_flash_wgmma_attention(Catalogue& catalogue) {
  using namespace attention;
  const char* serial = "TMA producer, wgmma consumers; each waits for its products";
  const char* overlap = "the next scores are multiplied beside the softmax of these";
#define STRATA_ADD_WGMMA_KERNEL(D, ORDER, OVERLAP, SUFFIX, CAUSAL, T)                                                \
  add(catalogue,                                                                                                     \
      Rung{"strata_attention_wgmma_128x128_" #ORDER "_d" #D "_" #SUFFIX "_" #T, ORDER, "wgmma", D, Type::T, CAUSAL,  \
           kWgmmaRows, kWgmmaThreads,                                                                                \
           [](const AttentionCase&) { return std::size_t(FlashWgmma<T, D, CAUSAL, OVERLAP>::kSharedBytes); }},       \
      strata_attention_wgmma_128x128_##ORDER##_d##D##_##SUFFIX##_##T);
#define STRATA_ADD_WGMMA(D, T)                                    \
  STRATA_ADD_WGMMA_KERNEL(D, serial, false, full, false, T)       \
  STRATA_ADD_WGMMA_KERNEL(D, serial, false, causal, true, T)      \
  STRATA_ADD_WGMMA_KERNEL(D, overlap, true, full, false, T)       \
  STRATA_ADD_WGMMA_KERNEL(D, overlap, true, causal, true, T)
  STRATA_ADD_WGMMA(32, bf16)
  STRATA_ADD_WGMMA(64, bf16)
  STRATA_ADD_WGMMA(128, bf16)
  STRATA_ADD_WGMMA(64, f16)
  STRATA_ADD_WGMMA(128, f16)
#undef STRATA_ADD_WGMMA
#undef STRATA_ADD_WGMMA_KERNEL
}

}  // namespace ladder

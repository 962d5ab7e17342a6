// Rung 5: Hopper. TMA fills a ring of stages, wgmma reads them, CTAs are persistent and share B through clusters.
//
// Teaches: warp specialisation (one producer thread, two consumer warpgroups of 64 rows), mbarriers, TMA multicast, the
// 128-byte swizzle, persistence with a grouped raster, stores by TMA. 128 x N x 64 tiles; `2x1`: two CTAs of a cluster
// take two tiles one above the other, each loads half of their common B and multicasts it to both; `1x1`: no cluster.
//
// Tiles are taken in groups of 8 cluster rows: down a group's rows first, then one column on; CTA c of C takes cluster
// tiles c, c + C, c + 2 C, ... A stage is free when the consumers of both CTAs have read it, full when its bytes
// arrived.
#include "../common/convert.cuh"
#include "gemm.hpp"
#include "layout.hpp"
#include "problem.hpp"
#include "wgmma_tile.cuh"

namespace ladder {

namespace {

using namespace wgmma_tile;

constexpr int kTileM = 128, kDepth = 64, kThreads = 384, kConsumers = 2, kGroupRows = 8;
constexpr int kConsumerRows = kTileM / kConsumers;
constexpr int kStoreCols = 64, kStoreBytes = kConsumerRows * kStoreCols * 2, kStoreBuffers = 2;
constexpr int kABytes = kTileM * kDepth * 2;
constexpr int kBlockBytes = 64 * kDepth * 2;  // 64 x 64 elements: one box of an operand with M or N contiguous
constexpr int kMaxStages = 8;

template <int TILE_N, int STAGES>
struct SharedLayout {
  static constexpr int kBBytes = TILE_N * kDepth * 2;
  static constexpr int kStageBytes = kABytes + kBBytes;
  static constexpr int kStoreAt = STAGES * kStageBytes;
  static constexpr int kBarriersAt = kStoreAt + kConsumers * kStoreBuffers * kStoreBytes;
  static constexpr int kBytes = kBarriersAt + 2 * kMaxStages * 8 + 1024;  // and room to align to 1024
};

struct WgmmaArgs {
  CUtensorMap a, b, d;
  const __nv_bfloat16* c;
  int m, n, k;
  float alpha, beta;
};

/// Position in the ring of stages.
template <int STAGES>
struct Ring {
  int stage = 0;
  unsigned parity = 0;
  __device__ __forceinline__ void next() {
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// Rows and columns of cluster tiles, and which of them comes at an index.
struct Raster {
  int rows, cols;
  __device__ __forceinline__ int count() const { return rows * cols; }
  __device__ __forceinline__ void at(int index, int& row, int& col) const {
    const int group = index / (kGroupRows * cols), first = group * kGroupRows;
    const int height = min(kGroupRows, rows - first), within = index - first * cols;
    row = first + within % height;
    col = within / height;
  }
};

template <class Layout, int TILE_N, int STAGES, int CLUSTER>
struct Gemm {
  using Shared = SharedLayout<TILE_N, STAGES>;
  const WgmmaArgs& p;
  uint32_t base, full, empty;  // shared-memory addresses
  unsigned rank;
  Raster raster;

  __device__ __forceinline__ uint32_t a_stage(int stage) const { return base + stage * Shared::kStageBytes; }
  __device__ __forceinline__ uint32_t b_stage(int stage) const { return a_stage(stage) + kABytes; }

  __device__ __forceinline__ void load_a(int stage, int m0, int k0) const {
    const uint32_t dst = a_stage(stage), bar = full + stage * 8;
    if constexpr (Layout::kAKContiguous) {
      bench::tensorLoad2D(dst, &p.a, k0, m0, bar);
    } else {
#pragma unroll
      for (int i = 0; i < kTileM / 64; ++i) bench::tensorLoad2D(dst + i * kBlockBytes, &p.a, m0 + i * 64, k0, bar);
    }
  }
  /// This CTA's share of B, to all CTAs of the cluster.
  __device__ __forceinline__ void load_b(int stage, int n0, int k0) const {
    constexpr int kShare = TILE_N / CLUSTER;
    const uint32_t dst = b_stage(stage) + rank * kShare * kDepth * 2, bar = full + stage * 8;
    const int n = n0 + int(rank) * kShare;
    constexpr uint16_t kAll = (1 << CLUSTER) - 1;
    if constexpr (Layout::kBKContiguous) {
      if constexpr (CLUSTER == 1)
        bench::tensorLoad2D(dst, &p.b, k0, n, bar);
      else
        bench::tensorMulticast2D(dst, &p.b, k0, n, bar, kAll);
    } else {
#pragma unroll
      for (int i = 0; i < kShare / 64; ++i) {
        if constexpr (CLUSTER == 1)
          bench::tensorLoad2D(dst + i * kBlockBytes, &p.b, n + i * 64, k0, bar);
        else
          bench::tensorMulticast2D(dst + i * kBlockBytes, &p.b, n + i * 64, k0, bar, kAll);
      }
    }
  }

  __device__ __forceinline__ void produce() const {
    Ring<STAGES> ring;
    for (int tile = blockIdx.x / CLUSTER; tile < raster.count(); tile += gridDim.x / CLUSTER) {
      int row, col;
      raster.at(tile, row, col);
      for (int k0 = 0; k0 < p.k; k0 += kDepth) {
        wait_barrier(empty + ring.stage * 8, ring.parity ^ 1);
        bench::mbarExpect(full + ring.stage * 8, Shared::kStageBytes);
        load_a(ring.stage, (row * CLUSTER + int(rank)) * kTileM, k0);
        load_b(ring.stage, col * TILE_N, k0);
        ring.next();
      }
    }
  }

  __device__ __forceinline__ void release(int stage) const {
    // One thread for each CTA whose producer writes into this stage.
    if (threadIdx.x % 128 < CLUSTER) {
      if constexpr (CLUSTER == 1)
        bench::mbarArrive(empty + stage * 8);
      else
        arrive_remote(empty + stage * 8, threadIdx.x % 128);
    }
  }

  __device__ __forceinline__ void multiply_tile(uint32_t (&sum)[TILE_N / 2], int consumer, Ring<STAGES>& ring) const {
#pragma unroll
    for (uint32_t& x : sum) x = 0;
    int before = -1;  // stage whose products may still be running
    for (int k0 = 0; k0 < p.k; k0 += kDepth) {
      wait_barrier(full + ring.stage * 8, ring.parity);
      const uint32_t a = a_stage(ring.stage) + consumer * kBlockBytes, b = b_stage(ring.stage);
      bench::wgmmaFence();
#pragma unroll
      for (int k16 = 0; k16 < kDepth / 16; ++k16)
        multiply<TILE_N, !Layout::kAKContiguous, !Layout::kBKContiguous>(
            sum, slice_descriptor<Layout::kAKContiguous>(a, k16), slice_descriptor<Layout::kBKContiguous>(b, k16));
      bench::wgmmaCommit();
      bench::wgmmaWait<1>();
      if (before >= 0) release(before);
      before = ring.stage;
      ring.next();
    }
    bench::wgmmaWait<0>();
    if (before >= 0) release(before);
  }

  /// alpha sum + beta c as two bf16: fragment `part` (8 columns) of this thread's row `row`.
  __device__ __forceinline__ uint32_t result(float low, float high, int row, int col) const {
    low *= p.alpha;
    high *= p.alpha;
    if (p.beta != 0 && row < p.m && col < p.n) {
      const __nv_bfloat162 c = *reinterpret_cast<const __nv_bfloat162*>(p.c + size_t(row) * p.n + col);
      low += p.beta * to_float(c.x);
      high += p.beta * to_float(c.y);
    }
    return pack_two<__nv_bfloat16>(low, high);
  }

  /// 64 columns at a time through a swizzled buffer of this warpgroup, stored by TMA, which clips at the edges.
  __device__ __forceinline__ void store_tile(const uint32_t (&sum)[TILE_N / 2], int consumer, int m0, int n0) const {
    const int thread = threadIdx.x % 128, lane = thread % 32, row = thread / 32 * 16 + lane / 4;
    const uint32_t buffers = base + Shared::kStoreAt + consumer * kStoreBuffers * kStoreBytes;
#pragma unroll
    for (int part = 0; part < TILE_N / kStoreCols; ++part) {
      const uint32_t buffer = buffers + part % kStoreBuffers * kStoreBytes;
      if (thread == 0) bench::bulkStoreWaitRead<kStoreBuffers - 1>();
      sync_warpgroup(1 + consumer);  // the buffer's last store has been read
#pragma unroll
      for (int piece = 0; piece < 8; ++piece)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int r = row + half * 8, at = part * 32 + piece * 4 + half * 2;
          const uint32_t value = result(__uint_as_float(sum[at]), __uint_as_float(sum[at + 1]), m0 + r,
                                        n0 + part * kStoreCols + piece * 8 + lane % 4 * 2);
          asm volatile("st.shared.u32 [%0], %1;" ::"r"(buffer + r * 128 + ((piece ^ (r & 7)) << 4) + lane % 4 * 4),
                       "r"(value)
                       : "memory");
        }
      fence_async_proxy();
      sync_warpgroup(1 + consumer);
      if (thread == 0) store_box(&p.d, n0 + part * kStoreCols, m0, buffer);
    }
  }

  __device__ __forceinline__ void consume(int consumer) const {
    Ring<STAGES> ring;
    for (int tile = blockIdx.x / CLUSTER; tile < raster.count(); tile += gridDim.x / CLUSTER) {
      int row, col;
      raster.at(tile, row, col);
      uint32_t sum[TILE_N / 2];
      multiply_tile(sum, consumer, ring);
      store_tile(sum, consumer, (row * CLUSTER + int(rank)) * kTileM + consumer * kConsumerRows, col * TILE_N);
    }
    if (threadIdx.x % 128 == 0) bench::bulkStoreWait<0>();
  }
};

template <class Layout, int TILE_N, int STAGES, int CLUSTER>
__device__ __forceinline__ void gemm_wgmma(const WgmmaArgs& p) {
  using Shared = SharedLayout<TILE_N, STAGES>;
  extern __shared__ unsigned char shared[];
  const uint32_t base = (bench::smemAddr(shared) + 1023) & ~1023u;
  const uint32_t full = base + Shared::kBarriersAt, empty = full + STAGES * 8;
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; ++i) {
      bench::mbarInit(full + i * 8, 1);
      bench::mbarInit(empty + i * 8, kConsumers * CLUSTER);
    }
    bench::mbarFence();
  }
  __syncthreads();
  if constexpr (CLUSTER > 1) bench::clusterSync();

  const Gemm<Layout, TILE_N, STAGES, CLUSTER> gemm{p,
                                                   base,
                                                   full,
                                                   empty,
                                                   CLUSTER > 1 ? bench::clusterRank() : 0,
                                                   Raster{ceil_div(p.m, kTileM * CLUSTER), ceil_div(p.n, TILE_N)}};
  const int warpgroup = threadIdx.x / 128;
  if (warpgroup == 0) {
    give_registers<40>();
    if (threadIdx.x == 0) gemm.produce();
  } else {
    take_registers<232>();
    gemm.consume(warpgroup - 1);
  }
  if constexpr (CLUSTER > 1) {
    __syncwarp();
    bench::clusterSync();  // the other CTA may still arrive on this one's barriers
  }
}

template <class Layout, int TILE_N, int STAGES, int CLUSTER>
void launch(const char* name, void (*kernel)(WgmmaArgs), const GemmCase& c, Problem& problem) {
  auto operand = [](const TensorPtr& t, bool k_contiguous, long mn, long k, unsigned box_mn) {
    const long width = k_contiguous ? k : mn, height = k_contiguous ? mn : k;
    return bench::tensorMap2D(t->data<void>(), uint64_t(width), uint64_t(height), uint64_t(width) * 2, 64,
                              k_contiguous ? box_mn : kDepth, true);
  };
  WgmmaArgs args;
  args.a = operand(c.a, c.a_k_contiguous, c.m, c.k, kTileM);
  args.b = operand(c.b, c.b_k_contiguous, c.n, c.k, TILE_N / CLUSTER);
  args.d = bench::tensorMap2D(c.d->data<void>(), uint64_t(c.n), uint64_t(c.m), uint64_t(c.n) * 2, kStoreCols,
                              kConsumerRows, true);
  args.c = c.c ? c.c->data<__nv_bfloat16>() : nullptr;
  args.m = int(c.m);
  args.n = int(c.n);
  args.k = int(c.k);
  args.alpha = c.alpha;
  args.beta = c.beta;
  const int tiles = ceil_div(args.m, kTileM * CLUSTER) * ceil_div(args.n, TILE_N);
  const int clusters = std::min(tiles, bench::smCount() / CLUSTER);
  Geometry g{dim3(unsigned(clusters * CLUSTER)), dim3(kThreads), SharedLayout<TILE_N, STAGES>::kBytes};
  if (CLUSTER > 1) g.cluster = dim3(CLUSTER, 1, 1);
  problem.plan.add(name, kernel, g, args);
}

}  // namespace

#define WGMMA(suffix, Layout, tile_n, stages, cluster)                             \
  extern "C" __global__ void __launch_bounds__(kThreads, 1)                        \
      strata_gemm_wgmma_128x##tile_n##x64_##stages##s_##cluster##x1_bf16_##suffix( \
          const __grid_constant__ WgmmaArgs p) {                                   \
    gemm_wgmma<Layout, tile_n, stages, cluster>(p);                                \
  }
STRATA_FOR_LAYOUTS(WGMMA, 256, 4, 2)
STRATA_FOR_LAYOUTS(WGMMA, 256, 4, 1)
STRATA_FOR_LAYOUTS(WGMMA, 192, 4, 1)
STRATA_FOR_LAYOUTS(WGMMA, 128, 6, 2)

void add_gemm_wgmma(Catalogue& catalogue) {
  GemmKind kind;
  kind.align = 8;
  kind.input = kind.output = Type::bf16;
#define ADD(suffix, Layout, tile_n, stages, cluster)                                              \
  kind.layout = Layout::kName;                                                                    \
  kind.add_launches = [](const Shape&, const GemmCase& c, Problem& problem) {                     \
    launch<Layout, tile_n, stages, cluster>(                                                      \
        "strata_gemm_wgmma_128x" #tile_n "x64_" #stages "s_" #cluster "x1_bf16_" #suffix,         \
        strata_gemm_wgmma_128x##tile_n##x64_##stages##s_##cluster##x1_bf16_##suffix, c, problem); \
  };                                                                                              \
  catalogue.push_back(                                                                            \
      gemm_kernel("strata_gemm_wgmma_128x" #tile_n "x64_" #stages "s_" #cluster "x1_bf16_" #suffix, kind));
  kind.teaches = "TMA and wgmma, persistent, warp-specialised; no cluster: every CTA loads all of its B";
  STRATA_FOR_LAYOUTS(ADD, 256, 4, 1)
  kind.teaches = "TMA and wgmma, persistent; two CTAs share B by multicast";
  STRATA_FOR_LAYOUTS(ADD, 256, 4, 2)
  kind.teaches = "128x192 tiles: no cluster, where 128x256 tiles would leave the last wave nearly empty";
  STRATA_FOR_LAYOUTS(ADD, 192, 4, 1)
  kind.teaches = "two CTAs share B; 128x128 tiles and six stages: more tiles for small outputs";
  STRATA_FOR_LAYOUTS(ADD, 128, 6, 2)
#undef ADD
}

}  // namespace ladder

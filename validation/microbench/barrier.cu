// What do barriers cost: __syncthreads and named barriers by threads, mbarrier operations, cluster barriers, fences?
#include "ptx.cuh"

using namespace bench;

enum Kind { kSyncThreads, kNamed, kSyncWarp, kFenceProxy, kFenceCta, kFenceGpu, kMbarArrive, kMbarTryReady, kMbarRoundTrip,
            kMbarExpect, kMbarAll, kCluster, kClusterRelaxed };
const char* const kName[] = {"syncthreads", "named_barrier", "syncwarp", "fence_proxy_async", "fence_cta", "fence_gpu", "mbarrier_arrive",
                             "mbarrier_try_wait_ready", "mbarrier_arrive_wait_1_thread", "mbarrier_arrive_expect_tx",
                             "mbarrier_arrive_wait_all_threads", "cluster_barrier", "cluster_barrier_relaxed"};

template <int KIND>
__global__ void kernel(int iters, Stamp* out) {
  __shared__ __align__(8) uint64_t bar[2];
  const uint32_t b = smemAddr(bar);
  if (threadIdx.x == 0) {
    mbarInit(b, KIND == kMbarAll ? blockDim.x : KIND == kMbarArrive ? 4096 * 16 : 1);
    mbarFence();
  }
  __syncthreads();
  if constexpr (KIND == kCluster || KIND == kClusterRelaxed) clusterSync();
  Stamp s;
  unsigned phase = 0, ok = 0;
  if constexpr (KIND == kMbarTryReady) {
    mbarArrive(b);
    while (!mbarTry(b, 0)) {}
  }
  stampBegin(s);
#pragma unroll 4
  for (int i = 0; i < iters; ++i) {
    if constexpr (KIND == kSyncThreads) asm volatile("bar.sync 0;" ::: "memory");
    if constexpr (KIND == kNamed) asm volatile("bar.sync 3, %0;" ::"r"(blockDim.x) : "memory");
    if constexpr (KIND == kSyncWarp) __syncwarp();
    if constexpr (KIND == kFenceProxy) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if constexpr (KIND == kFenceCta) __threadfence_block();
    if constexpr (KIND == kFenceGpu) __threadfence();
    if constexpr (KIND == kMbarArrive) mbarArrive(b);
    if constexpr (KIND == kMbarTryReady) ok += mbarTry(b, 0);
    if constexpr (KIND == kMbarRoundTrip || KIND == kMbarAll) {
      mbarArrive(b);
      mbarWait(b, phase);
      phase ^= 1;
    }
    if constexpr (KIND == kMbarExpect) {
      mbarExpect(b, 0);
      mbarWait(b, phase);
      phase ^= 1;
    }
    if constexpr (KIND == kCluster) clusterSync();
    if constexpr (KIND == kClusterRelaxed)
      asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  }
  if (ok == 0x12345) s.pad = 1;
  stampEnd(s);
  if (threadIdx.x == 0 && blockIdx.x == 0) *out = s;
}

// From the last arrival (by another warp) to the waiter's next instruction; the waiter is already waiting.
__global__ void wake(int iters, unsigned* out) {
  __shared__ __align__(8) uint64_t bar;
  __shared__ volatile unsigned long long sent;
  const uint32_t b = smemAddr(&bar);
  if (threadIdx.x == 0) {
    mbarInit(b, 1);
    mbarFence();
  }
  for (int i = 0; i < iters; ++i) {
    __syncthreads();
    if (threadIdx.x == 32) {
      uint64_t c = clockNow();
      while (clockNow() - c < 500) {}
      sent = clockNow();
      mbarArrive(b);
    }
    if (threadIdx.x == 0) {
      mbarWait(b, i & 1);
      uint64_t now = clockNow();
      out[i] = unsigned(now - sent);
    }
  }
}

// All warps but one wait at __syncthreads; the last one comes 600 clocks later. From its arrival to its own next
// instruction (out[0]), and to the next instruction of the warp that is released last (out[1]).
__global__ void lateArrival(int iters, unsigned* out) {
  __shared__ volatile unsigned long long arrived;
  __shared__ unsigned last;
  for (int i = 0; i < iters; ++i) {
    if (threadIdx.x == 0) last = 0;
    __syncthreads();
    const bool late = threadIdx.x < 32;
    if (late) {
      uint64_t c = clockNow();
      while (clockNow() - c < 600) {}
      if (threadIdx.x == 0) arrived = clockNow();
      __syncwarp();
    }
    uint64_t before = clockNow();
    __syncthreads();
    uint64_t after = clockNow();
    if (threadIdx.x == 0) out[2 * i] = unsigned(after - before);
    if (!late && threadIdx.x % 32 == 0) atomicMax(&last, unsigned(after - arrived));
    __syncthreads();
    if (threadIdx.x == 0) out[2 * i + 1] = last;
  }
}

struct Bench {
  Options o;
  Report r;
  Buffer<Stamp> out;
  explicit Bench(const Options& opt) : o(opt), r(opt, "barrier"), out(1) {}
  template <int KIND>
  void point(double x, const char* unit, int threads, int cluster = 1) {
    const int iters = 1024;
    sampleStamp(r, o, out, kName[KIND], x, unit, iters, "clk", [&] {
      if (cluster > 1) launchCluster(kernel<KIND>, cluster, threads, 0, cluster, iters, out.p);
      else kernel<KIND><<<1, threads>>>(iters, out.p);
    });
  }
};

int main(int argc, char** argv) {
  Bench b(parse(argc, argv));
  for (int t : {32, 64, 128, 256, 384, 512, 768, 1024}) {
    b.point<kSyncThreads>(t, "threads", t);
    b.point<kNamed>(t, "threads", t);
    b.point<kMbarAll>(t, "threads", t);
  }
  b.point<kSyncWarp>(32, "threads", 32);
  b.point<kFenceProxy>(32, "threads", 32);
  b.point<kFenceCta>(32, "threads", 32);
  b.point<kFenceGpu>(32, "threads", 32);
  b.point<kMbarArrive>(1, "threads", 1);
  b.point<kMbarTryReady>(1, "threads", 1);
  b.point<kMbarRoundTrip>(1, "threads", 1);
  b.point<kMbarExpect>(1, "threads", 1);
  for (int c : {2, 4, 8, 16}) {
    b.point<kCluster>(c, "CTA", 128, c);
    b.point<kClusterRelaxed>(c, "CTA", 128, c);
  }
  Buffer<unsigned> late(128);
  for (int t : {64, 128, 256, 512, 1024}) {
    lateArrival<<<1, t>>>(64, late.p);
    CHECK(cudaGetLastError());
    std::vector<double> own, others;
    auto l = late.host();
    for (int i = 4; i < 64; ++i) own.push_back(l[2 * i]), others.push_back(l[2 * i + 1]);
    b.r.add("syncthreads_last_arriver", t, "threads", own, "clk");
    b.r.add("syncthreads_last_released", t, "threads", others, "clk");
  }
  Buffer<unsigned> w(64);
  wake<<<1, 64>>>(64, w.p);
  CHECK(cudaGetLastError());
  auto v = w.host();
  b.r.add("mbarrier_arrive_to_wake", 1, "threads", {v.begin() + 4, v.end()}, "clk");
  return 0;
}

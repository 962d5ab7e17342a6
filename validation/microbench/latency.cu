// What does one dependent load cost, by footprint from 1 KiB to 4 GiB and by number of 2 MiB pages?
// One thread follows pointers through a full-period permutation of the 128-byte lines of the set.
#include "ptx.cuh"

using namespace bench;

// Line i of n points to line (a*i + c) mod n; `stride` is the distance between lines in bytes.
__global__ void link(char* base, uint64_t n, uint64_t a, uint64_t c, uint64_t stride, uint64_t jitter) {
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < n; i += uint64_t(gridDim.x) * blockDim.x) {
    uint64_t j = (a * i + c) % n;
    char* from = base + i * stride + (i * jitter & 0x1fff80);
    char* to = base + j * stride + (j * jitter & 0x1fff80);
    *reinterpret_cast<uint64_t*>(from) = reinterpret_cast<uint64_t>(to);
  }
}

// Thread 0 chases `hops` loads after the CTA has read the set `passes` times; `lag` first hops are not timed.
template <bool L1>
__global__ void chase(char* base, uint64_t bytes, int passes, int lag, int hops, Stamp* out, unsigned never) {
  unsigned acc = 0;
  for (int p = 0; p < passes; ++p) {
    for (uint64_t i = threadIdx.x * 128ull; i < bytes; i += blockDim.x * 128ull) acc += loadCg32(base + i);
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  uint64_t p = reinterpret_cast<uint64_t>(base);
  auto hop = [&] {
    if constexpr (L1) asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(p)::"memory");
    else asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p)::"memory");
  };
  for (int i = 0; i < lag; ++i) hop();
  Stamp s;
  stampBegin(s);
#pragma unroll 8
  for (int i = 0; i < hops; ++i) hop();
  if (p == 1) s.smid = 0;  // the end of the chain must be known before the clock is read
  stampEnd(s);
  *out = s;
  sink(p + acc, never, out);
}

__global__ void chaseShared(int lag, int hops, int words, Stamp* out, unsigned never) {
  extern __shared__ uint32_t cells[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) cells[i] = smemAddr(&cells[(i * 33 + 37) % words]);
  __syncthreads();
  if (threadIdx.x != 0) return;
  uint32_t p = smemAddr(cells);
  auto hop = [&] { asm volatile("ld.shared.u32 %0, [%0];" : "+r"(p)::"memory"); };
  for (int i = 0; i < lag; ++i) hop();
  Stamp s;
  stampBegin(s);
#pragma unroll 8
  for (int i = 0; i < hops; ++i) hop();
  if (p == 1) s.smid = 0;
  stampEnd(s);
  *out = s;
  sink(p, never, out);
}

// One copy at a time: issue to mbarrier completion, then the next. `issue` starts copy i into shared memory.
template <class Issue>
__device__ void copyChain(unsigned bytes, int n, Stamp* out, Issue issue) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t bar;
  uint32_t b = smemAddr(&bar);
  mbarInit(b, 1);
  mbarFence();
  Stamp s;
  stampBegin(s);
  for (int i = 0; i < n; ++i) {
    mbarExpect(b, bytes);
    issue(i, smemAddr(smem), b);
    mbarWait(b, i & 1);
  }
  stampEnd(s);
  *out = s;
}
__global__ void copyLatency(char* base, unsigned bytes, uint64_t stride, int n, Stamp* out) {
  copyChain(bytes, n, out, [&](int i, uint32_t to, uint32_t bar) { bulkLoad(to, base + i * stride, bytes, bar); });
}
__global__ void tileLatency(const __grid_constant__ CUtensorMap map, int rows, unsigned bytes, int n, Stamp* out) {
  copyChain(bytes, n, out, [&](int i, uint32_t to, uint32_t bar) { tensorLoad2D(to, &map, 0, i * rows, bar); });
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "latency");
  Buffer<Stamp> stamp(1);
  char* base = nullptr;
  const size_t tlbPages = 24 * 1024;  // 48 GiB
  size_t freeBytes = 0, total = 0;
  CHECK(cudaMemGetInfo(&freeBytes, &total));
  size_t bytes = std::min(freeBytes - 2 * GiB, tlbPages * 2 * MiB) / (2 * MiB) * (2 * MiB);
  if (bytes < 4 * GiB) {
    std::fprintf(stderr, "latency: needs 6 GiB of free device memory, found %zu MiB\n", freeBytes / MiB);
    return 1;
  }
  CHECK(cudaMalloc(&base, bytes));

  auto sample = [&](const std::string& series, double x, const char* unit, double hops, auto launch, bool flush) {
    std::vector<double> v, ns, clk;
    for (int rep = 0; rep < o.reps; ++rep) {
      if (flush) flushL2();
      launch();
      CHECK(cudaGetLastError());
      Stamp s = stamp.host()[0];
      v.push_back(double(s.c1 - s.c0) / hops);
      clk.push_back(1e3 * double(s.c1 - s.c0) / double(s.t1 - s.t0));
    }
    r.add(series, x, unit, v, "clk", hops >= 64 ? median(clk) : 0);
  };
  auto linkLines = [&](uint64_t n, uint64_t stride, uint64_t jitter) {
    uint64_t a = n < 2048 ? 421 : 420ull * 2857 + 1, c = n < 64 ? 11 : 1299709;  // full period: a-1 = 2^2*3*5*7*k
    if (n < 2048) a = 1, c = n > 8 ? 11 : 1;
    link<<<1024, 256>>>(base, n, a % n ? a % n : 1, c % n, stride, jitter);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
  };

  for (int words : {32, 1024, 8192}) {
    allowSmem(chaseShared, 64 * KiB);
    sample("shared", words * 4, "B", 4096,
           [&] { chaseShared<<<1, 128, 64 * KiB>>>(64, 4096, words, stamp.p, 0); }, false);
  }
  for (size_t kib : {1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 192, 200, 208, 216, 224, 240, 256, 320, 384, 512}) {
    uint64_t n = kib * KiB / 128;
    linkLines(n, 128, 0);
    sample("load_ca", double(kib), "KiB", 8192, [&] { chase<true><<<1, 1>>>(base, 0, 0, int(n) * 2, 8192, stamp.p, 0); }, false);
  }
  const size_t sizes[] = {64 * KiB, 1 * MiB, 4 * MiB, 8 * MiB, 12 * MiB, 16 * MiB, 20 * MiB, 24 * MiB, 28 * MiB, 32 * MiB,
                          40 * MiB, 48 * MiB, 56 * MiB, 64 * MiB, 96 * MiB, 128 * MiB, 256 * MiB, 512 * MiB, 1 * GiB,
                          2 * GiB, 4 * GiB};
  for (size_t size : sizes) {
    uint64_t n = size / 128;
    linkLines(n, 128, 0);
    for (int passes : {1, 2, 4}) {
      if (size > 64 * MiB && passes > 1) continue;
      sample("load_cg_after_" + std::to_string(passes) + "_passes", double(size) / KiB, "KiB", 16384, [&] {
        chase<false><<<1, 1024>>>(base, size > 64 * MiB ? 0 : size, passes, 0, 16384, stamp.p, 0);
      }, true);
    }
  }
  for (size_t pages : {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144,
                       8192, 12288, 16384, 24576}) {
    if (pages * 2 * MiB > bytes) break;
    linkLines(pages, 2 * MiB, 128 * 2999);
    int lap = int(pages);
    // Three laps leave every line in the L2: what is left is translation.
    sample("page_2mib", double(pages * 2), "MiB", std::max(4096, lap),
           [&] { chase<false><<<1, 1>>>(base, 0, 0, 3 * lap, std::max(4096, lap), stamp.p, 0); }, false);
  }
  allowSmem(copyLatency, 64 * KiB);
  allowSmem(tileLatency, 64 * KiB);
  for (unsigned size : {16, 128, 512, 1024, 2048, 4096, 8192, 16384, 32768}) {
    // Hit: the same 4 KiB..64 KiB over and over. Cold: fresh lines after a flush.
    sample("bulk_l2_hit", size, "B", 256, [&] { copyLatency<<<1, 1, 64 * KiB>>>(base, size, 0, 256, stamp.p); }, false);
    sample("bulk_hbm", size, "B", 256, [&] { copyLatency<<<1, 1, 64 * KiB>>>(base, size, 256 * KiB + 4096, 256, stamp.p); }, true);
  }
  for (unsigned rows : {1, 8, 32, 64, 128, 256}) {
    CUtensorMap map = tensorMap2D(base, 64, 1 << 20, 128, 64, rows, true);
    sample("tile128B_l2_hit", rows * 128, "B", 256, [&] { tileLatency<<<1, 1, 64 * KiB>>>(map, 0, rows * 128, 256, stamp.p); }, false);
    CUtensorMap far = tensorMap2D(base, 64, 1 << 20, 8192, 64, rows, true);
    sample("tile128B_hbm", rows * 128, "B", 256, [&] { tileLatency<<<1, 1, 64 * KiB>>>(far, rows, rows * 128, 256, stamp.p); }, true);
  }
  CHECK(cudaFree(base));
  return 0;
}

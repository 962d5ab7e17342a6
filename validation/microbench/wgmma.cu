// How many clocks does one wgmma take by N, type, operand source, depth in flight and number of warpgroups,
// and how much do TMA fills into the same SM's shared memory cost it (and it them)?
#include "placement.cuh"
#include "wgmma_ops.cuh"

using namespace bench;

// Shared memory: A tiles of 8 KiB per warpgroup, B of 32 KiB, then the ring the fills go to.
constexpr int kB = 16 * 1024, kRing = 48 * 1024, kFill = 16 * 1024, kStages = 8, kSmem = kRing + kStages * kFill + 1024;

struct Result {
  Stamp stamp;
  unsigned long long fills;  // completed while the timed part ran
  unsigned long long fillClocks;
};

__device__ __forceinline__ uint32_t operandBits(uint32_t i, int random) {
  uint32_t h = (i + 1) * 2654435761u;
  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  return random ? (h & 0xbfffbfffu) : 0;  // keeps exponents away from infinity
}

// DEPTH instructions per group; DRAIN waits for each group before the next one, else one group stays in flight.
template <int TYPE, int COLS, bool RS, int DEPTH, bool DRAIN>
__global__ void __launch_bounds__(384, 1) kernel(int iters, int warpgroups, int fill, int random, const char* src, Result* out,
                                                 unsigned never) {
  extern __shared__ __align__(1024) char raw[];
  __shared__ __align__(8) uint64_t bars[kStages];
  __shared__ volatile int stop;
  const uint32_t base = (smemAddr(raw) + 1023) / 1024 * 1024;
  uint32_t* words = reinterpret_cast<uint32_t*>(raw + (base - smemAddr(raw)));
  for (int i = threadIdx.x; i < kRing / 4; i += blockDim.x) words[i] = operandBits(i, random);
  if (threadIdx.x == 0) {
    stop = 0;
    for (int s = 0; s < kStages; ++s) mbarInit(smemAddr(&bars[s]), 1);
  }
  mbarFence();
  __syncthreads();
  const int wg = threadIdx.x / 128;
  if (wg < warpgroups) {
    uint32_t d[COLS / 2], a[4];
    for (int i = 0; i < COLS / 2; ++i) d[i] = 0;
    for (int i = 0; i < 4; ++i) a[i] = operandBits(threadIdx.x * 4 + i, random);
    const uint64_t da = wgmmaDescriptor(base + wg * 8192), db = wgmmaDescriptor(base + kB);
    auto group = [&] {
      wgmmaFence();
#pragma unroll
      for (int k = 0; k < DEPTH; ++k) wgmma<TYPE, COLS, RS>(d, a, da + 2 * (k % 4), db + 2 * (k % 4));
      wgmmaCommit();
      wgmmaWait<DRAIN ? 0 : 1>();
    };
    for (int i = 0; i < 16; ++i) group();
    asm volatile("bar.sync 1, %0;" ::"r"(warpgroups * 128) : "memory");
    Stamp s;
    stampBegin(s);
    for (int i = 0; i < iters; ++i) group();
    wgmmaWait<0>();
    stampEnd(s);
    if (threadIdx.x == 0) {
      out[blockIdx.x].stamp = s;
      stop = 1;
    }
    uint32_t acc = 0;
    for (int i = 0; i < COLS / 2; ++i) acc ^= d[i];
    sink(acc, never, out);
  } else if (fill < 0) {
    while (!stop) __nanosleep(100);  // the producer warp is there, but does nothing
  } else if (threadIdx.x % 32 == 0) {
    // Each of `fill` warps keeps its share of the ring busy with bulk copies from a set that the L2 holds.
    const int f = threadIdx.x / 32 - warpgroups * 4, stages = kStages / fill;
    const char* p = src + size_t(smId()) * 131072;
    Watchdog dog;
    uint64_t c0 = clockNow();
    unsigned n = 0, stage = 0, parity = 0;
    for (;; ++n) {
      uint32_t bar = smemAddr(&bars[f * stages + stage]);
      if (n >= unsigned(stages)) mbarWait(bar, parity ^ 1);
      if (stop) break;
      mbarExpect(bar, kFill);
      bulkLoad(base + kRing + (f * stages + stage) * kFill, p + (n * fill + f) % 8 * kFill, kFill, bar);
      if (++stage == unsigned(stages)) stage = 0, parity ^= 1;
      dog.poll();
    }
    uint64_t c1 = clockNow();
    for (int k = 1; k < stages && n >= unsigned(stages); ++k) {
      if (++stage == unsigned(stages)) stage = 0, parity ^= 1;
      mbarWait(smemAddr(&bars[f * stages + stage]), parity ^ 1);
    }
    atomicAdd(&out[blockIdx.x].fills, (unsigned long long)(n));
    if (f == 0) out[blockIdx.x].fillClocks = c1 - c0;
  }
}

struct Bench {
  Options o;
  Report r;
  Buffer<Result> out;
  Buffer<char> src;
  explicit Bench(const Options& opt) : o(opt), r(opt, "wgmma"), out(smCount()), src(size_t(smCount()) * 131072) {}

  template <int TYPE, int COLS, bool RS, int DEPTH, bool DRAIN>
  void point(const std::string& series, double x, const char* unit, int warpgroups, int fill, int grid = 1, int iters = 512,
             int random = 1) {
    auto k = kernel<TYPE, COLS, RS, DEPTH, DRAIN>;
    allowSmem(k, kSmem);
    std::vector<double> v, bytes, clk;
    for (int rep = 0; rep < o.reps; ++rep) {
      out.zero();
      k<<<grid, warpgroups * 128 + std::abs(fill) * 32, kSmem>>>(iters, warpgroups, fill, random, src.p, out.p, 0);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      std::vector<double> c, f;
      for (int i = 0; i < grid; ++i) {
        Result q;
        CHECK(cudaMemcpy(&q, out.p + i, sizeof q, cudaMemcpyDeviceToHost));
        c.push_back(double(q.stamp.c1 - q.stamp.c0) / (double(iters) * DEPTH * warpgroups));
        clk.push_back(1e3 * double(q.stamp.c1 - q.stamp.c0) / double(q.stamp.t1 - q.stamp.t0));
        if (fill > 0) f.push_back(double(q.fills) * kFill / double(q.fillClocks));
        if (i >= 8) break;
      }
      v.push_back(median(c));
      if (fill > 0) bytes.push_back(median(f));
    }
    r.add(series, x, unit, v, "clk/inst/SM", median(clk));
    if (fill > 0) r.add(series + "_fill_rate", x, unit, bytes, "B/clk", median(clk));
  }
  template <int TYPE, int COLS>
  void column() {
    const std::string t = kTypeName[TYPE];
    point<TYPE, COLS, false, 4, false>(t + "_ss_4inflight", COLS, "N", 1, 0);
    point<TYPE, COLS, true, 4, false>(t + "_rs_4inflight", COLS, "N", 1, 0);
    if constexpr (COLS <= 192) point<TYPE, COLS, false, 4, false>(t + "_ss_2wg", COLS, "N", 2, 0);
    if constexpr (TYPE == kBf16) {
      point<TYPE, COLS, false, 4, false>(t + "_ss_idle_producer", COLS, "N", 1, -1);
      for (int warps : {1, 2, 4}) {
        point<TYPE, COLS, false, 4, false>(t + "_ss_fill_1sm_" + std::to_string(warps) + "warps", COLS, "N", 1, warps);
        point<TYPE, COLS, true, 4, false>(t + "_rs_fill_1sm_" + std::to_string(warps) + "warps", COLS, "N", 1, warps);
      }
      point<TYPE, COLS, false, 4, false>(t + "_ss_fill_all_2warps", COLS, "N", 1, 2, smCount(), 4096);
    }
  }
  template <int TYPE>
  void type() {
    column<TYPE, 8>(); column<TYPE, 64>(); column<TYPE, 256>();
    if constexpr (TYPE == kBf16) {
      column<TYPE, 16>(); column<TYPE, 32>(); column<TYPE, 96>(); column<TYPE, 128>(); column<TYPE, 192>();
    }
  }
  template <int COLS>
  void depth() {
    const std::string n = "n" + std::to_string(COLS);
    point<kBf16, COLS, false, 1, true>("bf16_ss_drained_" + n, 1, "inflight", 1, 0);
    point<kBf16, COLS, false, 2, true>("bf16_ss_drained_" + n, 2, "inflight", 1, 0);
    point<kBf16, COLS, false, 4, true>("bf16_ss_drained_" + n, 4, "inflight", 1, 0);
    point<kBf16, COLS, false, 8, true>("bf16_ss_drained_" + n, 8, "inflight", 1, 0);
    point<kBf16, COLS, true, 1, true>("bf16_rs_drained_" + n, 1, "inflight", 1, 0);
    point<kBf16, COLS, true, 4, true>("bf16_rs_drained_" + n, 4, "inflight", 1, 0);
    point<kBf16, COLS, false, 1, false>("bf16_ss_wait1_" + n, 1, "per_group", 1, 0);
    point<kBf16, COLS, false, 2, false>("bf16_ss_wait1_" + n, 2, "per_group", 1, 0);
    point<kBf16, COLS, false, 8, false>("bf16_ss_wait1_" + n, 8, "per_group", 1, 0);
  }
};

int main(int argc, char** argv) {
  Bench b(parse(argc, argv));
  b.type<kBf16>();
  b.type<kFp8>();
  b.type<kTf32>();
  b.type<kInt8>();
  b.column<kFp16, 128>();
  b.depth<8>();
  b.depth<64>();
  b.depth<128>();
  b.depth<256>();
  // Clock under tensor load: about a fifth of a second on all SMs, zeros against random operands.
  const int n = smCount();
  for (int random : {0, 1}) {
    const char* data = random ? "random" : "zeros";
    const int iters = 700000;
    int reps = b.o.reps;
    b.o.reps = 3;
    b.point<kBf16, 256, false, 4, false>(std::string("clock_all_sms_bf16_") + data, 256, "N", 1, 0, n, iters, random);
    b.point<kBf16, 128, false, 4, false>(std::string("clock_all_sms_bf16_2wg_") + data, 128, "N", 2, 1, n, iters, random);
    b.o.reps = reps;
  }
  return 0;
}

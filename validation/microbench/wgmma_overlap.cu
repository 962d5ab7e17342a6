// What can other warps issue while wgmma runs? One warpgroup multiplies (N = 64, 128, 256, four in flight), another
// one runs a single kind of instruction until it ends. Do either's rates drop?
#include "wgmma_ops.cuh"

using namespace bench;

enum Partner { kNone, kFfma, kFfma1, kLop3, kMufu, kLds, kCvt, kMix };
const char* const kName[] = {"none", "ffma", "ffma_1dep", "lop3", "mufu", "lds128", "cvt_bf16x2", "softmax_mix"};

struct Result {
  Stamp stamp;
  unsigned long long insts, clocks;
};

template <int COLS, int PARTNER>
__global__ void __launch_bounds__(256, 1) kernel(int iters, Result* out, unsigned never) {
  extern __shared__ __align__(1024) char raw[];
  __shared__ volatile int stop;
  const uint32_t base = (smemAddr(raw) + 1023) / 1024 * 1024;
  for (int i = threadIdx.x; i < 48 * 1024 / 4; i += blockDim.x) reinterpret_cast<uint32_t*>(raw + (base - smemAddr(raw)))[i] = 0;
  if (threadIdx.x == 0) stop = 0;
  mbarFence();
  __syncthreads();
  if (threadIdx.x < 128) {
    uint32_t d[COLS / 2], a[4] = {0, 0, 0, 0};
    for (int i = 0; i < COLS / 2; ++i) d[i] = 0;
    const uint64_t da = wgmmaDescriptor(base), db = wgmmaDescriptor(base + 16384);
    Stamp s;
    stampBegin(s);
    for (int i = 0; i < iters; ++i) {
      wgmmaFence();
#pragma unroll
      for (int k = 0; k < 4; ++k) wgmma<kBf16, COLS, false>(d, a, da + 2 * k, db + 2 * k);
      wgmmaCommit();
      wgmmaWait<1>();
    }
    wgmmaWait<0>();
    stampEnd(s);
    if (threadIdx.x == 0) {
      out->stamp = s;
      stop = 1;
    }
    uint32_t acc = 0;
    for (int i = 0; i < COLS / 2; ++i) acc ^= d[i];
    sink(acc, never, out);
  } else {
    float f[8];
    uint32_t u[8];
    for (int i = 0; i < 8; ++i) f[i] = float(threadIdx.x + i), u[i] = threadIdx.x * 16 + i;
    const uint32_t at = base + threadIdx.x % 32 * 16;
    unsigned long long n = 0;
    Watchdog dog;
    uint64_t c0 = clockNow();
    while (!stop && PARTNER != kNone) {
#pragma unroll
      for (int r = 0; r < 32; ++r)
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          if constexpr (PARTNER == kFfma) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f[i]) : "f"(0.5f));
          if constexpr (PARTNER == kFfma1) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f[0]) : "f"(0.5f));
          if constexpr (PARTNER == kLop3) asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(u[i]) : "r"(u[(i + 1) % 8]), "r"(u[(i + 2) % 8]));
          if constexpr (PARTNER == kMufu) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f[i]));
          if constexpr (PARTNER == kCvt) asm volatile("cvt.rn.bf16x2.f32 %0, %0, %1;" : "+r"(u[i]) : "r"(u[(i + 1) % 8]));
          if constexpr (PARTNER == kLds)
            asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(u[0]), "=r"(u[1]), "=r"(u[2]), "=r"(u[3]) : "r"(at) : "memory");
          if constexpr (PARTNER == kMix) {  // three FMA, one exponential
            if (i % 4 == 3) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f[i]));
            else asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f[i]) : "f"(0.5f));
          }
        }
      n += 256;
      dog.poll();
    }
    uint64_t c1 = clockNow();
    if (threadIdx.x == 128) {
      out->insts = n;
      out->clocks = c1 - c0;
    }
    float acc = 0;
    for (int i = 0; i < 8; ++i) acc += f[i] + float(u[i]);
    sink(acc, never, out);
  }
}

struct Bench {
  Options o;
  Report r;
  Buffer<Result> out;
  explicit Bench(const Options& opt) : o(opt), r(opt, "wgmma_overlap"), out(1) {}
  template <int COLS, int PARTNER>
  void point() {
    auto k = kernel<COLS, PARTNER>;
    allowSmem(k, 49 * 1024 + 1024);
    const int iters = 2048;
    std::vector<double> v, p, clk;
    for (int rep = 0; rep < o.reps; ++rep) {
      k<<<1, 256, 49 * 1024 + 1024>>>(iters, out.p, 0);
      CHECK(cudaGetLastError());
      Result q = out.host()[0];
      v.push_back(double(q.stamp.c1 - q.stamp.c0) / (iters * 4.0));
      p.push_back(q.clocks ? double(q.insts) / double(q.clocks) : 0);
      clk.push_back(1e3 * double(q.stamp.c1 - q.stamp.c0) / double(q.stamp.t1 - q.stamp.t0));
    }
    r.add(std::string("bf16_ss_with_") + kName[PARTNER], COLS, "N", v, "clk/inst/SM", median(clk));
    if (PARTNER != kNone) r.add(std::string("partner_") + kName[PARTNER], COLS, "N", p, "inst/clk/SMSP", median(clk));
  }
  template <int COLS>
  void all() {
    point<COLS, kNone>(); point<COLS, kFfma>(); point<COLS, kFfma1>(); point<COLS, kLop3>(); point<COLS, kMufu>();
    point<COLS, kLds>(); point<COLS, kCvt>(); point<COLS, kMix>();
  }
};

int main(int argc, char** argv) {
  Bench b(parse(argc, argv));
  b.all<64>();
  b.all<128>();
  b.all<256>();
  return 0;
}

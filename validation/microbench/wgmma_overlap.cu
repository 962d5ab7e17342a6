// What can other warps issue while wgmma runs? One warpgroup multiplies (N = 64, 128, 256, four in flight), another
// one runs a single kind of instruction until it ends. Do either's rates drop?
#include "partner.cuh"
#include "wgmma_ops.cuh"

using namespace bench;

const char* const kName[] = {"none", "ffma", "iadd3", "mufu", "lds32", "ffma_2warps", "ffma_1dep", "ffma_2dep", "ffma_3dep",
                             "iadd3_1dep", "iadd3_2dep", "lop3", "imad", "shfl", "lds128", "cvt_bf16x2", "softmax_mix", "fadd", "ffma_3reg"};

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
    if constexpr (PARTNER != kNone) {
      const PartnerCount p = runPartner<PARTNER, 32>(stop, base, never, out);
      if (threadIdx.x == 128) {
        out->insts = p.insts;
        out->clocks = p.clocks;
      }
    }
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
    point<COLS, kNone>(); point<COLS, kFfma>(); point<COLS, kFfma1c>(); point<COLS, kLop3>(); point<COLS, kMufu>();
    point<COLS, kLds128>(); point<COLS, kCvt>(); point<COLS, kMix>();
    point<COLS, kFadd>(); point<COLS, kFfma3r>();
  }
};

int main(int argc, char** argv) {
  Bench b(parse(argc, argv));
  b.all<64>();
  b.all<128>();
  b.all<256>();
  return 0;
}

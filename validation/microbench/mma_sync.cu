// mma.sync: latency and issue interval by shape, independent chains and warps per sub-partition,
// and what another warp of the same sub-partition can issue meanwhile.
#include "partner.cuh"

using namespace bench;

enum Shape { kBf16k16, kFp16k16, kBf16k8, kTf32k8, kTf32k4, kInt8k32, kInt8k16, kFp16AccK16, kShapes };
const char* const kName[] = {"bf16_m16n8k16", "fp16_m16n8k16", "bf16_m16n8k8", "tf32_m16n8k8", "tf32_m16n8k4",
                             "int8_m16n8k32", "int8_m16n8k16", "fp16acc_m16n8k16"};

#define MMA_4_2(TYPES, C)                                                                                            \
  asm volatile("mma.sync.aligned." TYPES " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                    \
               : "+" C(d[0]), "+" C(d[1]), "+" C(d[2]), "+" C(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),     \
                 "r"(b[0]), "r"(b[1]))
#define MMA_2_1(TYPES, C)                                                                                            \
  asm volatile("mma.sync.aligned." TYPES " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"                             \
               : "+" C(d[0]), "+" C(d[1]), "+" C(d[2]), "+" C(d[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]))

template <int SHAPE>
__device__ __forceinline__ void mma(uint32_t (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  if constexpr (SHAPE == kBf16k16) MMA_4_2("m16n8k16.row.col.f32.bf16.bf16.f32", "r");
  if constexpr (SHAPE == kFp16k16) MMA_4_2("m16n8k16.row.col.f32.f16.f16.f32", "r");
  if constexpr (SHAPE == kBf16k8) MMA_2_1("m16n8k8.row.col.f32.bf16.bf16.f32", "r");
  if constexpr (SHAPE == kTf32k8) MMA_4_2("m16n8k8.row.col.f32.tf32.tf32.f32", "r");
  if constexpr (SHAPE == kTf32k4) MMA_2_1("m16n8k4.row.col.f32.tf32.tf32.f32", "r");
  if constexpr (SHAPE == kInt8k32) MMA_4_2("m16n8k32.row.col.s32.s8.s8.s32", "r");
  if constexpr (SHAPE == kInt8k16) MMA_2_1("m16n8k16.row.col.s32.s8.s8.s32", "r");
  if constexpr (SHAPE == kFp16AccK16)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                 : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

const char* const kPartnerName[] = {"none", "ffma", "iadd3", "mufu", "lds32", "ffma_2warps", "ffma_1dep", "ffma_2dep", "ffma_3dep",
                                    "iadd3_1dep", "iadd3_2dep", "lop3", "imad", "shfl"};

struct Result {
  Stamp mma;
  unsigned long long partnerInsts, partnerClocks;
};

// The first `mmaWarps` warps multiply; the rest (if any) run another instruction until the multiplication ends.
template <int SHAPE, int ILP, int PARTNER>
__global__ void kernel(int iters, int mmaWarps, Result* out, unsigned never) {
  __shared__ volatile int stop;
  __shared__ unsigned cells[1024];
  cells[threadIdx.x] = 0;
  if (threadIdx.x == 0) stop = 0;
  __syncthreads();
  const int warp = threadIdx.x / 32;
  if (warp < mmaWarps) {
    uint32_t d[ILP][4] = {}, a[4], b[2];
    for (int i = 0; i < 4; ++i) a[i] = (threadIdx.x + i) & 0x3f3f;
    for (int i = 0; i < 2; ++i) b[i] = (threadIdx.x * 3 + i) & 0x3f3f;
    asm volatile("bar.sync 1, %0;" ::"r"(mmaWarps * 32) : "memory");
    Stamp s;
    stampBegin(s);
    for (int i = 0; i < iters; ++i) {
#pragma unroll
      for (int u = 0; u < 16; ++u)
#pragma unroll
        for (int k = 0; k < ILP; ++k) mma<SHAPE>(d[k], a, b);
    }
    uint32_t acc = 0;
    for (int k = 0; k < ILP; ++k) acc ^= d[k][0] ^ d[k][1] ^ d[k][2] ^ d[k][3];
    if (acc == 0x12345678) s.pad = 1;  // all results are known before the clock is read
    asm volatile("bar.sync 1, %0;" ::"r"(mmaWarps * 32) : "memory");
    stampEnd(s);
    if (threadIdx.x == 0) {
      stop = 1;
      out->mma = s;
    }
    sink(acc, never, out);
  } else {
    const PartnerCount p =
        runPartner<PARTNER, 64>(stop, static_cast<unsigned>(__cvta_generic_to_shared(cells)), never, out);
    if (threadIdx.x == mmaWarps * 32) {
      out->partnerInsts = p.insts;
      out->partnerClocks = p.clocks;
    }
  }
}

struct Bench {
  Options o;
  Report r;
  Buffer<Result> out;
  explicit Bench(const Options& opt) : o(opt), r(opt, "mma_sync"), out(1) {}
  template <int SHAPE, int ILP, int PARTNER>
  void point(const std::string& series, double x, const char* unit, int warps, int partners = 0) {
    std::vector<double> v, p, clk;
    const int iters = 256;
    for (int rep = 0; rep < o.reps; ++rep) {
      kernel<SHAPE, ILP, PARTNER><<<1, (warps + partners) * 32>>>(iters, warps, out.p, 0);
      CHECK(cudaGetLastError());
      Result q = out.host()[0];
      double perSmsp = double(iters) * 16 * ILP * std::max(1.0, warps / 4.0);
      v.push_back(double(q.mma.c1 - q.mma.c0) / perSmsp);
      clk.push_back(1e3 * double(q.mma.c1 - q.mma.c0) / double(q.mma.t1 - q.mma.t0));
      if (partners) p.push_back(double(q.partnerInsts) * std::max(1, partners / 4) / double(q.partnerClocks));
    }
    r.add(series, x, unit, v, "clk/inst/SMSP", median(clk));
    if (partners) r.add(series + "_partner", x, unit, p, "inst/clk/SMSP", median(clk));
  }
  template <int SHAPE>
  void shape() {
    const std::string n = kName[SHAPE];
    point<SHAPE, 1, kNone>(n + "_chains", 1, "chains", 1);  // one chain: the latency
    point<SHAPE, 2, kNone>(n + "_chains", 2, "chains", 1);
    point<SHAPE, 3, kNone>(n + "_chains", 3, "chains", 1);
    point<SHAPE, 4, kNone>(n + "_chains", 4, "chains", 1);
    point<SHAPE, 6, kNone>(n + "_chains", 6, "chains", 1);
    point<SHAPE, 8, kNone>(n + "_chains", 8, "chains", 1);
    for (int w : {4, 8, 12, 16, 32}) {
      point<SHAPE, 1, kNone>(n + "_1chain", w, "warps", w);
      point<SHAPE, 2, kNone>(n + "_2chains", w, "warps", w);
      point<SHAPE, 4, kNone>(n + "_4chains", w, "warps", w);
    }
  }
  template <int SHAPE>
  void partners() {
    const std::string n = std::string(kName[SHAPE]) + "_with_";
    for (int w : {4, 8}) {
      point<SHAPE, 4, kFfma>(n + kPartnerName[kFfma], w, "warps", w, 4);
      point<SHAPE, 4, kFfma2>(n + kPartnerName[kFfma2], w, "warps", w, 8);
      point<SHAPE, 4, kIadd>(n + kPartnerName[kIadd], w, "warps", w, 4);
      point<SHAPE, 4, kMufu>(n + kPartnerName[kMufu], w, "warps", w, 4);
      point<SHAPE, 4, kLds>(n + kPartnerName[kLds], w, "warps", w, 4);
      point<SHAPE, 4, kLop3>(n + kPartnerName[kLop3], w, "warps", w, 4);
      point<SHAPE, 4, kImad>(n + kPartnerName[kImad], w, "warps", w, 4);
      point<SHAPE, 4, kShfl>(n + kPartnerName[kShfl], w, "warps", w, 4);
      point<SHAPE, 4, kFfma1c>(n + kPartnerName[kFfma1c], w, "warps", w, 4);
      point<SHAPE, 4, kFfma2c>(n + kPartnerName[kFfma2c], w, "warps", w, 4);
      point<SHAPE, 4, kFfma3c>(n + kPartnerName[kFfma3c], w, "warps", w, 4);
      point<SHAPE, 4, kIadd1c>(n + kPartnerName[kIadd1c], w, "warps", w, 4);
      point<SHAPE, 4, kIadd2c>(n + kPartnerName[kIadd2c], w, "warps", w, 4);
      point<SHAPE, 1, kFfma>(n + std::string("ffma_1chain"), w, "warps", w, 4);
    }
  }
};

int main(int argc, char** argv) {
  Bench b(parse(argc, argv));
  b.shape<kBf16k16>();
  b.shape<kFp16k16>();
  b.shape<kBf16k8>();
  b.shape<kTf32k8>();
  b.shape<kTf32k4>();
  b.shape<kInt8k32>();
  b.shape<kInt8k16>();
  b.shape<kFp16AccK16>();
  b.partners<kBf16k16>();
  b.partners<kBf16k8>();
  // The partner alone: warp 1 sits on another sub-partition than the only multiplying warp.
  b.point<kBf16k16, 1, kFfma>("alone_ffma", 1, "warps", 1, 3);
  b.point<kBf16k16, 1, kFfma1c>("alone_ffma_1dep", 1, "warps", 1, 3);
  b.point<kBf16k16, 1, kFfma2c>("alone_ffma_2dep", 1, "warps", 1, 3);
  b.point<kBf16k16, 1, kFfma3c>("alone_ffma_3dep", 1, "warps", 1, 3);
  b.point<kBf16k16, 1, kIadd>("alone_iadd3", 1, "warps", 1, 3);
  b.point<kBf16k16, 1, kLop3>("alone_lop3", 1, "warps", 1, 3);
  b.point<kBf16k16, 1, kImad>("alone_imad", 1, "warps", 1, 3);
  b.point<kBf16k16, 1, kShfl>("alone_shfl", 1, "warps", 1, 3);
  b.point<kBf16k16, 1, kIadd1c>("alone_iadd3_1dep", 1, "warps", 1, 3);
  b.point<kBf16k16, 1, kIadd2c>("alone_iadd3_2dep", 1, "warps", 1, 3);
  b.point<kBf16k16, 1, kMufu>("alone_mufu", 1, "warps", 1, 3);
  b.point<kBf16k16, 1, kLds>("alone_lds32", 1, "warps", 1, 3);
  return 0;
}

// Latency and issue rate of thread instructions: FMA, integer, half, special functions, conversions, shuffles.
#include "bench.cuh"

using namespace bench;

enum Op { kFfma, kFadd, kFmul, kIadd3, kImad, kLop3, kShf, kHfma2, kHadd2, kBfma2, kEx2, kRsqrt, kSin, kTanh, kCvtBf16x2,
          kCvtF16x2, kCvtI2F, kCvtF2I, kShflBfly, kShflIdx, kFmnmx, kDfma, kPrmt, kPopc, kVote, kOps };
const char* const kName[] = {"ffma", "fadd", "fmul", "iadd3", "imad", "lop3", "shf", "hfma2", "hadd2", "bf16_hfma2", "mufu_ex2",
                             "mufu_rsq", "mufu_sin", "mufu_tanh", "cvt_bf16x2", "cvt_f16x2", "cvt_i2f", "cvt_f2i",
                             "shfl_bfly", "shfl_idx", "fmnmx", "dfma", "prmt", "popc", "vote"};

struct Regs { uint32_t x; double d; };

template <int OP>
__device__ __forceinline__ void op(Regs& r, uint32_t y, uint32_t z, double dy) {
  uint32_t& x = r.x;
  if constexpr (OP == kFfma) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z));
  if constexpr (OP == kFadd) asm volatile("add.f32 %0, %0, %1;" : "+r"(x) : "r"(y));
  if constexpr (OP == kFmul) asm volatile("mul.f32 %0, %0, %1;" : "+r"(x) : "r"(y));
  if constexpr (OP == kIadd3) asm volatile("{.reg .u32 t; add.u32 t, %0, %1; add.u32 %0, t, %2;}" : "+r"(x) : "r"(y), "r"(z));
  if constexpr (OP == kImad) asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z));
  if constexpr (OP == kLop3) asm volatile("lop3.b32 %0, %0, %1, %2, 0x6a;" : "+r"(x) : "r"(y), "r"(z));
  if constexpr (OP == kShf) asm volatile("shf.l.wrap.b32 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z));
  if constexpr (OP == kHfma2) asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z));
  if constexpr (OP == kHadd2) asm volatile("add.rn.f16x2 %0, %0, %1;" : "+r"(x) : "r"(y));
  if constexpr (OP == kBfma2) asm volatile("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(y), "r"(z));
  if constexpr (OP == kEx2) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+r"(x));
  if constexpr (OP == kRsqrt) asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+r"(x));
  if constexpr (OP == kSin) asm volatile("sin.approx.ftz.f32 %0, %0;" : "+r"(x));
  if constexpr (OP == kTanh) asm volatile("tanh.approx.f32 %0, %0;" : "+r"(x));
  if constexpr (OP == kCvtBf16x2) asm volatile("cvt.rn.bf16x2.f32 %0, %0, %1;" : "+r"(x) : "r"(y));
  if constexpr (OP == kCvtF16x2) asm volatile("cvt.rn.f16x2.f32 %0, %0, %1;" : "+r"(x) : "r"(y));
  if constexpr (OP == kCvtI2F) asm volatile("cvt.rn.f32.s32 %0, %0;" : "+r"(x));
  if constexpr (OP == kCvtF2I) asm volatile("cvt.rni.s32.f32 %0, %0;" : "+r"(x));
  if constexpr (OP == kShflBfly) asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;" : "+r"(x));
  if constexpr (OP == kShflIdx) asm volatile("shfl.sync.idx.b32 %0, %0, %1, 31, 0xffffffff;" : "+r"(x) : "r"(y));
  if constexpr (OP == kFmnmx) asm volatile("max.f32 %0, %0, %1;" : "+r"(x) : "r"(y));
  if constexpr (OP == kDfma) asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(r.d) : "d"(dy));
  if constexpr (OP == kPrmt) asm volatile("prmt.b32 %0, %0, %1, 0x5410;" : "+r"(x) : "r"(y));
  if constexpr (OP == kPopc) asm volatile("popc.b32 %0, %0;" : "+r"(x));
  if constexpr (OP == kVote)
    asm volatile("{.reg .pred p; setp.ne.u32 p, %0, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}" : "+r"(x));
}

template <int OP, int CHAINS>
__global__ void kernel(int iters, uint32_t y, uint32_t z, Stamp* out, unsigned never) {
  Regs r[CHAINS];
  for (int i = 0; i < CHAINS; ++i) r[i] = Regs{threadIdx.x + i + 1, double(threadIdx.x)};
  __syncthreads();
  Stamp s;
  stampBegin(s);
  for (int i = 0; i < iters; ++i) {
#pragma unroll
    for (int u = 0; u < 128 / CHAINS; ++u)
#pragma unroll
      for (int k = 0; k < CHAINS; ++k) op<OP>(r[k], y + threadIdx.x * (never + 0), z, 1.0 + never);
  }
  uint32_t acc = 0;
  for (int k = 0; k < CHAINS; ++k) acc ^= r[k].x ^ uint32_t(__double2int_rn(r[k].d));
  if (acc == 0x12345) s.pad = 1;
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) *out = s;
  sink(acc, never, out);
}

struct Bench {
  Options o;
  Report r;
  Buffer<Stamp> out;
  explicit Bench(const Options& opt) : o(opt), r(opt, "alu"), out(1) {}
  template <int OP, int CHAINS>
  void point(const std::string& series, double x, const char* unit, int warps, double perSmsp, const char* valueUnit) {
    const int iters = 32;
    sampleStamp(r, o, out, series, x, unit, iters * (128 / CHAINS * CHAINS) * perSmsp, valueUnit,
                [&] { kernel<OP, CHAINS><<<1, warps * 32>>>(iters, 0x3f800000u, 3u, out.p, 0); });
  }
  template <int OP>
  void one() {
    const std::string n = kName[OP];
    point<OP, 1>(n + "_latency", 1, "chain", 1, 1, "clk");
    point<OP, 4>(n + "_one_warp", 4, "chains", 1, 1, "clk/inst");
    point<OP, 8>(n + "_interval", 16, "warps", 16, 4, "clk/inst/SMSP");
  }
  template <int... I>
  void all(std::integer_sequence<int, I...>) { (one<I>(), ...); }
};

int main(int argc, char** argv) {
  Bench b(parse(argc, argv));
  b.all(std::make_integer_sequence<int, kOps>());
  return 0;
}

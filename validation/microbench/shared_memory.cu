// What does a shared-memory access cost by bank conflicts and width, what does ldmatrix cost, and how often
// can the load/store unit take an instruction, by number of active sub-partitions?
#include "ptx.cuh"

using namespace bench;

enum Op { kLds32, kLds64, kLds128, kSts32, kSts128, kLdm1, kLdm2, kLdm4, kLdm4Trans, kStm4, kLdg32, kLdgsts };
const char* const kName[] = {"lds32", "lds64", "lds128", "sts32", "sts128", "ldmatrix_x1", "ldmatrix_x2", "ldmatrix_x4",
                             "ldmatrix_x4_trans", "stmatrix_x4", "ldg32_l1", "cp_async16_l1"};

template <int OP>
__device__ __forceinline__ void access(uint32_t addr, const char* g, uint32_t (&v)[4]) {
  if constexpr (OP == kLds32) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[0]) : "r"(addr) : "memory");
  if constexpr (OP == kLds64) asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(addr) : "memory");
  if constexpr (OP == kLds128)
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(addr) : "memory");
  if constexpr (OP == kSts32) asm volatile("st.shared.u32 [%0], %1;" ::"r"(addr), "r"(addr) : "memory");
  if constexpr (OP == kSts128) asm volatile("st.shared.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(addr), "r"(addr) : "memory");
  if constexpr (OP == kLdm1) asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v[0]) : "r"(addr) : "memory");
  if constexpr (OP == kLdm2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "r"(addr) : "memory");
  if constexpr (OP == kLdm4)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(addr) : "memory");
  if constexpr (OP == kLdm4Trans)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(addr) : "memory");
  if constexpr (OP == kStm4) asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(addr), "r"(addr) : "memory");
  if constexpr (OP == kLdg32) asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[0]) : "l"(g) : "memory");
  if constexpr (OP == kLdgsts) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(addr), "l"(g) : "memory");
}

// Lane i of every warp uses byte i * laneStride (modulo the buffer); `laneMask` folds lanes together (broadcast).
// CHAINED: the next address needs the value just read (all values are zero): latency; else throughput.
// `toggle` is zero, which the compiler does not know: without it equal loads would be merged.
template <int OP, bool CHAINED>
__global__ void __launch_bounds__(1024) kernel(int iters, int laneStride, unsigned laneMask, const char* g, Stamp* out, unsigned never, unsigned toggle) {
  extern __shared__ __align__(1024) char smem[];
  for (int i = threadIdx.x; i < 16384; i += blockDim.x) reinterpret_cast<uint32_t*>(smem)[i] = 0;
  __syncthreads();
  uint32_t addr = smemAddr(smem) + ((threadIdx.x % 32 & laneMask) * laneStride) % 16384;
  const char* gp = g + threadIdx.x % 32 * 16;
  uint32_t v[4] = {0, 0, 0, 0}, keep = 0;
  Stamp s;
  stampBegin(s);
  for (int i = 0; i < iters; ++i) {
#pragma unroll
    for (int u = 0; u < 16; ++u) {
      access<OP>(addr + (CHAINED ? 0 : u % 8 * 1024), gp + u % 8 * 1024, v);
      if constexpr (CHAINED) addr += v[0];
      else keep ^= v[0] ^ v[1] ^ v[2] ^ v[3];
      if (u % 8 == 7) addr += toggle, gp += toggle;
    }
    if constexpr (OP == kLdgsts) asm volatile("cp.async.commit_group; cp.async.wait_group 1;" ::: "memory");
  }
  if (keep == 0x12345) s.pad = 1;
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) *out = s;
  sink(keep + addr, never, out);
}

// Warps of the chosen sub-partitions read; how many clocks per instruction and SM?
template <int OP>
__global__ void bySmsp(int iters, int smsps, int warpsEach, Stamp* out, unsigned never, unsigned toggle) {
  extern __shared__ __align__(1024) char smem[];
  for (int i = threadIdx.x; i < 16384; i += blockDim.x) reinterpret_cast<uint32_t*>(smem)[i] = 0;
  __syncthreads();
  const int warp = threadIdx.x / 32;
  uint32_t addr = smemAddr(smem) + threadIdx.x % 32 * (OP == kLds128 || OP == kLdm4 || OP == kSts128 || OP == kStm4 ? 16 : 4), v[4] = {0, 0, 0, 0}, keep = 0;
  Stamp s;
  stampBegin(s);
  if (warp % 4 < smsps && warp / 4 < warpsEach) {
    for (int i = 0; i < iters; ++i) {
#pragma unroll
      for (int u = 0; u < 16; ++u) {
        access<OP>(addr + u % 8 * 1024, nullptr, v);
        keep ^= v[0] ^ v[1] ^ v[2] ^ v[3];
        if (u % 8 == 7) addr += toggle;
      }
    }
    if (keep == 0x12345) s.pad = 1;
  }
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) *out = s;
  sink(keep, never, out);
}

struct Bench {
  Options o;
  Report r;
  Buffer<Stamp> out;
  Buffer<char> g;
  explicit Bench(const Options& opt) : o(opt), r(opt, "shared_memory"), out(1), g(64 * KiB) {}
  template <class L>
  void sample(const std::string& series, double x, const char* unit, double insts, const char* valueUnit, L launch) {
    sampleStamp(r, o, out, series, x, unit, insts, valueUnit, launch);
  }
  template <int OP>
  void latency(const std::string& suffix, int stride, unsigned mask = 31) {
    auto k = kernel<OP, true>;
    allowSmem(k, 64 * KiB);
    sample(std::string(kName[OP]) + "_latency" + suffix, stride, "B/lane", 64 * 16, "clk",
           [&] { k<<<1, 32, 64 * KiB>>>(64, stride, mask, g.p, out.p, 0, 0); });
  }
  // Clocks per warp instruction of the SM, with enough warps to hide the latency.
  template <int OP>
  void rate(const std::string& suffix, double x, const char* unit, int stride, unsigned mask = 31, int warps = 16) {
    auto k = kernel<OP, false>;
    allowSmem(k, 64 * KiB);
    sample(std::string(kName[OP]) + "_rate" + suffix, x, unit, 128.0 * 16 * warps, "clk/inst/SM",
           [&] { k<<<1, warps * 32, 64 * KiB>>>(128, stride, mask, g.p, out.p, 0, 0); });
  }
  template <int OP>
  void smsps() {
    auto k = bySmsp<OP>;
    allowSmem(k, 64 * KiB);
    for (int each : {1, 4})
      for (int n : {1, 2, 3, 4})
        sample(std::string(kName[OP]) + "_by_smsp_" + std::to_string(each) + "warps", n, "SMSP", 128.0 * 16 * n * each, "clk/inst/SM",
               [&] { k<<<1, 16 * 32, 64 * KiB>>>(128, n, each, out.p, 0, 0); });
  }
};

int main(int argc, char** argv) {
  Bench b(parse(argc, argv));
  for (int ways : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32}) {
    // Stride of `ways` words: gcd(ways, 32) lanes share a bank.
    b.rate<kLds32>("_stride", ways, "words", 4 * ways);
    b.latency<kLds32>("", 4 * ways);
    b.rate<kSts32>("_stride", ways, "words", 4 * ways);
  }
  b.rate<kLds32>("_broadcast", 32, "lanes", 4, 0);
  b.rate<kLds32>("_broadcast", 2, "lanes", 4, 30);
  for (int stride : {8, 16, 32, 64, 128}) b.rate<kLds64>("_stride", stride, "B/lane", stride);
  for (int stride : {16, 32, 48, 64, 80, 128, 144, 256, 272}) {
    b.rate<kLds128>("_stride", stride, "B/lane", stride);
    b.rate<kSts128>("_stride", stride, "B/lane", stride);
  }
  b.latency<kLds64>("", 8);
  b.latency<kLds128>("", 16);
  // Row pitch of the matrices: 16 (dense), 128 and 64 (conflicts), 144 and 80 (padded).
  for (int pitch : {16, 32, 64, 80, 128, 144, 256, 272}) {
    b.rate<kLdm1>("_pitch", pitch, "B/row", pitch);
    b.rate<kLdm2>("_pitch", pitch, "B/row", pitch);
    b.rate<kLdm4>("_pitch", pitch, "B/row", pitch);
    b.rate<kLdm4Trans>("_pitch", pitch, "B/row", pitch);
    b.rate<kStm4>("_pitch", pitch, "B/row", pitch);
  }
  b.latency<kLdm1>("", 16);
  b.latency<kLdm2>("", 16);
  b.latency<kLdm4>("", 16);
  b.latency<kLdm4>("", 128);
  b.latency<kLdm4Trans>("", 16);
  for (int warps : {1, 2, 4, 8, 16, 32}) {
    b.rate<kLds32>("_warps", warps, "warps", 4, 31, warps);
    b.rate<kLds128>("_warps", warps, "warps", 16, 31, warps);
    b.rate<kLdm4>("_warps", warps, "warps", 16, 31, warps);
    b.rate<kSts32>("_warps", warps, "warps", 4, 31, warps);
    b.rate<kLdg32>("_warps", warps, "warps", 4, 31, warps);
    b.rate<kLdgsts>("_warps", warps, "warps", 16, 31, warps);
  }
  b.smsps<kLds32>();
  b.smsps<kLds128>();
  b.smsps<kLdm4>();
  b.smsps<kSts32>();
  b.smsps<kSts128>();
  b.smsps<kStm4>();
  return 0;
}

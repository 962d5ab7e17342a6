// How many loads a clock does the L1 answer when all of them hit, by width, lines per warp, sub-partitions and warps,
// and how many when the same warps also read shared memory and shuffle?
#include <map>

#include "ptx.cuh"

using namespace bench;

constexpr int kIters = 512;
// What a warp does for each of its loads beside it; kReadOnly: the load is one of data that nobody writes (ld.global.nc).
enum Mix { kAlone, kReadOnly, kWithLds, kWithShfl, kWithBoth };
const char* const kMixName[] = {"", "_nc", "_lds", "_shfl", "_lds_shfl"};

// Loads in flight of a thread: few enough registers that two CTAs of 1024 threads fit on an SM.
template <int BYTES, int MIX>
constexpr int kUnroll = (MIX <= kReadOnly ? 32 : 16) / BYTES;

template <int BYTES, bool READ_ONLY>
__device__ __forceinline__ void load(const char* p, uint32_t (&v)[4]) {
  if constexpr (BYTES == 4 && READ_ONLY) asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v[0]) : "l"(p) : "memory");
  if constexpr (BYTES == 4 && !READ_ONLY) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v[0]) : "l"(p) : "memory");
  if constexpr (BYTES == 8) asm volatile("ld.global.v2.u32 {%0,%1}, [%2];" : "=r"(v[0]), "=r"(v[1]) : "l"(p) : "memory");
  if constexpr (BYTES == 16)
    asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "l"(p) : "memory");
}

// Lane i reads BYTES at i % `lanes` times `stride` plus `offset`; loads of a warp are STEP apart and begin again after two rounds.
// `toggle` is zero, which the compiler does not know: without it equal loads would be merged.
template <int BYTES, int STEP, int MIX>
__global__ void __launch_bounds__(1024, 2)
    hits(const char* base, int lanes, int stride, int offset, int smsps, int warpsEach, Stamp* out, unsigned never, unsigned toggle) {
  __shared__ uint32_t cells[1024 + 4];
  cells[threadIdx.x] = 0;
  __syncthreads();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const bool works = warp % 4 < smsps && warp / 4 < warpsEach;
  const char* p = base + lane % lanes * stride + offset;
  const uint32_t cell = smemAddr(cells) + threadIdx.x * 4;
  constexpr int kLoads = kUnroll<BYTES, MIX>;
  uint32_t keep = 0, v[kLoads][4] = {};
  auto pass = [&](int iters) {
    for (int i = 0; i < iters; ++i) {
      const char* q = p + (i % 2) * STEP * kLoads;
#pragma unroll
      for (int u = 0; u < kLoads; ++u) {
        load<BYTES, MIX == kReadOnly>(q + u * STEP, v[u]);
        uint32_t other = 0;
        if constexpr (MIX == kWithLds || MIX == kWithBoth)
          asm volatile("ld.shared.u32 %0, [%1];" : "=r"(other) : "r"(cell + (u & 3) * 4 + (i & toggle)) : "memory");
        if constexpr (MIX == kWithShfl || MIX == kWithBoth) other = __shfl_xor_sync(~0u, other + u, 1);
        keep ^= other;
      }
#pragma unroll
      for (int u = 0; u < kLoads; ++u) keep ^= v[u][0] ^ v[u][1] ^ v[u][2] ^ v[u][3];
      p += toggle;
    }
  };
  if (works) pass(2);  // brings the lines in
  __syncthreads();
  Stamp s;
  stampBegin(s);
  if (works) pass(kIters);
  if (keep == 0x12345) s.pad = 1;
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
  sink(keep, never, out);
}

// Clocks between the first start and the last end on an SM, the median over the SMs that hold `ctas` of them.
double clocksOfSm(const std::vector<Stamp>& stamps, int ctas) {
  struct Sm {
    unsigned long long first = ~0ull, last = 0;
    int ctas = 0;
  };
  std::map<unsigned, Sm> sms;
  for (const Stamp& s : stamps) {
    if (s.c1 == 0) continue;
    Sm& sm = sms[s.smid];
    sm.first = std::min(sm.first, s.c0);
    sm.last = std::max(sm.last, s.c1);
    ++sm.ctas;
  }
  std::vector<double> clocks;
  for (const auto& [id, sm] : sms)
    if (sm.ctas == ctas) clocks.push_back(double(sm.last - sm.first));
  return median(clocks);
}

struct Bench {
  Options o;
  Report r;
  Buffer<Stamp> out;
  Buffer<char> data;
  explicit Bench(const Options& opt) : o(opt), r(opt, "l1_hits"), out(2 * smCount()), data(4 * MiB) {}

  struct Pattern {
    int lanes = 32, stride = 4, offset = 0;
  };
  // Clocks per load instruction of an SM. More than eight warps per SMSP need two CTAs on each SM.
  template <int BYTES, int STEP, int MIX>
  void rate(const std::string& series, double x, const char* unit, const Pattern& p, int smsps, int warpsEach) {
    const int ctas = warpsEach > 8 ? 2 : 1, each = warpsEach / ctas, grid = ctas == 2 ? 2 * smCount() : 1;
    std::vector<double> v;
    for (int rep = 0; rep < o.reps + 1; ++rep) {
      out.zero();
      hits<BYTES, STEP, MIX><<<grid, 1024>>>(data.p, p.lanes, p.stride, p.offset, smsps, each, out.p, 0, 0);
      CHECK(cudaGetLastError());
      const double clocks = clocksOfSm(out.host(), ctas);
      if (rep != 0) v.push_back(clocks / (double(kIters) * kUnroll<BYTES, MIX> * smsps * warpsEach));
    }
    r.add(series, x, unit, v, "clk/inst/SM");
  }
};

int main(int argc, char** argv) {
  Bench b(parse(argc, argv));
  using Pattern = Bench::Pattern;
  for (int smsps : {1, 2, 3, 4})
    for (int warps : {1, 2, 4, 8, 16}) {
      if (warps > 8 && smsps < 4) continue;  // which SMSPs the second CTA's warps come to is not known
      const std::string s = "_" + std::to_string(smsps) + "smsps";
      b.rate<4, 128, kAlone>("ldg32" + s, warps, "warps/SMSP", Pattern{}, smsps, warps);
      b.rate<8, 256, kAlone>("ldg64" + s, warps, "warps/SMSP", Pattern{32, 8}, smsps, warps);
      b.rate<16, 512, kAlone>("ldg128" + s, warps, "warps/SMSP", Pattern{32, 16}, smsps, warps);
    }
  for (int warps : {4, 16}) {
    const std::string s = "_" + std::to_string(warps) + "warps";
    // Lines that a load touches: lanes further apart; the same data for all loads, so that it stays resident.
    for (int stride : {4, 8, 12, 16, 32, 64, 128, 132, 256, 1024})
      b.rate<4, 4, kAlone>("ldg32_stride" + s, stride, "B/lane", Pattern{32, stride}, 4, warps);
    for (int stride : {16, 32, 64, 128, 144, 256}) b.rate<16, 16, kAlone>("ldg128_stride" + s, stride, "B/lane", Pattern{32, stride}, 4, warps);
    for (int lanes : {1, 2, 4, 8, 16}) b.rate<4, 128, kAlone>("ldg32_broadcast" + s, lanes, "words", Pattern{lanes, 4}, 4, warps);
    for (int lanes : {2, 16}) b.rate<4, 4, kAlone>("ldg32_line_apart" + s, lanes, "words", Pattern{lanes, 128}, 4, warps);
    b.rate<4, 128, kReadOnly>(std::string("ldg32") + kMixName[kReadOnly] + s, 4, "B/lane", Pattern{}, 4, warps);
    for (int offset : {4, 32, 64}) b.rate<4, 128, kAlone>("ldg32_offset" + s, offset, "B", Pattern{32, 4, offset}, 4, warps);
    b.rate<4, 128, kWithLds>(std::string("ldg32") + kMixName[kWithLds] + s, 1, "LDS/LDG", Pattern{}, 4, warps);
    b.rate<4, 128, kWithShfl>(std::string("ldg32") + kMixName[kWithShfl] + s, 1, "SHFL/LDG", Pattern{}, 4, warps);
    b.rate<4, 128, kWithBoth>(std::string("ldg32") + kMixName[kWithBoth] + s, 1, "each/LDG", Pattern{}, 4, warps);
    b.rate<16, 512, kWithLds>(std::string("ldg128") + kMixName[kWithLds] + s, 1, "LDS/LDG", Pattern{32, 16}, 4, warps);
  }
  return 0;
}

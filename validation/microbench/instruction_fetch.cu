// How fast does code come to an SM? Straight-line code of 2 to 256 KiB, executed again and again, or once while no cache
// holds it, by 1 to 32 warps of every SM: all at once, or each four warps some clocks later than the four before.
#include <utility>

#include "bench.cuh"

using namespace bench;

// Independent FFMA on four chains: 16 bytes each, one a clock and SMSP once they are there.
#define FOUR "fma.rn.f32 %0, %0, %4, %4; fma.rn.f32 %1, %1, %4, %4; fma.rn.f32 %2, %2, %4, %4; fma.rn.f32 %3, %3, %4, %4;\n"
#define SIXTEEN FOUR FOUR FOUR FOUR
#define ONE_KIB SIXTEEN SIXTEEN SIXTEEN SIXTEEN
constexpr int kPerKib = 64;

// Stamps of a CTA: its first warp's start and its last warp's end.
template <int KIB>
__global__ void __launch_bounds__(1024) straight(int laps, unsigned apart, float m, Stamp* out, unsigned never) {
  __shared__ unsigned long long first, last;
  float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
  if (threadIdx.x == 0) first = ~0ull, last = 0;
  __syncthreads();
  const uint64_t start = clockNow() + apart * (threadIdx.x / 128);
  while (clockNow() < start) {}
  const uint64_t from = clockNow();
#pragma unroll 1
  for (int l = 0; l < laps; ++l)
#pragma unroll
    for (int i = 0; i < KIB; ++i) asm volatile(ONE_KIB : "+f"(a), "+f"(b), "+f"(c), "+f"(d) : "f"(m));
  const uint64_t to = clockNow();
  if (threadIdx.x % 32 == 0) {
    atomicMin(&first, from);
    atomicMax(&last, to);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    out[blockIdx.x].c0 = first;
    out[blockIdx.x].c1 = last;
  }
  sink(a + b + c + d, never, out);
}

struct Bench {
  Options o;
  Report r;
  Buffer<Stamp> out;
  explicit Bench(const Options& opt) : o(opt), r(opt, "instruction_fetch"), out(smCount()) {}

  // Clocks of the average SM.
  template <int KIB>
  double clocks(int ctas, int warps, int laps, unsigned apart) {
    out.zero();
    straight<KIB><<<ctas, 32 * warps>>>(laps, apart, 0.5f, out.p, 0);
    CHECK(cudaGetLastError());
    double sum = 0;
    for (const Stamp& s : out.host()) sum += double(s.c1 - s.c0);
    return sum / ctas;
  }
  // A lap once the first ones are over: the difference of a long and a short run. The short one is long enough for every
  // warp to have started.
  template <int KIB>
  void steady(const char* who, int ctas, int warps, unsigned apart) {
    const int shortest = std::max(4, 256 / KIB), longest = 3 * shortest;
    const double instructions = double(longest - shortest) * KIB * kPerKib * std::max(1, warps / 4);
    std::vector<double> v;
    for (int rep = 0; rep < o.reps + 1; ++rep) {
      const double before = clocks<KIB>(ctas, warps, shortest, apart);
      const double all = clocks<KIB>(ctas, warps, longest, apart);
      if (rep) v.push_back((all - before) / instructions);
    }
    std::string name = std::string(who) + "steady_warps_" + std::to_string(warps);
    if (apart) name += "_apart_" + std::to_string(apart);
    r.add(name, KIB, "KiB", v, "clk/inst/SMSP");
  }
  // Neither the SM nor the L2 holds the code.
  template <int KIB>
  void cold(const char* who, int ctas, int warps) {
    std::vector<double> v;
    for (int rep = 0; rep < o.reps + 1; ++rep) {
      flushL2();
      clocks<512>(smCount(), 4, 1, 0);
      flushL2();
      const double all = clocks<KIB>(ctas, warps, 1, 0);
      if (rep) v.push_back(all / (double(KIB) * kPerKib * std::max(1, warps / 4)));
    }
    r.add(std::string(who) + "cold_warps_" + std::to_string(warps), KIB, "KiB", v, "clk/inst/SMSP");
  }
  template <int KIB>
  void size() {
    for (int warps : {1, 4, 8, 16, 32}) {
      steady<KIB>("", smCount(), warps, 0);
      cold<KIB>("", smCount(), warps);
    }
    for (int warps : {8, 16, 32})
      for (unsigned apart : {100, 1500}) steady<KIB>("", smCount(), warps, apart);
    steady<KIB>("one_sm_", 1, 4, 0);
    cold<KIB>("one_sm_", 1, 4);
  }
  template <int... KIB>
  void all(std::integer_sequence<int, KIB...>) { (size<KIB>(), ...); }
};

int main(int argc, char** argv) {
  Bench b(parse(argc, argv));
  b.all(std::integer_sequence<int, 2, 4, 8, 16, 24, 32, 40, 48, 64, 96, 128, 192, 256>());
  return 0;
}

// How many issue slots do warps fill that each wait for results of their own? FFMA in one or two chains, and in groups of
// one to three that each wait for the group before, by warps on a sub-partition.
#include <utility>

#include "bench.cuh"

using namespace bench;

constexpr int kBlock = 120;  // instructions of a lap

// Instructions of each group, in an order without period: 1 to 3, 2 on average.
constexpr int kGroups = 60;
constexpr int kGroupSize[kGroups] = {2, 3, 1, 1, 3, 2, 2, 1, 3, 3, 2, 1, 1, 2, 3, 2, 2, 3, 1, 1, 3, 3, 2, 1, 2, 1, 3, 2, 3, 1,
                                     1, 3, 2, 2, 1, 3, 3, 1, 2, 2, 3, 1, 2, 3, 1, 1, 2, 3, 3, 2, 1, 2, 1, 3, 2, 3, 1, 1, 3, 2};

__device__ __forceinline__ void ffma(float& to, float a, float b, float c) {
  asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"(to) : "f"(a), "f"(b), "f"(c));
}

// Every instruction of a group reads all results of the group before, so that none can be moved, and has another factor
// than its neighbours, so that none can be left out.
template <int G>
__device__ __forceinline__ void group(float (&bank)[2][3], const float (&m)[3]) {
  constexpr int before = kGroupSize[(G + kGroups - 1) % kGroups], now = kGroupSize[G];
  float(&from)[3] = bank[G % 2];
  float(&to)[3] = bank[1 - G % 2];
#pragma unroll
  for (int i = 0; i < now; ++i) {
    if constexpr (before == 3) ffma(to[i], from[i], from[(i + 1) % 3], from[(i + 2) % 3]);
    else ffma(to[i], from[0], m[i], from[before - 1]);
  }
}
template <int... G>
__device__ __forceinline__ void groups(float (&bank)[2][3], const float (&m)[3], std::integer_sequence<int, G...>) {
  (group<G>(bank, m), ...);
}

// CHAINS 0: groups.
template <int CHAINS>
__global__ void kernel(int laps, float m, Stamp* out, unsigned never) {
  float x[2][3];
  for (int i = 0; i < 6; ++i) x[i / 3][i % 3] = float(threadIdx.x + i);
  __syncthreads();
  Stamp s;
  stampBegin(s);
#pragma unroll 1
  for (int l = 0; l < laps; ++l) {
    if constexpr (CHAINS == 0) groups(x, {m, m + 1, m + 2}, std::make_integer_sequence<int, kGroups>());
    else {
#pragma unroll
      for (int i = 0; i < kBlock; ++i) ffma(x[0][i % CHAINS], x[0][i % CHAINS], m, m);
    }
  }
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) *out = s;
  sink(x[0][0] + x[0][1] + x[0][2] + x[1][0] + x[1][1] + x[1][2], never, out);
}

struct Bench {
  Options o;
  Report r;
  Buffer<Stamp> out;
  explicit Bench(const Options& opt) : o(opt), r(opt, "issue_slots"), out(1) {}
  template <int CHAINS>
  void series(const char* name) {
    constexpr int laps = 256;
    for (int warps : {1, 2, 3, 4, 5, 6, 8})  // of a sub-partition
      sampleStamp(r, o, out, name, warps, "warps/SMSP", double(laps) * kBlock * warps, "clk/inst/SMSP",
                  [&] { kernel<CHAINS><<<1, 128 * warps>>>(laps, 0.5f, out.p, 0); });
  }
};

int main(int argc, char** argv) {
  Bench b(parse(argc, argv));
  b.series<1>("chains_1");
  b.series<2>("chains_2");
  b.series<3>("chains_3");
  b.series<0>("groups_1_to_3");
  return 0;
}

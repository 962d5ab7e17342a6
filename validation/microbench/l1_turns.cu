// Whose load does the L1 answer first when the warps of two CTAs of an SM ask for more than it can give: what a load of
// the older or the younger CTA waits behind the loads of the other, and how the two share its data path.
#include <map>

#include "ptx.cuh"

using namespace bench;

constexpr int kThreads = 1024;                  // two CTAs an SM
constexpr unsigned long long kWarmUp = 20000;   // clk before anything is counted
constexpr unsigned long long kCounted = 400000;
constexpr int kLoadStep = 4096, kCellStep = 4;  // between the loads of a warp under way: equal ones would be merged

enum Kind { kGlobal, kShared };

template <int KIND>
__device__ __forceinline__ uint32_t load(const char* p, uint32_t cell) {
  uint32_t v;
  if constexpr (KIND == kGlobal) asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  if constexpr (KIND == kShared) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(cell) : "memory");
  return v;
}

struct Result {
  unsigned long long clocks, loads;
  unsigned smid, pad;
};

// CTAs of the grid's first half are the older ones. If `probes` is set, one warp of those of `prober` (0 older, 1 younger)
// makes one load after another; `warps` warps of every other CTA keep IN_FLIGHT loads under way each.
template <int PROBE, int HAMMER, int IN_FLIGHT>
__global__ void __launch_bounds__(kThreads, 2)
    turns(const char* base, int stride, int prober, int probes, int warps, Result* out, unsigned* arrived, unsigned never) {
  __shared__ uint32_t cells[kThreads + 8];
  cells[threadIdx.x] = 0;
  if (threadIdx.x < 8) cells[kThreads + threadIdx.x] = 0;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const bool younger = blockIdx.x >= gridDim.x / 2;
  const bool probing = probes && younger == (prober == 1);
  const char* p = base + lane * stride;
  uint32_t cell = smemAddr(cells) + lane * stride;
  uint32_t keep = 0;  // stays zero, which the compiler does not know
  for (int u = 0; u < IN_FLIGHT; ++u) keep |= load<kGlobal>(p + u * kLoadStep, cell);
  if (threadIdx.x == 0) arriveAndWait(arrived, gridDim.x);
  __syncthreads();
  const unsigned long long start = clockNow();
  unsigned long long first = 0, last = 0, loads = 0;
  if (probing ? warp == 0 : warp < warps) {
    while (true) {
      const unsigned long long now = clockNow();
      if (now - start > kWarmUp && first == 0) first = now, loads = 0;
      if (now - start > kWarmUp + kCounted) {
        last = now;
        break;
      }
      if (probing) {
        keep = load<PROBE>(p + keep, cell + keep);
        ++loads;
      } else {
        uint32_t v[IN_FLIGHT];
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; ++u) v[u] = load<HAMMER>(p + u * kLoadStep, cell + u * kCellStep);
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; ++u) keep |= v[u];
        p += keep, cell += keep;
        loads += IN_FLIGHT;
      }
    }
  }
  __shared__ unsigned long long sum, clocks;
  if (threadIdx.x == 0) sum = 0, clocks = 0;
  __syncthreads();
  if (lane == 0 && loads) {
    atomicAdd(&sum, loads);
    atomicMax(&clocks, last - first);
  }
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = Result{clocks, sum, smId(), 0};
  sink(keep, never, out);
}

struct Bench {
  Options o;
  Report r;
  Buffer<Result> out;
  Buffer<unsigned> arrived;
  Buffer<char> data;
  explicit Bench(const Options& opt) : o(opt), r(opt, "l1_turns"), out(2 * smCount()), arrived(1), data(1 * MiB) { data.zero(); }

  // Clocks a load of the older and of the younger CTA's, medians over the SMs that hold one of each.
  template <int PROBE, int HAMMER, int IN_FLIGHT>
  std::pair<double, double> run(int stride, int prober, bool probes, int warps) {
    out.zero();
    arrived.zero();
    turns<PROBE, HAMMER, IN_FLIGHT><<<2 * smCount(), kThreads>>>(data.p, stride, prober, probes, warps, out.p, arrived.p, 0);
    CHECK(cudaGetLastError());
    const std::vector<Result> all = out.host();
    std::map<unsigned, std::vector<const Result*>> sms;
    for (const Result& x : all) sms[x.smid].push_back(&x);
    std::vector<double> older, younger;
    for (const auto& [id, ctas] : sms) {
      if (ctas.size() != 2 || ctas[0] - all.data() >= smCount() || ctas[1] - all.data() < smCount()) continue;
      if (ctas[0]->loads) older.push_back(double(ctas[0]->clocks) / ctas[0]->loads);
      if (ctas[1]->loads) younger.push_back(double(ctas[1]->clocks) / ctas[1]->loads);
    }
    return {older.empty() ? 0 : median(older), younger.empty() ? 0 : median(younger)};
  }
  template <int PROBE, int HAMMER, int IN_FLIGHT>
  void sweep(const std::string& name, int stride) {
    for (int warps : {1, 2, 4, 8, 16, 32}) {
      std::vector<double> old, young, both_old, both_young;
      for (int rep = 0; rep < o.reps; ++rep) {
        old.push_back(run<PROBE, HAMMER, IN_FLIGHT>(stride, 0, true, warps).first);
        young.push_back(run<PROBE, HAMMER, IN_FLIGHT>(stride, 1, true, warps).second);
        const auto [a, b] = run<PROBE, HAMMER, IN_FLIGHT>(stride, 0, false, warps);
        both_old.push_back(a), both_young.push_back(b);
      }
      r.add(name + "_probe_older", warps, "warps", old, "clk/load");
      r.add(name + "_probe_younger", warps, "warps", young, "clk/load");
      r.add(name + "_both_older", warps, "warps", both_old, "clk/load");
      r.add(name + "_both_younger", warps, "warps", both_young, "clk/load");
    }
  }
};

int main(int argc, char** argv) {
  Bench b(parse(argc, argv));
  b.sweep<kGlobal, kGlobal, 8>("ldg_32_wavefronts_8", 128);
  b.sweep<kGlobal, kGlobal, 2>("ldg_32_wavefronts_2", 128);
  b.sweep<kGlobal, kGlobal, 8>("ldg_8_wavefronts_8", 32);
  b.sweep<kGlobal, kGlobal, 8>("ldg_1_wavefront_8", 4);
  b.sweep<kShared, kShared, 8>("lds_32_wavefronts_8", 128);
  b.sweep<kShared, kShared, 8>("lds_8_wavefronts_8", 32);
  b.sweep<kShared, kGlobal, 8>("lds_beside_ldg_32_wavefronts_8", 128);
  return 0;
}

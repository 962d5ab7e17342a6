// How soon does HBM give its full rate? Phases of one kernel, all SMs from the same moment on; when had how many bytes arrived?
// Phase 0: memory no kernel of the process has read. 1: the same again, other bytes. 2: other bytes after a pause. 3: the
// pages of phase 0, other bytes of them.
#include <cstdlib>

#include "placement.cuh"

using namespace bench;

constexpr int kChunk = 8192, kMaxStages = 24, kPhases = 4, kCopies = 128;

// Up to four warps issue and await copies, so that a turn of a loop (about 300 clk) limits nobody.
__global__ void __launch_bounds__(128) ramp(Group g, const char* data, int stages, bool inTurn, unsigned pauseNs, unsigned long long* startAt,
                                            unsigned* arrival) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t bars[kMaxStages];
  __shared__ unsigned seen[kCopies];
  const int rank = enterGroup(g);
  if (rank < 0) return;
  const unsigned warps = min(stages, 4), warp = threadIdx.x / 32, s = stages / warps;
  uint32_t parity = 0, bar0 = smemAddr(bars) + warp * s * 8, slot0 = smemAddr(smem) + warp * s * kChunk;
  const uint32_t last = bar0 + (s - 1) * 8;
  uint32_t bar = bar0, slot = slot0;
  auto advance = [&] {
    const bool wrap = bar == last;
    bar = wrap ? bar0 : bar + 8;
    slot = wrap ? slot0 : slot + kChunk;
    return wrap;
  };
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) mbarInit(smemAddr(&bars[i]), 1);
    mbarFence();
  }
  const size_t set = size_t(g.active) * kCopies * kChunk;  // bytes of a phase
  for (int phase = 0; phase < kPhases; ++phase) {
    groupBarrier(g, phase);
    if (threadIdx.x == 0 && rank == 0) atomicExch(&startAt[phase], nanosNow() + 3000 + (phase == 2 ? pauseNs : 0));
    if (threadIdx.x % 32 == 0 && warp < warps) {
      Watchdog dog;
      unsigned long long t;
      while ((t = *reinterpret_cast<volatile unsigned long long*>(&startAt[phase])) == 0) dog.poll();
      // Pages hold the sets of phase 0 and of phase 3 in turn, 1 MiB of each.
      const bool mixed = phase == 0 || phase == 3;
      const char* base = data + (mixed ? (phase == 3 ? MiB : 0) : set * (phase + 1));
      auto from = [&](unsigned i) {
        const size_t o = inTurn ? (size_t(i) * g.active + rank) * kChunk : (size_t(rank) * kCopies + i) * kChunk;
        return base + (mixed ? (o >> 20 << 21 | (o & (MiB - 1))) : o);
      };
      auto issue = [&](unsigned i) {
        mbarExpect(bar, kChunk);
        bulkLoad(slot, from(i), kChunk, bar);
      };
      while (nanosNow() < t) {}
      const uint64_t c0 = clockNow();
      const uint32_t barAt = bar, slotAt = slot;
      for (unsigned k = 0, i = warp; k < s && i < kCopies; ++k, i += warps) {
        issue(i);
        advance();
      }
      bar = barAt;
      slot = slotAt;
      for (unsigned i = warp; i < kCopies; i += warps) {
        mbarWait(bar, parity);
        seen[i] = unsigned(clockNow() - c0);
        if (i + warps * s < kCopies) issue(i + warps * s);
        parity ^= advance();
      }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kCopies; i += blockDim.x) arrival[(size_t(phase) * g.active + rank) * kCopies + i] = seen[i];
    __syncthreads();
  }
}

static __global__ void readAll(const uint4* p, size_t n, unsigned never, float* out) {
  uint4 acc = make_uint4(0, 0, 0, 0);
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    const uint4 v = loadCg(p + i);
    acc.x ^= v.x; acc.y ^= v.y; acc.z ^= v.z; acc.w ^= v.w;
  }
  sink(acc, never, out);
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "hbm_ramp");
  const int sms = smCount();
  GroupStore store;
  std::vector<int> all(sms);
  std::iota(all.begin(), all.end(), 0);
  const size_t each = size_t(sms) * kCopies * kChunk, total = 5 * each;
  Buffer<unsigned long long> startAt(kPhases);
  Buffer<unsigned> arrival(size_t(kPhases) * sms * kCopies);
  allowSmem(ramp, kWholeSm);
  // The L2 full of lines that are clean, or written, before phase 0.
  const size_t cleanBytes = 512 * MiB;
  Buffer<uint4> clean(cleanBytes / 16);
  Buffer<float> out(1024);
  for (bool dirty : {false, true})
   for (bool inTurn : {false, true})
    for (int stages : {1, 2, 3, 4, 6, 8, 16, 24}) {
      std::map<std::pair<int, int>, std::vector<double>> when;
      for (int rep = 0; rep < o.reps; ++rep) {
        char* data;  // fresh, so that no translation is cached
        CHECK(cudaMalloc(&data, total));
        flushL2();
        if (!dirty) readAll<<<sms * 4, 512>>>(clean.p, clean.n, 0, out.p);
        Group g = store.use(all);
        startAt.zero();
        ramp<<<sms, 128, kWholeSm>>>(g, data, stages, inTurn, 100000, startAt.p, arrival.p);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        auto a = arrival.host();
        for (int p = 0; p < kPhases; ++p) {
          std::vector<unsigned> t(a.begin() + size_t(p) * sms * kCopies, a.begin() + size_t(p + 1) * sms * kCopies);
          std::sort(t.begin(), t.end());
          for (int mib : {0, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 120, 132})
            when[{p, mib}].push_back(t[std::min(t.size() - 1, size_t(mib) * MiB / kChunk)]);
        }
        CHECK(cudaFree(data));
      }
      for (auto& [k, v] : when)
        r.add(std::string(dirty ? "dirty_" : "") + (inTurn ? "in_turn_" : "ranges_") + std::to_string(stages * 8) + "KiB_phase" + std::to_string(k.first), k.second, "MiB", v,
              "clk", 1980);
    }
  return 0;
}

// Where SMs sit (TPC, GPC) and how to let only a chosen group of them work.
#pragma once

#include <map>
#include <numeric>

#include "ptx.cuh"

namespace bench {

static __global__ void clusterSmids(unsigned* out) {
  uint64_t start = clockNow();
  if (threadIdx.x == 0) out[blockIdx.x] = smId();
  while (clockNow() - start < 4000) {}
}

// smids of `launches` grids of clusters of `size`, one CTA per SM; CTA i of the result belongs to cluster i / size.
inline std::vector<unsigned> observeClusters(int size, int clusters) {
  Buffer<unsigned> b(size_t(size) * clusters);
  launchCluster(clusterSmids, size * clusters, 32, kWholeSm, size, b.p);
  CHECK(cudaDeviceSynchronize());
  return b.host();
}

struct Topology {
  int sms = 0, gpcs = 0;
  std::vector<int> gpc;                   // by smid
  std::vector<std::vector<int>> members;  // smids of each GPC
};

// A set of SMs that take part in a kernel launched with one CTA on every SM.
struct Group {
  int* rank = nullptr;  // by smid; -1 stays idle
  int active = 0;
  unsigned* counters = nullptr;  // [0] all CTAs present, [1..] phases of the active ones
};

class GroupStore {
 public:
  GroupStore() : rank_(smCount()), counters_(16) {}
  Group use(const std::vector<int>& smids) {
    std::vector<int> r(rank_.n, -1);
    for (size_t i = 0; i < smids.size(); ++i) r[smids[i]] = int(i);
    rank_.set(r);
    counters_.zero();
    return Group{rank_.p, int(smids.size()), counters_.p};
  }

 private:
  Buffer<int> rank_;
  Buffer<unsigned> counters_;
};

// Rank of this CTA in the group, or -1. Waits until every SM holds its CTA, so that none gets two.
__device__ __forceinline__ int enterGroup(const Group& g) {
  __shared__ int rank;
  if (threadIdx.x == 0) {
    arriveAndWait(&g.counters[0], gridDim.x);
    rank = g.rank[smId()];
  }
  __syncthreads();
  return rank;
}
__device__ __forceinline__ void groupBarrier(const Group& g, int phase) {
  __syncthreads();
  if (threadIdx.x == 0) arriveAndWait(&g.counters[1 + phase], g.active);
  __syncthreads();
}

// The members of a group start together, each as many clocks late as it says. `startAt`: zero before the launch.
__device__ __forceinline__ void alignedStart(const Group& g, unsigned long long* startAt, int rank, int late) {
  groupBarrier(g, 0);
  if (threadIdx.x == 0) {
    if (rank == 0) atomicExch(startAt, nanosNow() + 3000);
    Watchdog dog;
    unsigned long long t;
    while ((t = *reinterpret_cast<volatile unsigned long long*>(startAt)) == 0) dog.poll();
    while (nanosNow() < t) {}  // all see the same step of the timer
    uint64_t c0 = clockNow();
    while (clockNow() - c0 < unsigned(late)) {}
  }
  __syncthreads();
}

constexpr int kProbeWords = 4096;  // 64 KiB of 16-byte words per SM

// Bytes per clock of every member while all members read private sets that the L2 holds.
static __global__ void __launch_bounds__(512, 1) probeRate(Group g, const uint4* data, float* rate, unsigned never) {
  int rank = enterGroup(g);
  if (rank < 0) return;
  const uint4* p = data + size_t(rank) * kProbeWords + threadIdx.x;
  groupBarrier(g, 0);
  uint4 acc = make_uint4(0, 0, 0, 0);
  uint64_t c0 = clockNow();
  constexpr int laps = 16;
  for (int l = 0; l < laps; ++l)
    for (int i = 0; i < kProbeWords; i += 2048) {
      uint4 v[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) v[j] = loadCg(p + i + j * 512);
#pragma unroll
      for (int j = 0; j < 4; ++j) { acc.x ^= v[j].x; acc.y ^= v[j].y; acc.z ^= v[j].z; acc.w ^= v[j].w; }
    }
  __syncthreads();
  uint64_t c1 = clockNow();
  if (threadIdx.x == 0) rate[smId()] = float(laps * kProbeWords * 16) / float(c1 - c0);
  sink(acc, never, rate);
}

// SMs that ever share a cluster share a GPC: clusters never span two. A TPC that never joins a cluster with
// another belongs to the GPC with which it cannot exceed one GPC's read limit.
inline Topology discoverTopology() {
  Topology t;
  t.sms = smCount();
  std::vector<int> parent(t.sms);
  std::iota(parent.begin(), parent.end(), 0);
  auto root = [&](int x) {
    while (parent[x] != x) x = parent[x] = parent[parent[x]];
    return x;
  };
  for (int size : {2, 4, 8, 16}) {
    std::vector<unsigned> s = observeClusters(size, 2048 / size);
    for (size_t i = 0; i < s.size(); ++i) parent[root(s[i])] = root(s[i - i % size]);
  }
  std::map<int, int> index;
  t.gpc.resize(t.sms);
  for (int i = 0; i < t.sms; ++i) {
    int r = root(i);
    if (!index.count(r)) {
      index[r] = int(index.size());
      t.members.emplace_back();
    }
    t.gpc[i] = index[r];
    t.members[t.gpc[i]].push_back(i);
  }
  std::vector<std::vector<int>> whole, lone;
  for (auto& m : t.members) (m.size() > 2 ? whole : lone).push_back(m);
  if (!lone.empty()) {
    GroupStore groups;
    Buffer<uint4> data(size_t(t.sms) * kProbeWords);
    Buffer<float> rate(t.sms);
    allowSmem(probeRate, kWholeSm);
    const size_t clusters = whole.size();
    std::vector<std::vector<int>> base = whole;
    for (auto& l : lone) {
      size_t best = 0;
      float lowest = 1e9f;
      for (size_t g = 0; g < clusters; ++g) {
        std::vector<int> smids = base[g];
        smids.insert(smids.end(), l.begin(), l.end());
        for (int rep = 0; rep < 2; ++rep) {
          probeRate<<<t.sms, 512, kWholeSm>>>(groups.use(smids), data.p, rate.p, 0);
          CHECK(cudaGetLastError());
          CHECK(cudaDeviceSynchronize());
        }
        // Sharing the GPC's limit, all together get no more than it: number of SMs times the slowest.
        std::vector<float> r = rate.host();
        float slowest = r[smids[0]];
        for (int sm : smids) slowest = std::min(slowest, r[sm]);
        float total = slowest * float(smids.size());
        if (total < lowest) lowest = total, best = g;
      }
      whole[best].insert(whole[best].end(), l.begin(), l.end());
    }
  }
  t.members = whole;
  t.gpcs = int(whole.size());
  for (int g = 0; g < t.gpcs; ++g)
    for (int sm : whole[g]) t.gpc[sm] = g;
  return t;
}

}  // namespace bench

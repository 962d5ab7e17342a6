// Which SMs' reads of the same lines are merged before the L2, and for how long after each other?
// A chosen group reads one L2-resident stream in the same order, each member `skew` clocks after the one before.
// Meant to run under ncu (one launch per row, in row order): the counters say how many sectors reached the L2.
#include "placement.cuh"

using namespace bench;

constexpr int kChunk = 8192, kStages = 8, kThreads = 512;

struct Args {
  Group group;
  const char* data;
  int chunks, skew;
  unsigned long long* startAt;
  Stamp* stamps;
  unsigned never;
};

__global__ void __launch_bounds__(kThreads, 1) lrcLoads(Args a) {
  int rank = enterGroup(a.group);
  if (rank < 0) return;
  alignedStart(a.group, a.startAt, rank, rank * a.skew);
  uint4 acc = make_uint4(0, 0, 0, 0);
  Stamp s;
  stampBegin(s);
  for (int c = 0; c < a.chunks; c += 4) {
    uint4 v[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] = loadCg(reinterpret_cast<const uint4*>(a.data + size_t(c + j) * kChunk) + threadIdx.x);
#pragma unroll
    for (int j = 0; j < 4; ++j) { acc.x ^= v[j].x; acc.y ^= v[j].y; acc.z ^= v[j].z; acc.w ^= v[j].w; }
  }
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) a.stamps[smId()] = s;
  sink(acc, a.never, a.stamps);
}

__global__ void __launch_bounds__(kThreads, 1) lrcBulk(Args a) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t bars[kStages];
  int rank = enterGroup(a.group);
  if (rank < 0) return;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) mbarInit(smemAddr(&bars[i]), 1);
    mbarFence();
  }
  alignedStart(a.group, a.startAt, rank, rank * a.skew);
  Stamp s;
  stampBegin(s);
  if (threadIdx.x == 0) {
    for (int c = 0; c < a.chunks + kStages; ++c) {
      uint32_t bar = smemAddr(&bars[c % kStages]);
      if (c >= kStages) mbarWait(bar, (c / kStages - 1) & 1);
      if (c >= a.chunks) continue;
      mbarExpect(bar, kChunk);
      bulkLoad(smemAddr(smem) + (c % kStages) * kChunk, a.data + size_t(c) * kChunk, kChunk, bar);
    }
  }
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) a.stamps[smId()] = s;
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "lrc");
  Topology t = discoverTopology();
  GroupStore groups;
  Buffer<Stamp> stamps(t.sms);
  Buffer<unsigned long long> startAt(1);
  const size_t bytes = 4 * MiB;
  Buffer<char> data(bytes);
  const auto& g0 = t.members[0];
  auto point = [&](const std::string& name, const std::vector<int>& smids, int skew, bool bulk) {
    Args a{groups.use(smids), data.p, int(bytes / kChunk), skew, startAt.p, stamps.p, 0};
    startAt.zero();
    stamps.zero();
    allowSmem(lrcLoads, kWholeSm);
    allowSmem(lrcBulk, kWholeSm);
    if (bulk) lrcBulk<<<t.sms, kThreads, kWholeSm>>>(a);
    else lrcLoads<<<t.sms, kThreads, kWholeSm>>>(a);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Span s = spanOf(stamps.host());
    r.add(std::string(bulk ? "bulk_" : "ldg_") + name + "_skew" + std::to_string(skew), double(smids.size()), "SM",
          {double(bytes) / s.cycles}, "B/clk/SM", s.clockMHz);
  };
  auto take = [](const std::vector<int>& v, size_t n, size_t step) {
    std::vector<int> s;
    for (size_t i = 0; i < v.size() && s.size() < n; i += step) s.push_back(v[i]);
    return s;
  };
  std::vector<int> heads;
  for (auto& m : t.members) heads.push_back(m[0]);
  std::vector<int> all(t.sms);
  std::iota(all.begin(), all.end(), 0);
  for (bool bulk : {false, true}) {
    point("warm", {g0[0]}, 0, bulk);
    point("sm", {g0[0]}, 0, bulk);
    point("tpc", {g0[0], g0[0] + 1}, 0, bulk);
    for (size_t k : {2, 3, 4, 6, 8, 9}) point("sm_per_tpc_of_gpc", take(g0, k, 2), 0, bulk);
    for (size_t k : {4, 8, 12, 16}) point("gpc", take(g0, k, 1), 0, bulk);
    for (size_t k : {2, 4, 8}) point("sm_per_gpc", take(heads, k, 1), 0, bulk);
    point("all", all, 0, bulk);
    for (int skew : {16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048}) {
      point("tpc", {g0[0], g0[0] + 1}, skew, bulk);
      point("two_tpcs_of_gpc", take(g0, 2, 2), skew, bulk);
      point("two_gpcs", take(heads, 2, 1), skew, bulk);
      if (skew <= 128) point("gpc16", take(g0, 16, 1), skew, bulk);
    }
    // One SM with every other: which partner merges?
    if (o.has("--pairs"))
      for (int sm = 1; sm < t.sms; ++sm) point("sm0_with_" + std::to_string(sm), {0, sm}, 0, bulk);
  }
  return 0;
}

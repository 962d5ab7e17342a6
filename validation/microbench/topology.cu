// Which SMs share a TPC, a CPC and a GPC, and how many clusters of each size fit at one CTA per SM?
// Clusters never leave a GPC, so co-residency reveals it; distributed shared memory latency reveals the CPC.
#include "placement.cuh"

using namespace bench;

constexpr int kMaxCluster = 16, kHops = 64;

// Every CTA in turn chases one word in the shared memory of each CTA of its cluster.
__global__ void dsmemPairs(unsigned* smids, float* latency) {
  __shared__ uint32_t cell[2];
  const unsigned me = clusterRank(), n = kMaxCluster;
  const unsigned cluster = blockIdx.x / n;
  if (threadIdx.x == 0) {
    cell[0] = 0;
    smids[blockIdx.x] = smId();
  }
  clusterSync();
  for (unsigned reader = 0; reader < n; ++reader) {
    if (me == reader && threadIdx.x == 0) {
      for (unsigned target = 0; target < n; ++target) {
        uint32_t base = mapaShared(smemAddr(cell), target), a = base;
        uint64_t c0 = 0;
        for (int i = 0; i < kHops + 4; ++i) {
          if (i == 4) c0 = clockNow();
          uint32_t v;
          asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
          a = base + v;
        }
        uint64_t c1 = clockNow();
        latency[(cluster * n + reader) * n + target] = float(c1 - c0 + (a - base)) / kHops;
      }
    }
    clusterSync();
  }
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "topology");
  Topology t = discoverTopology();
  for (int sm = 0; sm < t.sms; ++sm) r.add("gpc_of_sm", sm, "smid", {double(t.gpc[sm])}, "index", 1);
  for (int g = 0; g < t.gpcs; ++g) r.add("sms_in_gpc", g, "gpc", {double(t.members[g].size())}, "SM", 1);

  std::vector<unsigned> pairs = observeClusters(2, 1024);
  double sameTpc = 0;
  for (size_t i = 0; i < pairs.size(); i += 2) sameTpc += pairs[i] / 2 == pairs[i + 1] / 2;
  r.add("cluster2_is_smid_pair", 2, "CTA", {sameTpc / (pairs.size() / 2)}, "fraction", 1);

  for (int size : {1, 2, 4, 8, 16}) {
    cudaLaunchConfig_t cfg = {};
    cudaLaunchAttribute at[1];
    at[0].id = cudaLaunchAttributeClusterDimension;
    at[0].val.clusterDim.x = size;
    at[0].val.clusterDim.y = at[0].val.clusterDim.z = 1;
    cfg.gridDim = dim3(size * 256);
    cfg.blockDim = dim3(128);
    cfg.dynamicSmemBytes = kWholeSm;
    cfg.attrs = at;
    cfg.numAttrs = 1;
    allowSmem(clusterSmids, kWholeSm);
    CHECK(cudaFuncSetAttribute(clusterSmids, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    int clusters = 0;
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, clusterSmids, &cfg));
    r.add("max_active_clusters", size, "CTA", {double(clusters)}, "clusters", 1);
  }

  // Averages over launches: which SMs a cluster of 16 gets varies where the GPC has more.
  const int clusters = 8, ctas = clusters * kMaxCluster;
  std::map<std::pair<int, int>, std::vector<double>> by;
  Buffer<unsigned> smids(ctas);
  Buffer<float> lat(size_t(ctas) * kMaxCluster);
  for (int rep = 0; rep < 8; ++rep) {
    launchCluster(dsmemPairs, ctas, 32, kWholeSm, kMaxCluster, smids.p, lat.p);
    CHECK(cudaDeviceSynchronize());
    auto s = smids.host();
    auto l = lat.host();
    for (int i = 0; i < ctas; ++i)
      for (int j = 0; j < kMaxCluster; ++j)
        by[{int(s[i]), int(s[i - i % kMaxCluster + j])}].push_back(l[size_t(i) * kMaxCluster + j]);
  }
  double mhz = spinClockMHz();
  for (auto& [key, v] : by)
    r.add("dsmem_latency_from_" + std::to_string(key.first), key.second, "smid", v, "clk", mhz);
  return 0;
}

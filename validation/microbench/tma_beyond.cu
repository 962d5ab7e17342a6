// What do rows and columns beyond the tensor cost? Every SM reads boxes that the L2 holds, of which a part lies outside,
// all SMs the same boxes or each its own, plain or multicast in pairs, by so many SMs that any shared path shows.
#include "placement.cuh"

using namespace bench;

// A turn of the loop takes a thread about 1100 clk: it asks for several boxes, so that the boxes are what takes time.
constexpr int kColumns = 64, kMostRows = 128, kStages = 3, kTurns = 12, kAtOnce = 4, kBoxes = kTurns * kAtOnce, kTall = 512;
constexpr int kSlot = kMostRows * kColumns * 2, kStage = kAtOnce * kSlot, kSmem = kStages * kStage + 1024;

struct Work {
  const CUtensorMap* maps;
  bool own;   // a tensor for each SM
  int rows;   // of a box, all of the cluster's parts
  int y;      // of its first row
  int x;      // of the first box
  int step;   // columns from box to box
};

__device__ __forceinline__ void arriveAt(uint32_t remote) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
}

// Members of a cluster are both in the group or both not: groups are made of TPCs.
template <int C>
__global__ void __launch_bounds__(32, 1) beyond(Group g, Work w, Stamp* stamps) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t full[kStages], empty[kStages];
  const uint32_t base = (smemAddr(smem) + 1023) / 1024 * 1024;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      mbarInit(smemAddr(&full[i]), 1);
      mbarInit(smemAddr(&empty[i]), C);
    }
    mbarFence();
  }
  if (C > 1) clusterSync();
  const int rank = enterGroup(g);
  if (rank >= 0) {
    const unsigned me = C > 1 ? clusterRank() : 0;
    const CUtensorMap* map = w.maps + (w.own ? rank / C : 0);
    const int part = w.rows / C;
    Stamp s;
    for (int lap = 0; lap < 2; ++lap) {  // the first one fills the L2
      groupBarrier(g, lap);
      if (threadIdx.x == 0) {
        stampBegin(s);
        for (int n = 0; n < kTurns + kStages; ++n) {
          const int turn = lap * kTurns + n;
          const int slot = turn % kStages;
          if (n >= kStages) {
            mbarWait(smemAddr(&full[slot]), (turn / kStages - 1) & 1);
            if (n < kTurns)
              for (unsigned c = 0; c < C; ++c) arriveAt(C > 1 ? mapaShared(smemAddr(&empty[slot]), c) : smemAddr(&empty[slot]));
          }
          if (n >= kTurns) continue;
          if (n >= kStages) {
            // Each lap has kTurns / kStages uses of a slot, and one release fewer.
            const int release = lap * (kTurns / kStages - 1) + n / kStages - 1;
            mbarWait(smemAddr(&empty[slot]), release & 1);
          }
          const uint32_t bar = smemAddr(&full[slot]);
          mbarExpect(bar, kAtOnce * w.rows * kColumns * 2);
          const uint32_t dst = base + slot * kStage + me * part * kColumns * 2;
          const int x = w.x + n * kAtOnce * w.step, y = w.y + int(me) * part;
#pragma unroll
          for (int i = 0; i < kAtOnce; ++i) {
            if (C == 1) tensorLoad2D(dst + i * kSlot, map, x + i * w.step, y, bar);
            else tensorMulticast2D(dst + i * kSlot, map, x + i * w.step, y, bar, uint16_t((1 << C) - 1));
          }
        }
        stampEnd(s);
      }
    }
    if (threadIdx.x == 0) stamps[rank] = s;
  }
  __syncwarp();
  if (C > 1) clusterSync();
}
static_assert(kTurns % kStages == 0);

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "tma_beyond");
  Topology t = discoverTopology();
  GroupStore store;
  constexpr size_t kEach = 4 * MiB;  // a tensor's pitch times its rows, at most
  constexpr int kPitch = 8192;
  Buffer<char> data(kEach * (t.sms + 4));
  Buffer<CUtensorMap> maps(t.sms);
  Buffer<Stamp> stamps(t.sms);
  std::vector<int> gpc = t.members[0];
  for (auto& m : t.members)
    if (m.size() > gpc.size()) gpc = m;
  std::sort(gpc.begin(), gpc.end());
  std::vector<int> tpc(gpc.begin(), gpc.begin() + 2), cpc, all(t.sms);
  for (size_t i = 0; i < gpc.size(); ++i)
    if (i / 2 % 3 == 0) cpc.push_back(gpc[i]);  // the TPCs of a GPC belong to its CPCs in turn
  std::iota(all.begin(), all.end(), 0);
  const std::pair<const char*, const std::vector<int>*> groups[] = {{"tpc", &tpc}, {"cpc", &cpc}, {"gpc", &gpc}, {"all", &all}};

  auto point = [&](const std::string& series, double x, const char* unit, int cluster, const std::vector<int>& sms, bool own, int rows,
                   int inside, int columns) {
    // Rows outside: the tensor ends `inside` rows after the box begins. Columns outside: the same box again and again,
    // at the tensor's right edge.
    const int height = inside < rows ? std::max(1, inside) : kTall;
    const int y = inside == 0 ? 1 : 0;
    const int width = columns < kColumns ? 64 * 8 + columns : kPitch / 2;
    std::vector<CUtensorMap> m;
    for (int i = 0; i < t.sms; ++i)
      m.push_back(tensorMap2D(data.p + i * kEach, width, height, kPitch, kColumns, rows / cluster, true));
    maps.set(m);
    std::vector<double> v, clk;
    for (int rep = 0; rep <= o.reps; ++rep) {
      Group g = store.use(sms);
      stamps.zero();
      Work w{maps.p, own, rows, y, columns < kColumns ? 64 * 8 : 0, columns < kColumns ? 0 : kColumns};
      if (cluster == 1) launchCluster(beyond<1>, t.sms, 32, kSmem, 1, g, w, stamps.p);
      else launchCluster(beyond<2>, t.sms, 32, kSmem, 2, g, w, stamps.p);
      CHECK(cudaDeviceSynchronize());
      Span s = spanOf(stamps.host());
      if (rep == 0) continue;
      v.push_back(s.cycles / kBoxes);
      clk.push_back(s.clockMHz);
    }
    r.add(series, x, unit, v, "clk", median(clk));
  };
  for (int cluster : {1, 2}) {
    const std::string c = cluster == 1 ? "plain_" : "multicast_";
    for (auto& [name, sms] : groups)
      for (int inside : {128, 127, 120, 96, 64, 32, 1, 0}) point(c + "rows_" + name, inside, "rows", cluster, *sms, false, 128, inside, 64);
    for (int inside : {64, 32, 1}) point(c + "rows_of_64_all", inside, "rows", cluster, all, false, 64, inside, 64);
    for (int inside : {128, 64, 1}) point(c + "own_rows_all", inside, "rows", cluster, all, true, 128, inside, 64);
    for (auto& [name, sms] : groups)
      for (int columns : {56, 48, 32, 16, 8}) point(c + "columns_" + name, columns, "columns", cluster, *sms, false, 128, 128, columns);
  }
  return 0;
}

// How many sectors does a tensor copy bring when its rows start off a sector, end within one, or lie beyond the tensor?
// And when the copy is multicast? Meant to run under ncu (one launch per row, in row order): the counters say what was
// delivered and what reached the L2.
#include "placement.cuh"

using namespace bench;

struct Box {
  int width, pitch;  // of the tensor: elements of two bytes, bytes
  int height;        // rows
  int rows, x, y;    // of the first box, 64 elements wide
  int boxes;         // side by side
  int cluster;       // CTAs that receive each box; 1 = a plain copy
};

constexpr int kColumns = 64, kMostRows = 128, kSmem = kMostRows * kColumns * 2 + 1024;

__global__ void __launch_bounds__(32, 1) edges(Box b, const __grid_constant__ CUtensorMap map, Stamp* stamps) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t full;
  const uint32_t bar = smemAddr(&full), dst = (smemAddr(smem) + 1023) / 1024 * 1024;
  if (threadIdx.x == 0) {
    mbarInit(bar, 1);
    mbarFence();
  }
  clusterSync();
  Stamp s;
  stampBegin(s);
  if (threadIdx.x == 0) {
    for (int i = 0; i < b.boxes; ++i) {
      mbarExpect(bar, kColumns * 2 * b.rows);
      const int x = b.x + i * kColumns;
      if (b.cluster == 1) tensorLoad2D(dst, &map, x, b.y, bar);
      else if (clusterRank() == 0) tensorMulticast2D(dst, &map, x, b.y, bar, uint16_t((1 << b.cluster) - 1));
      mbarWait(bar, i & 1);
    }
  }
  __syncwarp();
  stampEnd(s);
  if (threadIdx.x == 0) stamps[blockIdx.x] = s;
  clusterSync();
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "tma_edges");
  Buffer<char> data(32 * MiB);
  Buffer<Stamp> stamps(8);
  auto point = [&](Box b) {
    CUtensorMap map = tensorMap2D(data.p, b.width, b.height, b.pitch, kColumns, b.rows, true);
    stamps.zero();
    launchCluster(edges, b.cluster, 32, kSmem, b.cluster, b, map, stamps.p);
    CHECK(cudaDeviceSynchronize());
    Span s = spanOf(stamps.host());
    r.add("width" + std::to_string(b.width) + "_pitch" + std::to_string(b.pitch) + "_height" + std::to_string(b.height) + "_rows" +
              std::to_string(b.rows) + "_x" + std::to_string(b.x) + "_y" + std::to_string(b.y) + "_cluster" + std::to_string(b.cluster),
          b.boxes, "box", {s.cycles}, "clk", s.clockMHz);
  };
  constexpr int kHeight = 2048;
  for (int cluster : {1, 2, 4}) {
    for (int pitch : {6016, 6000, 6032, 5984, 6144, 2000, 2080, 2176}) point({pitch / 2, pitch, kHeight, 64, 0, 0, 15, cluster});
    for (int x : {8, 16, 24, 32, 48}) point({3072, 6144, kHeight, 64, x, 0, 15, cluster});
    for (int width : {968, 976, 984, 992, 1000, 1008, 1016}) point({width, 2048, kHeight, 64, 960, 0, 1, cluster});
    for (int height : {16, 40, 63}) point({3072, 6144, height, 64, 0, 0, 15, cluster});
    point({3072, 6144, 40, 64, 0, 64, 15, cluster});
    for (int rows : {1, 2, 8, 20, 128}) point({3000, 6000, kHeight, rows, 0, 1, 15, cluster});
    point({3000, 6000, kHeight, 64, 2944, 0, 1, cluster});
    point({1000, 2000, kHeight, 64, 960, 0, 1, cluster});
  }
  return 0;
}

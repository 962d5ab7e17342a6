// What limits the copy engine: issuing warps, copies in flight, bytes per copy, bytes per row?
// And what do one issue, a cold descriptor, multicast and stores cost? Sources are L2-resident.
#include "placement.cuh"

using namespace bench;

constexpr int kMaxRing = 192 * 1024;
enum Mode { kBulk, kTile, kStore };

struct Args {
  char* data;
  Stamp* stamps;
  unsigned bytes;   // of one copy
  int stages, copies, rows;  // ring depth and copies of each warp; box rows for tiles
};

// Every warp has one issuing thread and its own ring.
template <int MODE>
__global__ void rings(Args a, const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t bars[128];
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const uint32_t bar0 = smemAddr(&bars[warp * a.stages]);
  const uint32_t ring = (smemAddr(smem) + 1023) / 1024 * 1024 + warp * a.stages * a.bytes;
  if (threadIdx.x % 32 == 0) {
    for (int s = 0; s < a.stages; ++s) mbarInit(bar0 + s * 8, 1);
    mbarFence();
  }
  __syncthreads();
  Stamp s;
  stampBegin(s);
  if (threadIdx.x % 32 == 0) {
    const unsigned region = 256 * 1024;  // of one SM
    char* base = a.data + size_t(blockIdx.x) * region;
    unsigned at = warp * a.bytes, parity = 0;
    int stage = 0;
    for (int i = 0; i < a.copies + a.stages; ++i) {
      uint32_t bar = bar0 + stage * 8, slot = ring + stage * a.bytes;
      if constexpr (MODE == kStore) {
        if (i >= a.copies) break;
        bulkStore(base + at, slot, a.bytes);
        bulkStoreWaitRead<3>();
      } else {
        if (i >= a.stages) mbarWait(bar, parity ^ 1);
        if (i < a.copies) {
          mbarExpect(bar, a.bytes);
          if constexpr (MODE == kBulk) bulkLoad(slot, base + at, a.bytes, bar);
          if constexpr (MODE == kTile)
            tensorLoad2D(slot, &map, 0, int((size_t(blockIdx.x) * region + at) / a.bytes) * a.rows, bar);
        }
      }
      at += warps * a.bytes;
      if (at >= region) at -= region;
      if (++stage == a.stages) stage = 0, parity ^= 1;
    }
    if constexpr (MODE == kStore) bulkStoreWait<0>();
  }
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) a.stamps[blockIdx.x] = s;
}

// Clocks from one issue to the next, eight issues in a row, nothing awaited.
template <int MODE>
__global__ void issue(const char* data, unsigned bytes, const __grid_constant__ CUtensorMap map, unsigned* out) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t bar;
  uint32_t b = smemAddr(&bar), dst = (smemAddr(smem) + 1023) / 1024 * 1024;
  mbarInit(b, 1);
  mbarFence();
  for (int lap = 0; lap < 4; ++lap) {
    mbarExpect(b, bytes * 8);
    uint64_t c[9];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      c[i] = clockNow();
      if constexpr (MODE == kBulk) bulkLoad(dst + i * bytes, data + i * bytes, bytes, b);
      else tensorLoad2D(dst + i * bytes, &map, 0, i * (bytes / 128), b);
    }
    c[8] = clockNow();
    mbarWait(b, lap & 1);
    uint64_t end = clockNow();
    for (int i = 0; i < 8; ++i) out[i] = unsigned(c[i + 1] - c[i]);
    out[8] = unsigned(end - c[0]);
  }
}

// A fresh descriptor per copy against the same one again.
__global__ void descriptors(const CUtensorMap* maps, int n, unsigned bytes, unsigned* out) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t bar;
  uint32_t b = smemAddr(&bar), dst = (smemAddr(smem) + 1023) / 1024 * 1024;
  mbarInit(b, 1);
  mbarFence();
  for (int i = 0; i < 2 * n; ++i) {
    uint64_t c0 = clockNow();
    mbarExpect(b, bytes);
    tensorLoad2D(dst, maps + i / 2, 0, 0, b);
    mbarWait(b, i & 1);
    out[i] = unsigned(clockNow() - c0);
  }
}

// One thread, four stages, the loop over the stages unrolled: no address register is used again within a lap.
template <int MODE>
__global__ void unrolledRing(Args a, const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t bars[4];
  const uint32_t bar0 = smemAddr(bars), ring = (smemAddr(smem) + 1023) / 1024 * 1024;
  for (int s = 0; s < 4; ++s) mbarInit(bar0 + s * 8, 1);
  mbarFence();
  Stamp s;
  stampBegin(s);
  for (int i = 0; i < a.copies + 4; i += 4) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (i >= 4) mbarWait(bar0 + k * 8, (i / 4 - 1) & 1);
      if (i < a.copies) {
        mbarExpect(bar0 + k * 8, a.bytes);
        unsigned at = unsigned(i + k) * a.bytes & 0x1ffff;
        if constexpr (MODE == kBulk) bulkLoad(ring + k * a.bytes, a.data + at, a.bytes, bar0 + k * 8);
        else tensorLoad2D(ring + k * a.bytes, &map, 0, int(at / a.bytes) * a.rows, bar0 + k * 8);
      }
    }
  }
  stampEnd(s);
  a.stamps[blockIdx.x] = s;
}

// Each CTA of a cluster fetches its share of every tile and multicasts it to all; one warp per stage.
__global__ void multicast(Args a, int cluster) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t bars[8];
  const int k = threadIdx.x / 32;
  const uint32_t bar = smemAddr(&bars[k]), slot = (smemAddr(smem) + 1023) / 1024 * 1024 + k * a.bytes;
  const unsigned rank = clusterRank(), share = a.bytes / cluster;
  const uint16_t mask = uint16_t((1u << cluster) - 1);
  const bool lead = threadIdx.x % 32 == 0;
  if (lead) {
    mbarInit(bar, 1);
    mbarFence();
  }
  clusterSync();
  Stamp s;
  stampBegin(s);
  const char* base = a.data + size_t(blockIdx.x / cluster) * 256 * 1024;
  for (int i = 0; i < a.copies; i += a.stages) {
    if (lead) mbarExpect(bar, a.bytes);
    // Every CTA expects before anyone sends.
    asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (lead) {
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
          ::"r"(slot + rank * share), "l"(base + (i + k) % 8 * a.bytes + rank * share), "r"(share), "r"(bar), "h"(mask) : "memory");
      mbarWait(bar, (i / a.stages) & 1);
    }
    __syncwarp();
  }
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) a.stamps[blockIdx.x] = s;
  clusterSync();
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "tma");
  const int sms = smCount();
  Buffer<char> data(size_t(sms) * 512 * KiB + MiB);  // room for rows 256 bytes apart
  Buffer<Stamp> stamps(sms);
  auto ringPoint = [&](const std::string& series, double x, const char* unit, Mode mode, int grid, int warps, int stages,
                       unsigned bytes, unsigned row = 128, unsigned pitch = 0) {
    if (pitch == 0) pitch = row;
    if (warps * stages * bytes > kMaxRing || warps * stages > 128) return;
    Args a{data.p, stamps.p, bytes, stages, 0, int(bytes / row)};
    a.copies = std::max<int>(stages, int(1 * MiB / bytes / warps)) / stages * stages;
    CUtensorMap map = tensorMap2D(data.p, row / 2, data.n / pitch, pitch, row / 2, bytes / row, row == 128);
    std::vector<double> v, clk, per;
    for (int rep = 0; rep < o.reps + 1; ++rep) {
      stamps.zero();
      auto go = [&](auto k) {
        allowSmem(k, kMaxRing + 1024);
        k<<<grid, warps * 32, kMaxRing + 1024>>>(a, map);
      };
      if (mode == kBulk) go(rings<kBulk>);
      if (mode == kTile) go(rings<kTile>);
      if (mode == kStore) go(rings<kStore>);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      if (!rep) continue;
      Span s = spanOf(stamps.host());
      v.push_back(double(a.copies) * warps * bytes * grid / s.cycles);
      per.push_back(s.cycles / (double(a.copies) * warps));
      clk.push_back(s.clockMHz);
    }
    r.add(series, x, unit, v, "B/clk", median(clk));
    r.add(series + "_interval", x, unit, per, "clk/copy/SM", median(clk));
  };
  for (Mode m : {kBulk, kTile}) {
    const std::string n = m == kBulk ? "bulk_" : "tile128_";
    for (int warps : {1, 2, 3, 4, 8})
      for (int stages : {1, 2, 4, 8})
        for (unsigned bytes : {2048, 8192, 16384})
          ringPoint(n + std::to_string(bytes) + "B_" + std::to_string(stages) + "stages", warps, "warps", m, 1, warps, stages, bytes);
    for (unsigned bytes : {256, 512, 1024, 2048, 4096, 8192, 16384, 32768})
      for (int warps : {1, 4})
        ringPoint(n + "size_" + std::to_string(warps) + "warps", bytes, "B", m, 1, warps, 4, bytes);
  }
  for (unsigned row : {16, 32, 64, 128, 256})
    for (int warps : {1, 4}) {
      unsigned box = std::min(256u, 8192u / row) * row;
      ringPoint("tile_row_" + std::to_string(warps) + "warps", row, "B/row", kTile, 1, warps, 4, box, row);
      ringPoint("tile_row_all_sms_" + std::to_string(warps) + "warps", row, "B/row", kTile, sms, warps, 4, box, row);
    }
  // Rows of 128 bytes that do not begin on a line take two requests each.
  for (unsigned pitch : {128, 144, 160, 192, 256})
    for (int grid : {1, sms})
      ringPoint(grid == 1 ? "tile_pitch" : "tile_pitch_all_sms", pitch, "B/pitch", kTile, grid, 4, 4, 8192, 128, pitch);
  for (unsigned bytes : {512, 2048, 8192, 16384})
    for (int grid : {1, sms}) ringPoint(grid == 1 ? "store_1sm" : "store_all", bytes, "B", kStore, grid, 1, 4, bytes);

  for (unsigned bytes : {2048, 8192, 16384, 32768})
    for (Mode m : {kBulk, kTile}) {
      Args a{data.p, stamps.p, bytes, 4, 512, int(bytes / 128)};
      CUtensorMap map = tensorMap2D(data.p, 64, data.n / 128, 128, 64, bytes / 128, true);
      std::vector<double> v, clk;
      for (int rep = 0; rep < o.reps; ++rep) {
        stamps.zero();
        auto go = [&](auto k) {
          allowSmem(k, 4 * 32768 + 1024);
          k<<<1, 1, 4 * 32768 + 1024>>>(a, map);
        };
        if (m == kBulk) go(unrolledRing<kBulk>);
        else go(unrolledRing<kTile>);
        CHECK(cudaGetLastError());
        Span s = spanOf(stamps.host());
        v.push_back(s.cycles / a.copies);
        clk.push_back(s.clockMHz);
      }
      r.add(m == kBulk ? "bulk_one_thread_unrolled_interval" : "tile128_one_thread_unrolled_interval", bytes, "B", v, "clk/copy", median(clk));
    }

  Buffer<unsigned> out(256);
  CUtensorMap map = tensorMap2D(data.p, 64, data.n / 128, 128, 64, 64, true), map1 = tensorMap2D(data.p, 64, data.n / 128, 128, 64, 8, true);
  for (unsigned bytes : {16, 1024, 8192}) {
    auto one = [&](const char* name, auto k, const CUtensorMap& m) {
      allowSmem(k, 128 * KiB);
      k<<<1, 1, 128 * KiB>>>(data.p, bytes, m, out.p);
      CHECK(cudaGetLastError());
      auto v = out.host();
      r.add(std::string("issue_interval_") + name, bytes, "B", {v.begin() + 1, v.begin() + 8}, "clk");
      r.add(std::string("issue8_to_done_") + name, bytes, "B", {double(v[8])}, "clk");
    };
    one("bulk", issue<kBulk>, map);
    if (bytes >= 1024) one("tile", issue<kTile>, bytes == 1024 ? map1 : map);
  }
  std::vector<CUtensorMap> maps(64, map);
  Buffer<CUtensorMap> dmaps(maps.size());
  dmaps.set(maps);
  allowSmem(descriptors, 64 * KiB);
  for (int warm = 0; warm < 2; ++warm) {
    if (!warm) flushL2();
    descriptors<<<1, 1, 64 * KiB>>>(dmaps.p, 64, 8192, out.p);
    CHECK(cudaGetLastError());
    auto v = out.host();
    std::vector<double> first, second;
    for (int i = 4; i < 64; ++i) first.push_back(v[2 * i]), second.push_back(v[2 * i + 1]);
    r.add(warm ? "descriptor_first_use_l2" : "descriptor_first_use_hbm", 8192, "B", first, "clk");
    r.add(warm ? "descriptor_second_use_l2" : "descriptor_second_use_hbm", 8192, "B", second, "clk");
  }
  for (int cluster : {1, 2, 4, 8})
    for (int grid : {cluster, 120}) {
      Args a{data.p, stamps.p, 16384, 8, 256, 0};
      std::vector<double> v, clk;
      for (int rep = 0; rep < o.reps; ++rep) {
        stamps.zero();
        launchCluster(multicast, grid, 256, 8 * 16384 + 1024, cluster, a, cluster);
        CHECK(cudaDeviceSynchronize());
        Span s = spanOf(stamps.host());
        v.push_back(256.0 * 16384 / s.cycles);
        clk.push_back(s.clockMHz);
      }
      r.add(grid == 120 ? "multicast_delivered_all" : "multicast_delivered_one_cluster", cluster, "CTA", v, "B/clk/SM", median(clk));
    }
  return 0;
}

// How many bytes per clock cross between the SMs of a cluster (loads and bulk copies),
// and how fast are atomics in the L2: one address, spread addresses, one SM, all SMs, a dependent chain?
#include "ptx.cuh"

using namespace bench;

constexpr int kBytes = 32 * 1024;

// Every CTA reads the shared memory of the next one (rank + step), all at once.
__global__ void remoteLoads(int laps, int step, int cluster, Stamp* out, unsigned never) {
  extern __shared__ __align__(1024) char smem[];
  for (int i = threadIdx.x; i < kBytes / 4; i += blockDim.x) reinterpret_cast<uint32_t*>(smem)[i] = i;
  const uint32_t base = mapaShared(smemAddr(smem), (clusterRank() + step) % cluster) + threadIdx.x * 16;
  uint32_t acc = 0;
  clusterSync();
  Stamp s;
  stampBegin(s);
  for (int l = 0; l < laps; ++l)
#pragma unroll 4
    for (int i = 0; i < kBytes; i += blockDim.x * 16) {
      uint32_t a, b, c, d;
      asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(base + i) : "memory");
      acc ^= a ^ b ^ c ^ d;
    }
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
  sink(acc, never, out);
  clusterSync();
}
__global__ void remoteBulk(int copies, unsigned bytes, int step, int cluster, Stamp* out) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t bar;
  const uint32_t peer = (clusterRank() + step) % cluster;
  if (threadIdx.x == 0) {
    mbarInit(smemAddr(&bar), 1);
    mbarFence();
    mbarExpect(smemAddr(&bar), copies * bytes);
  }
  clusterSync();
  Stamp s;
  stampBegin(s);
  if (threadIdx.x == 0) {
    for (int i = 0; i < copies; ++i)
      asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       mapaShared(smemAddr(smem) + kBytes + i * bytes % kBytes, peer)),
                   "r"(smemAddr(smem) + i * bytes % kBytes), "r"(bytes), "r"(mapaShared(smemAddr(&bar), peer)) : "memory");
    mbarWait(smemAddr(&bar), 0);
  }
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
  clusterSync();
}

enum Atomic { kRed, kAtom, kRedF32, kRedV4 };
const char* const kAtomicName[] = {"red_u32", "atom_u32", "red_f32", "red_v4_f32"};
// Thread t of the grid adds to word (t * spread) % words, `iters` times.
template <int KIND>
__global__ void atomics(char* data, int iters, unsigned spread, unsigned words, Stamp* out, unsigned never) {
  Stamp s;
  stampBegin(s);
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x, acc = 0;
  for (int i = 0; i < iters; ++i) {
    char* p = data + size_t((t + i * gridDim.x * blockDim.x) * spread % words) * 4;
    if constexpr (KIND == kRed) asm volatile("red.global.add.u32 [%0], 1;" ::"l"(p) : "memory");
    if constexpr (KIND == kRedF32) asm volatile("red.global.add.f32 [%0], 0f3f800000;" ::"l"(p) : "memory");
    if constexpr (KIND == kRedV4) asm volatile("red.global.add.v4.f32 [%0], {%1,%1,%1,%1};" ::"l"(p), "f"(1.0f) : "memory");
    if constexpr (KIND == kAtom) {
      unsigned v;
      asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(v) : "l"(p) : "memory");
      acc ^= v;
    }
  }
  __threadfence();
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
  sink(acc, never, out);
}
__global__ void atomicChain(unsigned* p, int n, Stamp* out) {
  unsigned v = 0;
  Stamp s;
  stampBegin(s);
  for (int i = 0; i < n; ++i) v = atomicAdd(p + (v & 0x80000000u), 0u);
  if (v == 1) s.pad = 1;
  stampEnd(s);
  *out = s;
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "dsmem_atomics");
  const int sms = smCount();
  Buffer<Stamp> stamps(sms * 8);
  Buffer<char> data(64 * MiB);
  auto sample = [&](const std::string& series, double x, const char* unit, const char* valueUnit, auto value, auto launch) {
    std::vector<double> v, clk;
    for (int rep = 0; rep < o.reps + 1; ++rep) {
      stamps.zero();
      launch();
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      if (!rep) continue;
      Span s = spanOf(stamps.host());
      v.push_back(value(s.cycles));
      clk.push_back(s.clockMHz);
    }
    r.add(series, x, unit, v, valueUnit, median(clk));
  };
  for (int cluster : {2, 4, 8, 16}) {
    for (bool all : {false, true}) {
      int grid = all ? 112 / cluster * cluster : cluster;
      const std::string where = all ? "_all" : "_one_cluster";
      sample("dsmem_load" + where, cluster, "CTA", "B/clk/SM", [&](double c) { return 32.0 * kBytes / c; },
             [&] { launchCluster(remoteLoads, grid, 1024, kWholeSm, cluster, 32, 1, cluster, stamps.p, 0u); });
      for (unsigned bytes : {1024u, 8192u})
        sample("dsmem_bulk" + std::to_string(bytes) + "B" + where, cluster, "CTA", "B/clk/SM",
               [&](double c) { return 512.0 * 1024 / c; },
               [&] { launchCluster(remoteBulk, grid, 128, kWholeSm, cluster, int(512 * 1024 / bytes), bytes, 1, cluster, stamps.p); });
    }
  }
  struct Pattern { const char* name; unsigned spread, words; };
  const Pattern patterns[] = {{"one_address", 0, 1}, {"line_per_warp", 1, 4u << 20}, {"sector_per_lane", 8, 4u << 20}, {"line_per_lane", 32, 4u << 20}};
  for (const Pattern& p : patterns)
    for (int grid : {1, sms}) {
      const int iters = p.words == 1 ? 64 : 128, threads = 1024;
      auto perClk = [&](double c) { return double(grid) * threads * iters / c; };
      auto name = [&](int k) { return std::string(kAtomicName[k]) + "_" + p.name; };
      sample(name(kRed), grid, "SM", "lane_ops/clk", perClk, [&] { atomics<kRed><<<grid, threads>>>(data.p, iters, p.spread, p.words, stamps.p, 0); });
      sample(name(kAtom), grid, "SM", "lane_ops/clk", perClk, [&] { atomics<kAtom><<<grid, threads>>>(data.p, iters, p.spread, p.words, stamps.p, 0); });
      sample(name(kRedF32), grid, "SM", "lane_ops/clk", perClk, [&] { atomics<kRedF32><<<grid, threads>>>(data.p, iters, p.spread, p.words, stamps.p, 0); });
    }
  sample("red_v4_f32_line_per_warp_quarter", sms, "SM", "lane_ops/clk", [&](double c) { return double(sms) * 1024 * 128 / c; },
         [&] { atomics<kRedV4><<<sms, 1024>>>(data.p, 128, 4, 4u << 20, stamps.p, 0); });
  sample("atom_chain", 1, "thread", "clk", [&](double c) { return c / 512; },
         [&] { atomicChain<<<1, 1>>>(reinterpret_cast<unsigned*>(data.p), 512, stamps.p); });
  return 0;
}

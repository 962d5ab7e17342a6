// What does the HBM deliver by access pattern: streams of several sizes and mixes, short bursts from a cold L2,
// short rows at random places? Bytes are those the program asks for; time is first CTA start to last CTA end.
#include "placement.cuh"

using namespace bench;

struct Args {
  char* data;
  size_t bytes;      // of one array
  size_t pitch;      // from one array to the next
  int reads, writes; // arrays read and written
  Stamp* stamps;
  unsigned* counter;
  unsigned never;
};

__device__ __forceinline__ void begin(const Args& a, Stamp& s) {
  if (threadIdx.x == 0) stampBegin(s);
}
__device__ __forceinline__ void finish(const Args& a, Stamp& s) {
  __syncthreads();
  if (threadIdx.x == 0) {
    stampEnd(s);
    a.stamps[blockIdx.x] = s;
  }
}

// Grid-stride over 16-byte words; every array is walked in step.
template <int READS, int WRITES>
__global__ void __launch_bounds__(512, 2) stream(Args a) {
  Stamp s;
  begin(a, s);
  const size_t n = a.bytes / 16, stride = size_t(gridDim.x) * blockDim.x;
  uint4 acc = make_uint4(1, 2, 3, 4);
  uint4* p = reinterpret_cast<uint4*>(a.data);
  constexpr int U = READS > 2 ? 1 : READS == 2 ? 2 : 4;
  const size_t pitch = a.pitch / 16;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += stride * U) {
    uint4 v[U][READS > 0 ? READS : 1];
#pragma unroll
    for (int u = 0; u < U; ++u)
#pragma unroll
      for (int k = 0; k < READS; ++k)
        if (i + u * stride < n) v[u][k] = __ldcs(p + k * pitch + i + u * stride);
#pragma unroll
    for (int u = 0; u < U; ++u) {
#pragma unroll
      for (int k = 0; k < READS; ++k)
        if (i + u * stride < n) { acc.x ^= v[u][k].x; acc.y ^= v[u][k].y; acc.z ^= v[u][k].z; acc.w ^= v[u][k].w; }
#pragma unroll
      for (int k = 0; k < WRITES; ++k)
        if (i + u * stride < n) p[(READS + k) * pitch + i + u * stride] = acc;
    }
  }
  finish(a, s);
  sink(acc, a.never, a.stamps);
}

// Bulk copies of 8 KiB, sixteen in flight on every SM.
__global__ void __launch_bounds__(128) bulkRead(Args a) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t bars[16];
  constexpr int kChunk = 8192, kStages = 16;
  Stamp s;
  begin(a, s);
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) mbarInit(smemAddr(&bars[i]), 1);
    mbarFence();
    const size_t chunks = a.bytes / kChunk;
    unsigned n = 0;
    for (size_t c = blockIdx.x; c < chunks; c += gridDim.x, ++n) {
      uint32_t bar = smemAddr(&bars[n % kStages]);
      if (n >= kStages) mbarWait(bar, (n / kStages - 1) & 1);
      mbarExpect(bar, kChunk);
      bulkLoad(smemAddr(smem) + (n % kStages) * kChunk, a.data + c * kChunk, kChunk, bar);
    }
    for (unsigned k = n > kStages ? n - kStages : 0; k < n; ++k) mbarWait(smemAddr(&bars[k % kStages]), (k / kStages) & 1);
  }
  finish(a, s);
}

// Each warp reads `row` contiguous bytes at a pseudo-random place, one 16-byte word per lane (rows below 512 bytes: several per warp).
__global__ void __launch_bounds__(512, 4) randomRows(Args a, unsigned row, unsigned perThread) {
  Stamp s;
  begin(a, s);
  const unsigned rowBits = 31 - __clz(row), wordBits = rowBits - 4;  // rows and the set are powers of two
  const uint64_t rowMask = (a.bytes >> rowBits) - 1;
  uint64_t t = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
  uint4 acc = make_uint4(0, 0, 0, 0);
  for (unsigned i = 0; i < perThread; i += 4) {
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      uint64_t w = t + uint64_t(i + u) * gridDim.x * blockDim.x;
      uint64_t r = (w >> wordBits) * 0x9E3779B97F4A7C15ull >> 24;
      uint4 v = __ldcs(reinterpret_cast<uint4*>(a.data + ((r & rowMask) << rowBits) + (w & ((1u << wordBits) - 1)) * 16));
      acc.x ^= v.x; acc.y ^= v.y; acc.z ^= v.z; acc.w ^= v.w;
    }
  }
  finish(a, s);
  sink(acc, a.never, a.stamps);
}

// Reads 32 bytes out of every `stride`.
__global__ void __launch_bounds__(512, 4) strided(Args a, unsigned stride) {
  Stamp s;
  begin(a, s);
  uint4 acc = make_uint4(0, 0, 0, 0);
  const size_t n = a.bytes / stride * 2;
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    uint4 v = __ldcs(reinterpret_cast<uint4*>(a.data + (i / 2) * stride + (i % 2) * 16));
    acc.x ^= v.x; acc.y ^= v.y; acc.z ^= v.z; acc.w ^= v.w;
  }
  finish(a, s);
  sink(acc, a.never, a.stamps);
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "hbm");
  const size_t total = 16 * GiB;
  char* data = nullptr;
  CHECK(cudaMalloc(&data, total));
  CHECK(cudaMemset(data, 1, total));
  const int sms = smCount(), grid = sms * 2;
  Buffer<Stamp> stamps(sms * 64);
  Buffer<unsigned> counter(1);
  Args a{data, 0, 0, 0, 0, stamps.p, counter.p, 0};
  cudaEvent_t e0, e1;
  CHECK(cudaEventCreate(&e0));
  CHECK(cudaEventCreate(&e1));

  auto point = [&](const std::string& series, double x, const char* unit, double bytes, bool flush, auto launch, int reps) {
    std::vector<double> in, ev, ns, clk;
    for (int rep = 0; rep < reps + 1; ++rep) {
      stamps.zero();
      if (flush) flushL2();
      CHECK(cudaEventRecord(e0));
      launch();
      CHECK(cudaGetLastError());
      CHECK(cudaEventRecord(e1));
      CHECK(cudaEventSynchronize(e1));
      if (rep == 0) continue;
      float ms = 0;
      CHECK(cudaEventElapsedTime(&ms, e0, e1));
      Span s = spanOf(stamps.host());
      in.push_back(bytes / s.ns);
      ns.push_back(s.ns);
      ev.push_back(bytes / (ms * 1e6));
      clk.push_back(s.clockMHz);
    }
    r.add(series, x, unit, in, "GB/s", median(clk));
    r.add(series + "_events", x, unit, ev, "GB/s", median(clk));
    if (flush) r.add(series + "_duration", x, unit, ns, "ns", median(clk));
  };

  for (size_t mib : {64, 128, 256, 512, 1024, 2048, 4096, 8192}) {
    a.bytes = a.pitch = mib * MiB;
    int reps = mib > 1024 ? 3 : o.reps;
    point("read", mib, "MiB", double(a.bytes), false, [&] { stream<1, 0><<<grid, 512>>>(a); }, reps);
    point("write", mib, "MiB", double(a.bytes), false, [&] { stream<0, 1><<<grid, 512>>>(a); }, reps);
    allowSmem(bulkRead, 128 * KiB);
    point("read_bulk", mib, "MiB", double(a.bytes), false, [&] { bulkRead<<<sms, 128, 128 * KiB>>>(a); }, reps);
    if (mib <= 4096) point("copy_1r1w", mib, "MiB", 2.0 * a.bytes, false, [&] { stream<1, 1><<<grid, 512>>>(a); }, reps);
    if (mib <= 4096) point("triad_2r1w", mib, "MiB", 3.0 * a.bytes, false, [&] { stream<2, 1><<<grid, 512>>>(a); }, reps);
  }
  // Mixes at 1 GiB per array, arrays a power of two apart or some odd distance more.
  a.bytes = 1 * GiB;
  auto mix = [&](const char* name, double readShare, int arrays, auto launch) {
    point(std::string("mix_") + name, readShare, "read_share", double(a.bytes) * arrays, false, launch, o.reps);
  };
  for (size_t pad : {size_t(0), size_t(4096 + 256), 37 * KiB + 512, 1 * MiB + 68 * KiB, 3 * MiB + 13 * KiB}) {
    a.pitch = a.bytes + pad;
    const std::string p = "_pad" + std::to_string(pad);
    if (pad == 0) mix("1r0w", 1, 1, [&] { stream<1, 0><<<grid, 512>>>(a); });
    mix(("4r1w" + p).c_str(), 0.8, 5, [&] { stream<4, 1><<<grid, 512>>>(a); });
    mix(("3r1w" + p).c_str(), 0.75, 4, [&] { stream<3, 1><<<grid, 512>>>(a); });
    mix(("2r1w" + p).c_str(), 2 / 3.0, 3, [&] { stream<2, 1><<<grid, 512>>>(a); });
    mix(("1r1w" + p).c_str(), 0.5, 2, [&] { stream<1, 1><<<grid, 512>>>(a); });
    mix(("1r2w" + p).c_str(), 1 / 3.0, 3, [&] { stream<1, 2><<<grid, 512>>>(a); });
    mix(("2r0w" + p).c_str(), 1, 2, [&] { stream<2, 0><<<grid, 512>>>(a); });
    mix(("4r0w" + p).c_str(), 1, 4, [&] { stream<4, 0><<<grid, 512>>>(a); });
    if (pad == 0) mix("0r1w", 0, 1, [&] { stream<0, 1><<<grid, 512>>>(a); });
  }
  // Fewer threads per SM: is the mix limited by memory or by what is in flight?
  a.pitch = a.bytes;
  for (int g : {1, 2}) {
    mix(("1r1w_ctas_per_sm_" + std::to_string(g)).c_str(), 0.5, 2, [&] { stream<1, 1><<<sms * g, 512>>>(a); });
    mix(("2r1w_ctas_per_sm_" + std::to_string(g)).c_str(), 2 / 3.0, 3, [&] { stream<2, 1><<<sms * g, 512>>>(a); });
  }

  for (size_t kib : {256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072}) {
    a.bytes = kib * KiB;
    int g = int(std::min<size_t>(grid, std::max<size_t>(1, a.bytes / (512 * 16 * 4))));
    point("cold_read", kib, "KiB", double(a.bytes), true, [&] { stream<1, 0><<<g, 512>>>(a); }, o.reps);
    point("cold_read_bulk", kib, "KiB", double(a.bytes), true, [&] { bulkRead<<<sms, 128, 128 * KiB>>>(a); }, o.reps);
  }
  for (int n : {1, 2, 4, 8, 16, 23, 32, 48, 64, 96, 132}) {
    a.bytes = size_t(n) * 16 * MiB;
    point("read_bulk_by_sms", n, "SM", double(a.bytes), true, [&] { bulkRead<<<n, 128, 128 * KiB>>>(a); }, o.reps);
  }
  a.bytes = 8 * GiB;
  for (unsigned row : {32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 65536}) {
    const unsigned per = 64;
    point("random_rows", row, "B", double(grid) * 512 * per * 16, true, [&] { randomRows<<<grid, 512>>>(a, row, per); }, o.reps);
  }
  for (unsigned stride : {32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536}) {
    a.bytes = std::min<size_t>(8 * GiB, size_t(stride) * 4 * MiB);
    point("stride_32B_of", stride, "B", double(a.bytes / stride) * 32, true, [&] { strided<<<grid, 512>>>(a, stride); }, o.reps);
  }
  CHECK(cudaFree(data));
  return 0;
}

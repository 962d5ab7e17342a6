// How does a stream start: data of 0.25 to 64 MiB that is not in the L2, with the L2 clean or full of dirty lines, with
// warm or cold code, or data that is in the L2? And what do plain loads bring to one SM by threads and loads in flight?
#include "placement.cuh"

using namespace bench;

struct Args {
  char* data;
  size_t bytes;
  char* to;  // written by the copy
  Stamp* stamps;
  unsigned never;
};

// Grid-stride over 16-byte words, four in flight per thread.
template <bool COPY>
__global__ void __launch_bounds__(512, 2) coldStream(Args a) {
  Stamp s;
  if (threadIdx.x == 0) stampBegin(s);
  const size_t n = a.bytes / 16, stride = size_t(gridDim.x) * blockDim.x;
  const uint4* p = reinterpret_cast<const uint4*>(a.data);
  uint4* q = reinterpret_cast<uint4*>(a.to);
  uint4 acc = make_uint4(1, 2, 3, 4);
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += stride * 4) {
    uint4 v[4];
#pragma unroll
    for (int u = 0; u < 4; ++u)
      if (i + u * stride < n) v[u] = __ldcg(p + i + u * stride);
#pragma unroll
    for (int u = 0; u < 4; ++u)
      if (i + u * stride < n) {
        if constexpr (COPY) q[i + u * stride] = v[u];
        else { acc.x ^= v[u].x; acc.y ^= v[u].y; acc.z ^= v[u].z; acc.w ^= v[u].w; }
      }
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    stampEnd(s);
    a.stamps[blockIdx.x] = s;
  }
  sink(acc, a.never, a.stamps);
}
__global__ void readOther(const uint4* p, size_t n, unsigned never, void* out) {
  uint4 acc = make_uint4(0, 0, 0, 0);
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    uint4 v = __ldcg(p + i);
    acc.x ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  sink(acc, never, out);
}

// One thread of every CTA loads one line of its own: from its first instruction to the value.
__global__ void firstLoad(Args a) {
  Stamp s;
  stampBegin(s);
  unsigned v = loadCg32(a.data + size_t(blockIdx.x) * 4096 * 5), seen;
  asm volatile("add.u32 %0, %1, 1;" : "=r"(seen) : "r"(v) : "memory");  // waits for the load
  if (seen == 0xffffffffu) s.smid = 0;
  stampEnd(s);
  a.stamps[blockIdx.x] = s;
}

// One CTA walks a set of its own in a tight loop, U loads of 16 bytes in flight per thread.
template <int U>
__global__ void oneSm(const char* data, unsigned bytes, int laps, Stamp* out, unsigned never) {
  uint4 acc = make_uint4(0, 0, 0, 0);
  const unsigned step = blockDim.x * 16;
  auto lap = [&] {
    for (unsigned at = threadIdx.x * 16; at < bytes; at += step * U) {
      uint4 v[U];
#pragma unroll
      for (int u = 0; u < U; ++u) v[u] = loadCg(reinterpret_cast<const uint4*>(data + at + u * step));
#pragma unroll
      for (int u = 0; u < U; ++u) { acc.x ^= v[u].x; acc.y ^= v[u].y; acc.z ^= v[u].z; acc.w ^= v[u].w; }
    }
  };
  if (laps > 1) lap();
  __syncthreads();
  Stamp s;
  stampBegin(s);
  for (int l = 0; l < laps; ++l) lap();
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) *out = s;
  sink(acc, never, out);
}

enum State { kDirty, kClean, kSameCode, kResident };
const char* const kStateName[] = {"dirty", "clean", "clean_warm_code", "resident"};

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "cold_start");
  const int sms = smCount();
  const size_t total = 512 * MiB, other = 256 * MiB;
  Buffer<char> data(total), rest(other);
  Buffer<Stamp> stamps(sms * 2);
  auto grid = [&](size_t bytes) { return int(std::min<size_t>(sms * 2, std::max<size_t>(1, bytes / (512 * 16 * 4)))); };
  auto stream = [&](bool copy, Args a) {
    if (copy) coldStream<true><<<grid(a.bytes), 512>>>(a);
    else coldStream<false><<<grid(a.bytes), 512>>>(a);
    CHECK(cudaGetLastError());
  };
  auto prepare = [&](State state, bool copy, Args a) {
    if (state == kDirty) flushL2();
    if (state == kClean || state == kSameCode || state == kResident) {
      readOther<<<sms * 4, 512>>>(reinterpret_cast<uint4*>(rest.p), other / 16, 0, stamps.p);
      CHECK(cudaGetLastError());
    }
    if (state == kSameCode) {  // the same kernel on other bytes: its code is in every cache
      Args b = a;
      b.data = data.p + 384 * MiB;
      b.bytes = 64 * MiB;
      b.to = rest.p;
      stream(copy, b);
      if (copy) {  // its dirty lines leave again
        readOther<<<sms * 4, 512>>>(reinterpret_cast<uint4*>(rest.p), other / 16, 0, stamps.p);
        CHECK(cudaGetLastError());
      }
    }
    if (state == kResident) stream(copy, a);
    CHECK(cudaDeviceSynchronize());
  };
  for (bool copy : {false, true})
    for (State state : {kDirty, kClean, kSameCode, kResident})
      for (size_t kib : {64, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072}) {
        if (state == kResident && kib > 16384) continue;
        Args a{data.p, kib * KiB, data.p + 192 * MiB, stamps.p, 0};
        std::vector<double> ns, slowest, clk;
        for (int rep = 0; rep < o.reps + 1; ++rep) {
          prepare(state, copy, a);
          stamps.zero();
          if (state == kSameCode || state == kResident) CHECK(cudaDeviceSynchronize());
          stream(copy, a);
          CHECK(cudaDeviceSynchronize());
          if (!rep) continue;
          Span s = spanOf(stamps.host());
          ns.push_back(s.ns);
          slowest.push_back(s.cycles);
          clk.push_back(s.clockMHz);
        }
        const std::string name = std::string(copy ? "copy_" : "read_") + kStateName[state];
        r.add(name + "_duration", double(kib), "KiB", ns, "ns", median(clk));
        r.add(name + "_slowest_cta", double(kib), "KiB", slowest, "clk", median(clk));
      }
  for (State state : {kDirty, kClean, kSameCode})
    for (int ctas : {1, 8, 132}) {
      Args a{data.p, 0, data.p, stamps.p, 0};
      std::vector<double> v;
      for (int rep = 0; rep < o.reps + 1; ++rep) {
        a.bytes = 1;
        prepare(state == kSameCode ? kClean : state, false, a);
        if (state == kSameCode) {  // on lines far from those that count
          Args b = a;
          b.data = data.p + 256 * MiB;
          firstLoad<<<ctas, 1>>>(b);
          CHECK(cudaDeviceSynchronize());
        }
        stamps.zero();
        firstLoad<<<ctas, 1>>>(a);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        if (!rep) continue;
        for (const Stamp& s : stamps.host())
          if (s.c1) v.push_back(double(s.c1 - s.c0));
      }
      r.add(std::string("first_load_") + kStateName[state], ctas, "CTA", v, "clk");
    }
  auto one = [&](auto kernel, int unroll, int threads) {
    const std::string name = "one_sm_unroll" + std::to_string(unroll);
    constexpr double laps = 16, set = 128 * KiB;
    sampleStamp(r, o, stamps, name + "_l2_clk_per_KiB", threads, "threads", laps * set / KiB, "clk/KiB",
                [&] { kernel<<<1, threads>>>(data.p, unsigned(set), int(laps), stamps.p, 0); });
    constexpr double cold = 8 * MiB;
    sampleStamp(r, o, stamps, name + "_hbm_clk_per_KiB", threads, "threads", cold / KiB, "clk/KiB", [&] {
      prepare(kClean, false, Args{data.p, 0, data.p, stamps.p, 0});
      kernel<<<1, threads>>>(data.p, unsigned(cold), 1, stamps.p, 0);
    });
  };
  for (int threads : {32, 128, 256, 512, 1024}) {
    one(oneSm<1>, 1, threads);
    one(oneSm<2>, 2, threads);
    one(oneSm<4>, 4, threads);
    one(oneSm<8>, 8, threads);
  }
  return 0;
}

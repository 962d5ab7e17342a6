// How long does HBM let a read wait, by how busy it is? SMs keep a number of boxes of 16 KiB under way; others time single
// lines or boxes meanwhile. And what does one line wait for when nothing else runs: refreshes, and stops of all of HBM?
#include <algorithm>

#include "ptx.cuh"

using namespace bench;

constexpr int kBox = 16384, kPitch = 8192, kMaxStages = 12, kProbes = 4, kSamples = 600, kBoxes = 192, kAlone = 20000;

struct Work {
  int width, stages;         // bytes of a box's row, boxes under way
  int probes, probeBoxes;    // CTAs that time single lines (or boxes) while the others read on; 0: all read kBoxes
  const char* fresh;         // lines nobody has read
  unsigned* done;            // probes that have ended
  unsigned long long* marks; // by CTA: clocks after 1/4 and 3/4 of its boxes; with probes, boxes read and clocks
  unsigned* latency;         // by probe and sample
};

__global__ void __launch_bounds__(128) load(const __grid_constant__ CUtensorMap map, Work w) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t bars[kMaxStages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < kMaxStages; ++i) mbarInit(smemAddr(&bars[i]), 1);
    mbarFence();
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const int rows = kBox / w.width, across = kPitch / w.width, step = gridDim.x * rows;
  int x = 0, y = blockIdx.x * rows, left = across;
  const uint32_t firstSlot = (smemAddr(smem) + 1023) / 1024 * 1024, firstBar = smemAddr(bars);
  const uint32_t lastBar = firstBar + (w.stages - 1) * 8;
  uint32_t bar = firstBar, slot = firstSlot;
  auto issue = [&] {  // tile after tile, along the rows
    mbarExpect(bar, kBox);
    tensorLoad2D(slot, &map, x, y, bar);
    x += w.width / 2;
    if (--left == 0) {
      left = across;
      x = 0;
      y += step;
    }
  };
  auto advance = [&] {
    const bool wrap = bar == lastBar;
    bar = wrap ? firstBar : bar + 8;
    slot = wrap ? firstSlot : slot + kBox;
    return wrap;
  };
  unsigned parity = 0;
  if (int(blockIdx.x) < w.probes) {
    const uint64_t begin = clockNow();
    while (clockNow() - begin < 15000) {}  // until the load is steady
    unsigned random = blockIdx.x * 7919 + 13;
    for (int i = 0; i < kSamples; ++i) {
      random = random * 1664525u + 1013904223u;
      const uint64_t c0 = clockNow();
      if (w.probeBoxes) {
        issue();
        mbarWait(bar, parity);
        parity ^= 1;
      } else {
        const unsigned v = loadCg32(w.fresh + (size_t(blockIdx.x) * kSamples + i) * 4096 + (random >> 27) * 128);
        if (v == 0x12345678) *w.done = 0;
      }
      w.latency[blockIdx.x * kSamples + i] = unsigned(clockNow() - c0);
    }
    atomicAdd(w.done, 1);
    return;
  }
  for (int i = 0; i < w.stages; ++i) {
    issue();
    advance();
  }
  bar = firstBar;
  slot = firstSlot;
  const uint64_t begin = clockNow();
  // A turn of the loop must be short: it bounds what few SMs can read.
  int n = 0;
  const int most = w.probes ? 1 << 20 : kBoxes - w.stages, quarter = w.probes ? -1 : kBoxes / 4 - 1;
  for (; n < most; ++n) {
    mbarWait(bar, parity);
    if (n == quarter) w.marks[blockIdx.x * 2] = clockNow();
    if (n == quarter + kBoxes / 2) w.marks[blockIdx.x * 2 + 1] = clockNow();
    if (w.probes && (n & 7) == 0 && *reinterpret_cast<volatile unsigned*>(w.done) >= unsigned(w.probes)) break;
    issue();
    parity ^= advance();
  }
  mbarWait(bar, parity);
  if (w.probes) {
    w.marks[blockIdx.x * 2] = n + 1;
    w.marks[blockIdx.x * 2 + 1] = clockNow() - begin;
  }
  for (int i = 1; i < w.stages; ++i) {
    parity ^= advance();
    mbarWait(bar, parity);
    if (!w.probes && n + i == quarter + kBoxes / 2) w.marks[blockIdx.x * 2 + 1] = clockNow();
  }
}

// Leaves the L2 full of clean lines.
__global__ void readAll(const uint4* p, size_t n, unsigned never, float* out) {
  uint4 acc = make_uint4(0, 0, 0, 0);
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    const uint4 v = loadCg(p + i);
    acc.x ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  sink(acc, never, out);
}

// One line, dropped and read again, at random times.
__global__ void alone(char* line, unsigned long long* out) {
  const uint64_t begin = clockNow();
  unsigned random = 13;
  for (int i = 0; i < kAlone; ++i) {
    random = random * 1664525u + 1013904223u;
    const uint64_t w0 = clockNow();
    while (clockNow() - w0 < random >> 23) {}
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(line) : "memory");
    const uint64_t c0 = clockNow();
    const unsigned v = *reinterpret_cast<volatile unsigned*>(line);
    asm volatile("" ::"r"(v) : "memory");
    out[i] = (c0 - begin) << 20 | (clockNow() - c0);
  }
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "hbm_load");
  const int sms = smCount();
  constexpr size_t kBytes = 24 * GiB, kFresh = 16 * MiB;
  Buffer<char> data(kBytes), fresh(kFresh * 64), lines(64 * MiB);
  CHECK(cudaMemset(data.p, 1, kBytes));
  CHECK(cudaMemset(fresh.p, 1, kFresh * 64));
  Buffer<unsigned> done(1), latency(kProbes * kSamples);
  Buffer<unsigned long long> marks(size_t(sms) * 2), samples(kAlone);
  constexpr int kSmem = kMaxStages * kBox + 1024;
  allowSmem(load, kSmem);
  Buffer<float> out(1024);
  size_t used = 0, freshUsed = 0;

  auto mapOf = [&](int width, size_t bytes) {
    if (used + bytes > kBytes) used = 0;
    CUtensorMap m = tensorMap2D(data.p + used, kPitch / 2, bytes / kPitch, kPitch, width / 2, kBox / width, width == 128);
    used += bytes;
    return m;
  };
  // The rate by what is under way.
  for (int ctas : {64, 88, 132}) {
    if (ctas > sms) continue;
    for (int width : {128, 256, 512})
      for (int stages : {1, 2, 3, 4, 6, 8, 12}) {
        std::vector<double> rate;
        for (int rep = 0; rep <= o.reps; ++rep) {
          const size_t bytes = size_t(ctas) * kBoxes * kBox;
          CUtensorMap map = mapOf(width, bytes);
          readAll<<<sms * 4, 512>>>(reinterpret_cast<const uint4*>(fresh.p), fresh.n / 16, 0, out.p);
          marks.zero();
          load<<<ctas, 128, kSmem>>>(map, Work{width, stages, 0, 0, fresh.p, done.p, marks.p, latency.p});
          CHECK(cudaGetLastError());
          auto m = marks.host();
          double sum = 0;
          for (int c = 0; c < ctas; ++c) sum += double(kBoxes / 2) * kBox / double(m[c * 2 + 1] - m[c * 2]);
          if (rep) rate.push_back(sum);
        }
        r.add("rows_of_" + std::to_string(width) + "B_" + std::to_string(ctas) + "_rate", stages * kBox / 1024.0, "KiB/SM", rate,
              "B/clk");
      }
  }
  // What single lines and boxes wait meanwhile.
  for (int boxes : {0, 1})
    for (int ctas : {8, 68, 132})
      for (int stages : {1, 2, 3, 4, 6, 8}) {
        if (ctas > sms || (ctas == 8 && stages > 1)) continue;
        CUtensorMap map = mapOf(512, 8 * GiB);
        freshUsed = (freshUsed + 1) % 64;
        done.zero();
        marks.zero();
        load<<<ctas, 128, kSmem>>>(map, Work{512, stages, kProbes, boxes, fresh.p + freshUsed * kFresh, done.p, marks.p, latency.p});
        CHECK(cudaGetLastError());
        auto m = marks.host();
        auto l = latency.host();
        double bytesPerClock = 0;
        for (int c = kProbes; c < ctas; ++c) bytesPerClock += double(m[c * 2]) * kBox / double(m[c * 2 + 1]);
        std::vector<double> v(l.begin(), l.end());
        std::sort(v.begin(), v.end());
        const std::string s = std::string(boxes ? "box" : "line") + "_beside_" + std::to_string(ctas - kProbes);
        r.add(s + "_load", stages * kBox / 1024.0, "KiB/SM", {bytesPerClock}, "B/clk");
        for (int percent : {10, 50, 75, 90, 99})
          r.add(s + "_p" + std::to_string(percent), stages * kBox / 1024.0, "KiB/SM", {v[(v.size() - 1) * percent / 100]}, "clk");
      }
  // One line alone: how often it waits, how long at most, and the time between its longest waits.
  for (int line = 0; line < 16; ++line) {
    alone<<<1, 1>>>(lines.p + size_t(line) * 128 * 1237, samples.p);
    CHECK(cudaGetLastError());
    auto s = samples.host();
    std::vector<double> v, stops;
    for (auto x : s) v.push_back(double(x & 0xfffff));
    std::sort(v.begin(), v.end());
    const double most = v[v.size() / 2], limit = most + 700;
    double waits = 0, longest = 0, last = 0;
    for (auto x : s) {
      const double clk = double(x & 0xfffff), at = double(x >> 20);
      if (clk > limit) {
        if (last > 0) stops.push_back(at - last);
        last = at;
      } else if (clk > most + 60) {
        ++waits;
      }
    }
    longest = v[(v.size() - 1) * 98 / 100] - most;
    r.add("alone_waits", line, "line", {waits / kAlone}, "fraction");
    r.add("alone_longest_wait", line, "line", {longest}, "clk");
    if (!stops.empty()) r.add("alone_between_stops", line, "line", stops, "clk");
  }
  return 0;
}

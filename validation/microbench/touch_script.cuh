// Single accesses issued in a global order by chosen SMs, each with its latency; and the two sides of the L2.
#pragma once

#include "placement.cuh"

namespace bench {

struct Event {
  int smid;
  unsigned line;     // index of a 128-byte line
  unsigned lines;    // how many, `stride` lines apart
  unsigned stride;
  unsigned touches;  // of each line, back to back
  unsigned first;    // index of the first result
  unsigned store;    // 1: write instead of read
};

// Each SM holds one CTA; its thread walks the script and acts when the turn reaches one of its own events.
static __global__ void runScript(const Event* script, int events, const char* base, unsigned* turn, unsigned* counter,
                          unsigned short* latency, unsigned long long* sum) {
  arriveAndWait(counter, gridDim.x);
  const int me = smId();
  unsigned total = 0;
  for (int e = 0; e < events; ++e) {
    Event ev = script[e];
    if (ev.smid != me) continue;
    Watchdog dog;
    while (*reinterpret_cast<volatile unsigned*>(turn) != unsigned(e)) {
      __nanosleep(200);
      dog.poll();
    }
    __threadfence();
    for (unsigned i = 0; i < ev.lines; ++i) {
      const char* p = base + size_t(ev.line + i * ev.stride) * 128;
      for (unsigned t = 0; t < ev.touches; ++t) {
        if (ev.store) {
          uint64_t c0 = clockNow();
          *reinterpret_cast<volatile unsigned*>(const_cast<char*>(p)) = 0;
          __threadfence();
          latency[ev.first + i * ev.touches + t] = static_cast<unsigned short>(min(clockNow() - c0, uint64_t(65535)));
          continue;
        }
        uint64_t c0 = clockNow();
        unsigned v = loadCg32(p);
        asm volatile("" : "+r"(v)::"memory");
        unsigned seen;
        asm volatile("add.u32 %0, %1, 1;" : "=r"(seen) : "r"(v) : "memory");  // waits for the load
        uint64_t c1 = clockNow() + (seen == 0xffffffffu);
        total += seen;
        latency[ev.first + i * ev.touches + t] = static_cast<unsigned short>(min(c1 - c0, uint64_t(65535)));
      }
    }
    __threadfence();
    *reinterpret_cast<volatile unsigned*>(turn) = unsigned(e + 1);
  }
  atomicAdd(sum, total);
}

struct Runner {
  size_t bytes = 256 * MiB;
  Buffer<char> data{bytes};
  Buffer<unsigned> words{2};
  Buffer<unsigned long long> sum{1};
  std::vector<Event> script;
  unsigned results = 0;
  // Returns the index of the first result.
  unsigned add(int smid, unsigned line, unsigned touches, unsigned lines = 1, unsigned stride = 1, unsigned store = 0) {
    unsigned first = results;
    script.push_back({smid, line, lines, stride, touches, first, store});
    results += lines * touches;
    return first;
  }
  std::vector<unsigned short> run(bool flush) {
    Buffer<Event> s(script.size());
    s.set(script);
    Buffer<unsigned short> lat(results);
    words.zero();
    if (flush) flushL2();
    allowSmem(runScript, kWholeSm);
    runScript<<<smCount(), 1, kWholeSm>>>(s.p, int(script.size()), data.p, words.p, words.p + 1, lat.p, sum.p);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    script.clear();
    results = 0;
    return lat.host();
  }
};

// Splits a bimodal sample at the widest gap between its 5th and 95th percentile; zero where there is none.
inline double splitPoint(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  double best = 0, at = 0;
  for (size_t i = v.size() / 20; i + 1 < v.size() - v.size() / 20; ++i)
    if (v[i + 1] - v[i] > best) best = v[i + 1] - v[i], at = 0.5 * (v[i] + v[i + 1]);
  return best >= 12 ? at : 0;
}

// Side of every GPC: 0 for the one of SM 0. SM 0 touches fresh lines, then the GPC's first SM touches them:
// about half of them are far for an SM of the other side, none for one of the same side.
inline std::vector<int> discoverSides(const Topology& t) {
  Runner run;
  std::vector<int> side(t.gpcs, 0);
  for (int g = 0; g < t.gpcs; ++g) {
    int b = t.members[g][0];
    if (b == 0) continue;
    unsigned line = 5 + g * 2;
    run.add(0, line, 1, 64, 1945);
    unsigned f = run.add(b, line, 1, 64, 1945);
    auto l = run.run(true);
    int far = 0;
    for (int i = 0; i < 64; ++i) far += l[f + i] > 365;
    side[g] = far > 12;
  }
  return side;
}

}  // namespace bench

// Shared harness of the microbenchmarks: arguments, error checks, timing stamps, statistics, CSV.
// Every program asks one question, writes rows of one schema and needs the CUDA Toolkit alone.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    cudaError_t check_status_ = (call);                                                          \
    if (check_status_ != cudaSuccess) {                                                          \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                         \
                   cudaGetErrorString(check_status_));                                           \
      std::exit(1);                                                                              \
    }                                                                                            \
  } while (0)

namespace bench {

constexpr size_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

// ---- device side -------------------------------------------------------------------------------

__device__ __forceinline__ uint64_t clockNow() {
  uint64_t v;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(v)::"memory");
  return v;
}
__device__ __forceinline__ uint64_t nanosNow() {
  uint64_t v;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(v)::"memory");
  return v;
}
__device__ __forceinline__ unsigned smId() {
  unsigned v;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(v));
  return v;
}

// A spin wait that never ends would hang the device: it traps after about a second instead.
struct Watchdog {
  uint64_t deadline;
  __device__ Watchdog() : deadline(clockNow() + 3000000000ull) {}
  __device__ void poll() const {
    if (clockNow() > deadline) __trap();
  }
};

// Start and end of the timed part of one CTA, in SM clocks and in nanoseconds.
struct Stamp {
  unsigned long long c0, c1, t0, t1;
  unsigned smid, pad;
};
__device__ __forceinline__ void stampBegin(Stamp& s) {
  s.smid = smId();
  s.t0 = nanosNow();
  s.c0 = clockNow();
}
__device__ __forceinline__ void stampEnd(Stamp& s) {
  s.c1 = clockNow();
  s.t1 = nanosNow();
}

// Counts arrivals of CTAs in global memory; `counter` starts at zero. One thread per CTA calls it.
__device__ __forceinline__ void arriveAndWait(unsigned* counter, unsigned count) {
  __threadfence();
  atomicAdd(counter, 1u);
  Watchdog dog;
  while (*reinterpret_cast<volatile unsigned*>(counter) < count) dog.poll();
  __threadfence();
}

// Keeps a value alive without a store that ever happens: `never` is zero at run time.
template <class T>
__device__ __forceinline__ void sink(const T& v, unsigned never, void* out) {
  if (never) *static_cast<T*>(out) = v;
}

// ---- host side ---------------------------------------------------------------------------------

struct Options {
  std::string out;
  int reps = 7;
  std::vector<std::string> words;  // remaining arguments, in order
  bool has(const char* w) const { return std::find(words.begin(), words.end(), w) != words.end(); }
  long value(const char* key, long fallback) const {
    for (size_t i = 0; i + 1 < words.size(); ++i)
      if (words[i] == key) return std::strtol(words[i + 1].c_str(), nullptr, 10);
    return fallback;
  }
};

inline Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    if (a == "--help") {
      std::printf("usage: %s [--out FILE.csv] [--reps N] [program options]\n", argv[0]);
      std::exit(0);
    }
    if ((a == "--out" || a == "--reps") && i + 1 == argc) {
      std::fprintf(stderr, "%s: %s needs a value\n", argv[0], a.c_str());
      std::exit(2);
    }
    if (a == "--out") o.out = argv[++i];
    else if (a == "--reps") o.reps = std::atoi(argv[++i]);
    else o.words.push_back(a);
  }
  if (o.reps < 1) {
    std::fprintf(stderr, "%s: --reps must be at least 1\n", argv[0]);
    std::exit(2);
  }
  int n = 0;
  if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) {
    std::fprintf(stderr, "%s: no CUDA device\n", argv[0]);
    std::exit(1);
  }
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  if (p.major != 9) {
    std::fprintf(stderr, "%s: built for compute capability 9.0, device 0 is %s (%d.%d)\n", argv[0],
                 p.name, p.major, p.minor);
    std::exit(1);
  }
  return o;
}

inline int smCount() {
  int n = 0;
  CHECK(cudaDeviceGetAttribute(&n, cudaDevAttrMultiProcessorCount, 0));
  return n;
}

template <class T>
struct Buffer {
  T* p = nullptr;
  size_t n = 0;
  explicit Buffer(size_t count) : n(count) { CHECK(cudaMalloc(&p, count * sizeof(T))); zero(); }
  ~Buffer() { cudaFree(p); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void zero() { CHECK(cudaMemset(p, 0, n * sizeof(T))); }
  std::vector<T> host() const {
    std::vector<T> v(n);
    CHECK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
  void set(const std::vector<T>& v) {
    CHECK(cudaMemcpy(p, v.data(), std::min(n, v.size()) * sizeof(T), cudaMemcpyHostToDevice));
  }
};

static __global__ void spinKernel(Stamp* out) {
  Stamp s;
  stampBegin(s);
  while (nanosNow() - s.t0 < 100000) {}
  stampEnd(s);
  *out = s;
}

// SM clock by clock64 against globaltimer over 0.1 ms, taken right after the work it describes.
inline double spinClockMHz() {
  static Buffer<Stamp>* b = new Buffer<Stamp>(1);
  spinKernel<<<1, 1>>>(b->p);
  CHECK(cudaGetLastError());
  Stamp s = b->host()[0];
  return 1e3 * double(s.c1 - s.c0) / double(s.t1 - s.t0);
}

struct Span {
  double cycles, ns, clockMHz;  // longest CTA in clocks; first start to last end
};
inline Span spanOf(const std::vector<Stamp>& stamps) {
  Span r{0, 0, 0};
  unsigned long long first = ~0ull, last = 0;
  double c = 0, t = 0;
  for (const Stamp& s : stamps) {
    if (s.c1 == 0) continue;
    r.cycles = std::max(r.cycles, double(s.c1 - s.c0));
    first = std::min(first, s.t0);
    last = std::max(last, s.t1);
    c += double(s.c1 - s.c0);
    t += double(s.t1 - s.t0);
  }
  r.ns = last > first ? double(last - first) : 0;
  r.clockMHz = t > 0 ? 1e3 * c / t : 0;
  return r;
}

inline double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  size_t n = v.size();
  return n == 0 ? 0 : n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

// One CSV file; the row's value is the median of the samples.
class Report {
 public:
  Report(const Options& o, std::string bench) : bench_(std::move(bench)) {
    if (!o.out.empty()) {
      file_ = std::fopen(o.out.c_str(), "w");
      if (!file_) {
        std::perror(o.out.c_str());
        std::exit(1);
      }
    }
    std::fprintf(file_, "bench,series,x,x_unit,value,unit,min,max,reps,sm_clock_mhz\n");
  }
  ~Report() { if (file_ != stdout) std::fclose(file_); }
  void add(const std::string& series, double x, const char* xUnit, const std::vector<double>& v,
           const char* unit, double clockMHz = 0) {
    if (v.empty()) return;
    if (clockMHz == 0) clockMHz = spinClockMHz();
    auto mm = std::minmax_element(v.begin(), v.end());
    std::fprintf(file_, "%s,%s,%.10g,%s,%.6g,%s,%.6g,%.6g,%zu,%.0f\n", bench_.c_str(),
                 series.c_str(), x, xUnit, median(v), unit, *mm.first, *mm.second, v.size(), clockMHz);
    std::fflush(file_);
  }

 private:
  std::string bench_;
  FILE* file_ = stdout;
};

// Launches `reps` times after one warm-up; a sample is the clocks of the one stamp, divided by `per`.
template <class Launch>
void sampleStamp(Report& report, const Options& o, const Buffer<Stamp>& out, const std::string& series, double x,
                 const char* xUnit, double per, const char* unit, Launch launch) {
  std::vector<double> v, clk;
  for (int rep = 0; rep < o.reps + 1; ++rep) {
    launch();
    CHECK(cudaGetLastError());
    Stamp s = out.host()[0];
    if (!rep) continue;
    v.push_back(double(s.c1 - s.c0) / per);
    clk.push_back(1e3 * double(s.c1 - s.c0) / double(s.t1 - s.t0));
  }
  report.add(series, x, xUnit, v, unit, median(clk));
}

// Shared memory that leaves room for one CTA per SM only.
constexpr int kWholeSm = 200 * 1024;
template <class K>
void allowSmem(K kernel, int bytes) {
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

static __global__ void flushKernel(uint4* p, size_t n, unsigned v) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
    p[i] = make_uint4(v, v, v, v);
}
// Pushes everything older out of the L2 by writing 256 MiB, then reading nothing back.
inline void flushL2() {
  constexpr size_t bytes = 256 * MiB;
  static Buffer<uint4>* b = new Buffer<uint4>(bytes / 16);
  static unsigned v = 1;
  flushKernel<<<smCount() * 4, 512>>>(b->p, b->n, v++);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

}  // namespace bench

// Which device, driver, toolkit and clocks do the other files belong to? Writes JSON.
#include <ctime>

#include "bench.cuh"

using namespace bench;

__global__ void timerSteps(unsigned long long* out, int n) {
  unsigned long long last = nanosNow();
  for (int i = 0; i < n;) {
    unsigned long long now = nanosNow();
    if (now != last) {
      out[i++] = now - last;
      last = now;
    }
  }
}

static int attribute(cudaDeviceAttr a) {
  int v = 0;
  CHECK(cudaDeviceGetAttribute(&v, a, 0));
  return v;
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  int driver = 0, runtime = 0;
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaRuntimeGetVersion(&runtime));
  Buffer<unsigned long long> steps(64);
  timerSteps<<<1, 1>>>(steps.p, 64);
  CHECK(cudaGetLastError());
  std::vector<double> v;
  for (auto s : steps.host()) v.push_back(double(s));
  std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  FILE* f = o.out.empty() ? stdout : std::fopen(o.out.c_str(), "w");
  if (!f) {
    std::perror(o.out.c_str());
    return 1;
  }
  std::fprintf(f,
               "{\n  \"gpu\": \"%s\",\n  \"compute_capability\": \"%d.%d\",\n  \"sms\": %d,\n  \"l2_bytes\": %d,\n"
               "  \"memory_bytes\": %zu,\n  \"memory_bus_bits\": %d,\n  \"max_sm_clock_mhz\": %.0f,\n"
               "  \"memory_clock_mhz\": %.0f,\n  \"driver_cuda\": %d,\n  \"runtime_cuda\": %d,\n  \"nvcc\": \"%d.%d.%d\",\n"
               "  \"spin_sm_clock_mhz\": %.1f,\n  \"globaltimer_step_ns\": %.0f,\n  \"date_utc\": \"%s\"\n}\n",
               p.name, p.major, p.minor, p.multiProcessorCount, p.l2CacheSize, p.totalGlobalMem, p.memoryBusWidth,
               attribute(cudaDevAttrClockRate) / 1e3, attribute(cudaDevAttrMemoryClockRate) / 1e3, driver, runtime,
               __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__, spinClockMHz(), median(v), date);
  if (f != stdout) std::fclose(f);
  return 0;
}

#include "../../microbench/bench.cuh"
#include "timing.hpp"

namespace ladder {

namespace {

constexpr std::size_t kFlushBytes = 256 * bench::MiB;  // five times the L2

double one_us(const std::function<void(cudaStream_t)>& reset, const std::function<void(cudaStream_t)>& work) {
  static bench::Buffer<uint4> flush(kFlushBytes / sizeof(uint4));
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (begin == nullptr) {
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }
  if (reset) reset(nullptr);
  bench::flushKernel<<<bench::smCount() * 4, 512>>>(flush.p, flush.n, 1);
  CHECK(cudaEventRecord(begin));
  work(nullptr);
  CHECK(cudaEventRecord(end));
  CHECK(cudaEventSynchronize(end));
  CHECK(cudaGetLastError());
  float ms = 0;
  CHECK(cudaEventElapsedTime(&ms, begin, end));
  return 1e3 * ms;
}

}  // namespace

double median_us(const std::function<void(cudaStream_t)>& reset, const std::function<void(cudaStream_t)>& work) {
  constexpr double kEnoughUs = 20000;
  const double first = one_us(reset, work);
  const int reps = std::clamp(static_cast<int>(kEnoughUs / first), 5, 21);
  for (int i = 0; i < 2; ++i) (void)one_us(reset, work);
  std::vector<double> times;
  for (int i = 0; i < reps; ++i) times.push_back(one_us(reset, work));
  return bench::median(times);
}

}  // namespace ladder

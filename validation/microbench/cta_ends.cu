// How long does a kernel take beyond its last CTA, by how many CTAs end together? And kernels of many short CTAs that
// store, copy or add: what do they pay for that? Meant to run under ncu with caches flushed, one launch per row, in row
// order: the counters say how long each took.
#include "ptx.cuh"

using namespace bench;

constexpr int kThreads = 128;

/// Each CTA waits `clocks`, and `apart` more for every CTA before it.
__global__ void waits(unsigned clocks, unsigned apart) {
  const uint64_t begin = clockNow(), wait = clocks + uint64_t(apart) * blockIdx.x;
  while (clockNow() - begin < wait) {}
}

/// Each thread takes 16 bytes of every operand, as PyTorch's vectorized kernels do.
template <int kInputs>
__global__ void __launch_bounds__(kThreads) elementwise(const uint4* a, const uint4* b, uint4* out, unsigned value) {
  const size_t i = blockIdx.x * size_t(kThreads) + threadIdx.x;
  uint4 v = make_uint4(value, value, value, value);
  if (kInputs > 0) v = __ldg(a + i);
  if (kInputs > 1) {
    const uint4 w = __ldg(b + i);
    v = make_uint4(v.x + w.x, v.y + w.y, v.z + w.z, v.w + w.w);
  }
  out[i] = v;
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "cta_ends");
  constexpr unsigned kClocks = 4000;
  const auto row = [&](const std::string& series, double x, const char* unit) {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    r.add(series, x, unit, {0}, "none", 1);
  };
  for (int threads : {32, 64, 128, 256, 512, 1024}) {
    const int resident = std::min(32, 2048 / threads) * smCount();
    for (int ctas : {1, smCount() / 2, smCount(), 2 * smCount(), 4 * smCount(), 8 * smCount(), 16 * smCount(), 32 * smCount()}) {
      if (ctas > resident) continue;
      waits<<<ctas, threads>>>(kClocks, 0);
      row("wait_" + std::to_string(threads) + "_threads", ctas, "CTA");
    }
  }
  for (int apart : {1, 2, 4, 8, 16}) {
    waits<<<16 * smCount(), kThreads>>>(kClocks, apart);
    row("wait_apart", apart, "clk");
  }
  constexpr size_t kMost = 32 * MiB;
  Buffer<char> a(kMost), b(kMost), out(kMost);
  a.zero();
  b.zero();
  out.zero();
  const auto* pa = reinterpret_cast<const uint4*>(a.p);
  const auto* pb = reinterpret_cast<const uint4*>(b.p);
  auto* po = reinterpret_cast<uint4*>(out.p);
  for (int inputs = 0; inputs < 3; ++inputs) {
    for (size_t bytes = 256 * KiB; bytes <= kMost; bytes *= 2) {
      const int ctas = int(bytes / (kThreads * sizeof(uint4)));
      if (inputs == 0) elementwise<0><<<ctas, kThreads>>>(pa, pb, po, 1);
      else if (inputs == 1) elementwise<1><<<ctas, kThreads>>>(pa, pb, po, 1);
      else elementwise<2><<<ctas, kThreads>>>(pa, pb, po, 1);
      row("inputs_" + std::to_string(inputs), double(bytes / KiB), "KiB");
    }
  }
}

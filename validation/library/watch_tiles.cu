// Watches places in memory from one SM while another kernel runs and notes when each of them changes: in which order do
// the tiles of a library's kernel end? Built as a shared library by watch_tiles.py.
#include <cstdint>

constexpr int kThreads = 1024;

__global__ void watchKernel(const uint16_t* base, const long long* offsets, int places, uint16_t untouched, long long* clocks,
                            long long limit) {
  const long long begin = clock64();
  unsigned long long done = 0;  // one bit for each place of this thread: at most 64
  int left = 0;
  for (int i = threadIdx.x; i < places; i += kThreads) ++left;
  while (left > 0 && clock64() - begin < limit) {
    int bit = 0;
    for (int i = threadIdx.x; i < places; i += kThreads, ++bit) {
      if (done >> bit & 1) continue;
      uint16_t value;
      asm volatile("ld.relaxed.gpu.global.u16 %0, [%1];" : "=h"(value) : "l"(base + offsets[i]));
      if (value == untouched) continue;
      clocks[i] = clock64() - begin;
      done |= 1ull << bit;
      --left;
    }
  }
}

/// Returns a cudaError_t; the caller keeps `places` below 64 x 1024.
extern "C" int watchTiles(const void* base, const void* offsets, int places, int untouched, void* clocks, long long limit, void* stream) {
  watchKernel<<<1, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<const uint16_t*>(base), static_cast<const long long*>(offsets),
                                                                     places, static_cast<uint16_t>(untouched), static_cast<long long*>(clocks), limit);
  return cudaGetLastError();
}

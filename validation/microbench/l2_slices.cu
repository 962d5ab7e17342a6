// Which lines share a slice of the L2, and which side is a line's home? The latency of a line in the L2 tells its slice
// by its distance from SMs of several GPCs; the first touch from the other side tells the home.
#include "placement.cuh"

using namespace bench;

// One SM reads line after line, each `touches` times.
__global__ void touchLines(Group g, const char* data, unsigned lines, unsigned touches, unsigned short* out) {
  const int rank = enterGroup(g);
  if (rank < 0 || threadIdx.x != 0) return;
  for (unsigned i = 0; i < lines; ++i)
    for (unsigned k = 0; k < touches; ++k) {
      const uint64_t c0 = clockNow();
      unsigned v = loadCg32(data + size_t(i) * 128);
      asm volatile("xor.b32 %0, %0, %0;" : "+r"(v));  // waits for the load
      out[size_t(i) * touches + k] = static_cast<unsigned short>(min(clockNow() + v - c0, uint64_t(65535)));
    }
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "l2_slices");
  Topology t = discoverTopology();
  GroupStore store;
  constexpr unsigned kLines = 1024, kTouches = 3;
  char* data;
  CHECK(cudaMalloc(&data, 64 * MiB));
  CHECK(cudaMemset(data, 0, 64 * MiB));
  Buffer<unsigned short> out(size_t(kLines) * kTouches);
  allowSmem(touchLines, kWholeSm);
  auto touch = [&](int sm) {
    touchLines<<<t.sms, 32, kWholeSm>>>(store.use({sm}), data, kLines, kTouches, out.p);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return out.host();
  };
  touch(t.members[0][0]);  // code and translations
  for (int g = 0; g < t.gpcs; ++g) {
    const int sm = t.members[g][0], other = t.members[g == 0 ? t.gpcs - 1 : 0][0];
    flushL2();
    touch(other);
    const auto l = touch(sm);
    const std::string from = "_from_gpc" + std::to_string(g);
    for (unsigned i = 0; i < kLines; ++i) {
      r.add("first_touch" + from, i, "line", {double(l[i * kTouches])}, "clk", 1980);
      r.add("latency" + from, i, "line", {double(std::min(l[i * kTouches + 1], l[i * kTouches + 2]))}, "clk", 1980);
    }
  }
  CHECK(cudaFree(data));
  return 0;
}

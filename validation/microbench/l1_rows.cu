// What does a warp's load cost whose lanes lie 16 B apart in rows of a matrix, by the pitch of the rows? Tiles as GEMMs
// take them from matrices that are not aligned to 16 B: each lane brings 16 B, element after element. Under ncu,
// l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld over l1tex__t_requests_pipe_lsu_mem_global_op_ld gives the tag
// passes of a request.
#include "bench.cuh"

using namespace bench;

constexpr int kThreads = 128, kCtasPerSm = 2, kLanes = 4, kElements = 8, kGroups = 8;  // lanes a row, elements a lane
constexpr int kRows = 32 / kLanes, kStep = kRows * kThreads / 32;                       // of a warp, of the CTA

struct Work {
  const char* data;
  size_t pitch;
  int tiles, blocks;  // K tiles a CTA reads; blocks of rows that the CTAs share
  unsigned never;
  unsigned* out;
  unsigned long long* clocks;  // by CTA
};

__global__ void __launch_bounds__(kThreads, kCtasPerSm) tiles(Work w) {
  const int row = threadIdx.x / 32 * kRows + threadIdx.x % 32 / kLanes, chunk = threadIdx.x % kLanes;
  const char* p = w.data + (size_t(blockIdx.x % w.blocks) * kGroups * kStep + row) * w.pitch + chunk * 16;
  unsigned acc = 0;
  __syncthreads();
  const uint64_t begin = clockNow();
  for (int k = 0; k < w.tiles; ++k) {
    unsigned short v[kGroups * kElements];
#pragma unroll
    for (int g = 0; g < kGroups; ++g)
#pragma unroll
      for (int e = 0; e < kElements; ++e)
        asm volatile("ld.global.u16 %0, [%1];"
                     : "=h"(v[g * kElements + e]) : "l"(p + size_t(g) * kStep * w.pitch + k * kLanes * 16 + e * 2));
#pragma unroll
    for (int i = 0; i < kGroups * kElements; ++i) acc ^= v[i];
  }
  const uint64_t end = clockNow();
  if (threadIdx.x == 0) w.clocks[blockIdx.x] = end - begin;
  if (acc == w.never) w.out[threadIdx.x] = acc;
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "l1_rows");
  const size_t bytes = 64 * MiB;
  char* data;
  CHECK(cudaMalloc(&data, bytes));
  CHECK(cudaMemset(data, 1, bytes));
  const int ctas = smCount() * kCtasPerSm;
  Buffer<unsigned> out(kThreads);
  Buffer<unsigned long long> clocks(ctas);
  Work w{data, 0, 0, 8, 77777, out.p, clocks.p};
  for (size_t pitch : {8192, 1536, 4096, 2048, 1024, 8190, 4094, 666,  6002, 4112, 4160, 8194, 8256,
                       6144, 5120, 768,  2064, 1538, 2046, 2080, 2112, 1600, 4224, 8320, 2002, 3110}) {
    w.pitch = pitch;
    w.tiles = int(std::min<size_t>(pitch / (kLanes * 16), 24));
    std::vector<double> v;
    for (int rep = -2; rep < o.reps; ++rep) {
      tiles<<<ctas, kThreads>>>(w);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      double sum = 0;
      for (auto c : clocks.host()) sum += double(c);
      if (rep >= 0) v.push_back(sum / ctas / w.tiles / (kThreads / 32 * kGroups * kElements * kCtasPerSm));
    }
    r.add("ldg_2B", double(pitch), "B", v, "clk/inst/SM");
  }
  CHECK(cudaFree(data));
  return 0;
}

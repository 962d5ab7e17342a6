// How many lines does the request coalescer watch at a time, and what must two requests have in common to merge?
// Meant to run under ncu (one launch per row, in row order): the counters say how many requests reached the L2.
#include "placement.cuh"

using namespace bench;

struct Args {
  Group group;
  const char* data;
  int streams;      // distinct sets of lines; readers of a set are `streams` ranks apart
  int skew;         // clocks between the readers of a set
  int loads;        // per thread, all in flight together
  int threads;      // that load
  size_t stride;    // bytes between lanes
  size_t span;      // bytes between sets
  int sectorStep;   // bytes that the next reader's address is off
  int wide;         // 16 bytes a lane instead of 4
  unsigned long long* startAt;
  Stamp* stamps;
  unsigned never;
};

__global__ void __launch_bounds__(1024, 1) lrcLines(Args a) {
  int rank = enterGroup(a.group);
  if (rank < 0) return;
  const int turn = rank / a.streams;
  alignedStart(a.group, a.startAt, rank, turn * a.skew);
  Stamp s;
  stampBegin(s);
  uint4 acc = make_uint4(0, 0, 0, 0);
  if (int(threadIdx.x) < a.threads) {
    const char* p = a.data + size_t(rank % a.streams) * a.span + size_t(turn) * a.sectorStep + threadIdx.x * a.stride;
    const size_t step = size_t(a.threads) * a.stride;
    if (a.wide) {
      uint4 v[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) v[j] = j < a.loads ? loadCg(reinterpret_cast<const uint4*>(p + j * step)) : acc;
#pragma unroll
      for (int j = 0; j < 4; ++j) acc.x ^= v[j].x ^ v[j].y;
    } else {
      unsigned v[8];
#pragma unroll
      for (int j = 0; j < 8; ++j) v[j] = j < a.loads ? __ldcg(reinterpret_cast<const unsigned*>(p + j * step)) : 0;
#pragma unroll
      for (int j = 0; j < 8; ++j) acc.x ^= v[j];
    }
  }
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) a.stamps[smId()] = s;
  sink(acc, a.never, a.stamps);
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "lrc_lines");
  Topology t = discoverTopology();
  GroupStore groups;
  Buffer<Stamp> stamps(t.sms);
  Buffer<unsigned long long> startAt(1);
  Buffer<char> data(64 * MiB);
  const auto& g0 = t.members[0];
  auto pointOf = [&](const std::vector<int>& smids, const std::string& what, int streams, int skew, int threads, int loads, size_t stride,
                     int sectorStep, bool wide, size_t span) {
    const int readers = int(smids.size()) / streams;
    Args a{groups.use(smids), data.p, streams, skew, loads, threads, stride, span, sectorStep, wide ? 1 : 0, startAt.p, stamps.p, 0};
    if (span * streams + readers * sectorStep > 64 * MiB) return;
    startAt.zero();
    stamps.zero();
    lrcLines<<<t.sms, 1024>>>(a);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Span s = spanOf(stamps.host());
    r.add(what + "_sets" + std::to_string(streams) + "_readers" + std::to_string(readers) + "_skew" + std::to_string(skew) + "_lanes" +
              std::to_string(threads * loads) + "_pitch" + std::to_string(stride) + (wide ? "_16B" : "_4B") + "_off" + std::to_string(sectorStep),
          double(threads * loads), "lane", {double(s.cycles)}, "clk", s.clockMHz);
  };
  auto point = [&](const std::string& what, int streams, int readers, int skew, int threads, int loads, size_t stride, int sectorStep, bool wide) {
    pointOf({g0.begin(), g0.begin() + streams * readers}, what, streams, skew, threads, loads, stride, sectorStep, wide,
            size_t(threads) * loads * stride);
  };
  // Sets that are different sectors of the same lines, read by one GPC and by all.
  auto sectorSets = [&](const std::string& what, const std::vector<int>& smids, int sets, bool sameLines) {
    const int threads = 512;
    const size_t line = 128;
    pointOf(smids, what, sets, 0, threads, 1, line, 0, false, sameLines ? 32 : threads * line);
  };
  point("base", 1, 1, 0, 0, 0, 128, 0, false);
  point("base", 8, 2, 0, 0, 0, 128, 0, false);
  for (int k : {32, 128, 512, 1024}) point("pair", 1, 2, 0, k, 1, 128, 0, false);
  for (int l : {2, 4, 8}) point("pair", 1, 2, 0, 1024, l, 128, 0, false);
  for (int k : {32, 64, 128, 256, 512, 1024}) point("openers", 8, 2, 128, k, 1, 128, 0, false);
  for (int l : {2, 4}) point("openers", 8, 2, 128, 1024, l, 128, 0, false);
  for (int k : {32, 64, 128, 256, 512, 1024}) point("openers", 8, 2, 0, k, 1, 128, 0, false);
  for (int k : {64, 256, 1024}) point("openers_far", 8, 2, 0, k, 1, 2048, 0, false);
  for (int k : {128, 256, 512, 1024}) point("openers_lines", 8, 2, 0, k, 1, 16, 0, true);
  for (int l : {2, 4}) point("openers_lines", 8, 2, 0, 1024, l, 16, 0, true);
  for (int k : {32, 128, 512, 1024}) point("gpc", 1, 16, 0, k, 1, 128, 0, false);
  for (int l : {2, 4, 8}) point("gpc", 1, 16, 0, 1024, l, 128, 0, false);
  for (int k : {128, 1024}) point("gpc_lines", 1, 16, 0, k, 1, 16, 0, true);
  for (int l : {2, 4}) point("gpc_lines", 1, 16, 0, 1024, l, 16, 0, true);
  for (int k : {32, 128, 512, 1024}) point("four", 1, 4, 0, k, 1, 128, 0, false);
  for (int k : {32, 256}) {
    point("words_of_a_sector", 1, 2, 0, k, 1, 128, 4, false);
    point("next_sector", 1, 2, 0, k, 1, 128, 32, false);
  }
  point("next_sector_4", 1, 4, 0, 256, 1, 128, 32, false);
  for (int skew : {16, 32, 64, 128, 256, 512}) point("skewed", 1, 2, skew, 256, 1, 128, 0, false);
  for (int skew : {64, 256, 512}) point("skewed_openers", 8, 2, skew, 256, 1, 128, 0, false);
  const std::vector<int> gpc(g0.begin(), g0.begin() + 16);
  std::vector<int> all(t.sms);
  for (int sm = 0; sm < t.sms; ++sm) all[sm] = sm;
  for (int sets : {1, 2, 4}) {
    for (bool sameLines : {false, true}) {
      sectorSets(sameLines ? "sectors_of_lines_gpc" : "lines_gpc", gpc, sets, sameLines);
      sectorSets(sameLines ? "sectors_of_lines_all" : "lines_all", all, sets, sameLines);
    }
  }
  return 0;
}

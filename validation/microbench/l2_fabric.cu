// How fast do lines cross from one side of the L2 to the other? One side fills a set from the memory, then SMs of
// the other side read it once: half the lines are at home on their own side, half must cross. A second read is near.
#include "touch_script.cuh"

using namespace bench;

// Each member of the group reads its own slice once, 64 bytes in flight per thread.
__global__ void __launch_bounds__(1024, 1) sweep(Group g, const char* base, size_t bytesEach, Stamp* stamps, unsigned never) {
  int rank = enterGroup(g);
  if (rank < 0) return;
  const uint4* p = reinterpret_cast<const uint4*>(base + size_t(rank) * bytesEach);
  groupBarrier(g, 0);
  uint4 acc = make_uint4(0, 0, 0, 0);
  Stamp s;
  stampBegin(s);
  for (size_t i = threadIdx.x; i < bytesEach / 16; i += 4096) {
    uint4 v[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] = loadCg(p + i + j * 1024);
#pragma unroll
    for (int j = 0; j < 4; ++j) { acc.x ^= v[j].x; acc.y ^= v[j].y; acc.z ^= v[j].z; acc.w ^= v[j].w; }
  }
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) stamps[smId()] = s;
  sink(acc, never, stamps);
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "l2_fabric");
  Topology t = discoverTopology();
  std::vector<int> sides = discoverSides(t), side[2], all;
  for (int g = 0; g < t.gpcs; ++g) {
    r.add("side_of_gpc", g, "gpc", {double(sides[g])}, "side", 1);
    side[sides[g]].insert(side[sides[g]].end(), t.members[g].begin(), t.members[g].end());
  }
  if (side[1].empty()) {
    std::fprintf(stderr, "l2_fabric: found no second side\n");
    return 1;
  }
  r.add("sms_of_side", 0, "side", {double(side[0].size())}, "SM", 1);
  r.add("sms_of_side", 1, "side", {double(side[1].size())}, "SM", 1);
  // Members interleaved over the GPCs of the side, so that no GPC limit binds first.
  for (auto& s : side) {
    std::vector<int> order;
    for (size_t i = 0; order.size() < s.size(); ++i)
      for (int g = 0; g < t.gpcs; ++g)
        if (sides[g] == sides[t.gpc[s[0]]] && i < t.members[g].size()) order.push_back(t.members[g][i]);
    s = order;
  }
  GroupStore groups;
  Buffer<Stamp> stamps(t.sms);
  Buffer<char> data(64 * MiB);
  auto run = [&](const std::vector<int>& smids, const char* base, size_t each) {
    stamps.zero();
    Group g = groups.use(smids);
    allowSmem(sweep, kWholeSm);
    sweep<<<t.sms, 1024, kWholeSm>>>(g, base, each, stamps.p, 0);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    Span s = spanOf(stamps.host());
    return std::pair<double, double>{double(each) * smids.size() / s.cycles, s.clockMHz};
  };
  const size_t chunk = 64 * KiB;
  for (size_t n : {1, 2, 4, 8, 16, 32, 48, 64, 66}) {
    for (int reader : {0, 1}) {
      if (n > side[reader].size()) continue;
      std::vector<int> readers(side[reader].begin(), side[reader].begin() + n);
      size_t each = std::min<size_t>(16 * MiB / n, 2 * MiB) / chunk * chunk;
      std::vector<double> first, second, cold, clk;
      for (int rep = 0; rep < o.reps; ++rep) {
        flushL2();
        // The other side's SMs bring exactly the readers' bytes in.
        size_t total = each * n, fillers = std::min<size_t>(side[1 - reader].size(), total / chunk);
        while (total / chunk % fillers) --fillers;
        std::vector<int> f(side[1 - reader].begin(), side[1 - reader].begin() + fillers);
        cold.push_back(run(f, data.p, total / fillers).first);
        auto [a, c] = run(readers, data.p, each);
        first.push_back(a);
        clk.push_back(c);
        second.push_back(run(readers, data.p, each).first);
      }
      const std::string s = "_side" + std::to_string(reader);
      r.add("after_other_side" + s, double(n), "SM", first, "B/clk", median(clk));
      r.add("again" + s, double(n), "SM", second, "B/clk", median(clk));
      if (n == 66) r.add("fill_from_memory" + s, double(n), "SM", cold, "B/clk", median(clk));
    }
  }
  // Both directions at once: each side filled its own half, then they swap halves.
  size_t n = std::min(side[0].size(), side[1].size()), each = 192 * KiB;
  std::vector<int> ab, ba;
  for (size_t i = 0; i < n; ++i) ab.push_back(side[0][i]);
  for (size_t i = 0; i < n; ++i) ab.push_back(side[1][i]);
  for (size_t i = 0; i < n; ++i) ba.push_back(side[1][i]);
  for (size_t i = 0; i < n; ++i) ba.push_back(side[0][i]);
  std::vector<double> v, again, clk;
  for (int rep = 0; rep < o.reps; ++rep) {
    flushL2();
    run(ab, data.p, each);
    auto [a, c] = run(ba, data.p, each);
    v.push_back(a);
    clk.push_back(c);
    again.push_back(run(ba, data.p, each).first);
  }
  r.add("swap_halves", double(2 * n), "SM", v, "B/clk", median(clk));
  r.add("swap_halves_again", double(2 * n), "SM", again, "B/clk", median(clk));
  return 0;
}

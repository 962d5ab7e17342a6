// Who gets how much of HBM: do SMs, CPCs or GPCs get equal shares, and how does that depend on what they have under way?
// Every SM reads a range of its own that no cache holds, by bulk copies or by plain loads, all from the same moment on.
#include "placement.cuh"

using namespace bench;

constexpr int kChunk = 8192, kMaxStages = 24, kStamped = 32;

struct Work {
  const char* data;
  size_t each;             // bytes of an SM
  int stages;              // copies under way
  bool interleaved;        // copies dealt to the SMs in turn, or a range for each
  unsigned long long* end;      // by smid, ns after the common start
  unsigned long long* arrival;  // by smid and copy: clocks after the SM's start until it is there
};

__global__ void __launch_bounds__(128) copies(Group g, Work w, unsigned long long* startAt) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t bars[kMaxStages];
  const int rank = enterGroup(g);
  if (rank < 0) return;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kMaxStages; ++i) mbarInit(smemAddr(&bars[i]), 1);
    mbarFence();
  }
  alignedStart(g, startAt, rank, 0);
  if (threadIdx.x != 0) return;
  const uint64_t t0 = *startAt, c0 = clockNow();
  const unsigned n = unsigned(w.each / kChunk), s = w.stages;
  auto from = [&](unsigned i) {
    return w.data + (w.interleaved ? size_t(i) * g.active + rank : size_t(rank) * n + i) * kChunk;
  };
  // No division in the loop: a turn of it takes about 300 clk.
  uint32_t bar = smemAddr(bars), slot = smemAddr(smem);
  const uint32_t lastBar = bar + (s - 1) * 8;
  auto advance = [&] {
    const bool wrap = bar == lastBar;
    bar = wrap ? smemAddr(bars) : bar + 8;
    slot = wrap ? smemAddr(smem) : slot + kChunk;
    return wrap;
  };
  auto issue = [&](unsigned i) {
    mbarExpect(bar, kChunk);
    bulkLoad(slot, from(i), kChunk, bar);
  };
  for (unsigned i = 0; i < min(n, s); ++i) {
    issue(i);
    advance();
  }
  bar = smemAddr(bars);
  slot = smemAddr(smem);
  unsigned parity = 0;
  for (unsigned i = 0; i < n; ++i) {
    mbarWait(bar, parity);
    if (i < s && i < kStamped) w.arrival[smId() * kStamped + i] = clockNow() - c0;
    if (i + s < n) issue(i + s);
    parity ^= advance();
  }
  w.end[smId()] = nanosNow() - t0;
}

template <int U>
__global__ void __launch_bounds__(1024, 1) loads(Group g, Work w, unsigned long long* startAt, unsigned never, float* out) {
  const int rank = enterGroup(g);
  if (rank < 0) return;
  alignedStart(g, startAt, rank, 0);
  const uint64_t t0 = *startAt;
  const uint4* p = reinterpret_cast<const uint4*>(w.data + size_t(rank) * w.each) + threadIdx.x;
  uint4 acc = make_uint4(0, 0, 0, 0);
  for (size_t i = 0; i < w.each / 16; i += U * 1024) {
    uint4 v[U];
#pragma unroll
    for (int j = 0; j < U; ++j) v[j] = loadCg(p + i + j * 1024);
#pragma unroll
    for (int j = 0; j < U; ++j) { acc.x ^= v[j].x; acc.y ^= v[j].y; acc.z ^= v[j].z; acc.w ^= v[j].w; }
  }
  sink(acc, never, out);
  __syncthreads();
  if (threadIdx.x == 0) w.end[smId()] = nanosNow() - t0;
}

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "hbm_shares");
  Topology t = discoverTopology();
  GroupStore store;
  const size_t total = 16 * GiB;
  char* data;
  CHECK(cudaMalloc(&data, total));
  CHECK(cudaMemset(data, 1, total));
  Buffer<unsigned long long> end(t.sms), arrival(size_t(t.sms) * kStamped), startAt(1);
  Buffer<float> out(1024);
  size_t used = 0;
  allowSmem(copies, kWholeSm);
  std::vector<std::vector<int>> cpc(t.gpcs * 3);  // the TPCs of a GPC belong to its CPCs in turn
  for (int g = 0; g < t.gpcs; ++g) {
    std::vector<int> m = t.members[g];
    std::sort(m.begin(), m.end());
    for (size_t i = 0; i < m.size(); ++i) cpc[g * 3 + (i / 2) % 3].push_back(m[i]);
  }

  // Ends by SM, and the rate of the whole group from start to last end.
  auto measure = [&](const std::string& name, double x, const char* unit, const std::vector<int>& sms, size_t each, int stages,
                     bool interleaved, int unroll, bool bySm) {
    std::map<int, std::vector<double>> ends, arrivals;
    std::vector<double> rate, mean;
    for (int rep = 0; rep < o.reps; ++rep) {
      if (used + each * sms.size() > total) used = 0;
      Group g = store.use(sms);
      startAt.zero();
      end.zero();
      arrival.zero();
      Work w{data + used, each, stages, interleaved, end.p, arrival.p};
      used += each * sms.size();
      if (unroll == 0) copies<<<t.sms, 128, kWholeSm>>>(g, w, startAt.p);
      else if (unroll == 1) { allowSmem(loads<1>, kWholeSm); loads<1><<<t.sms, 1024, kWholeSm>>>(g, w, startAt.p, 0, out.p); }
      else if (unroll == 2) { allowSmem(loads<2>, kWholeSm); loads<2><<<t.sms, 1024, kWholeSm>>>(g, w, startAt.p, 0, out.p); }
      else { allowSmem(loads<4>, kWholeSm); loads<4><<<t.sms, 1024, kWholeSm>>>(g, w, startAt.p, 0, out.p); }
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      auto e = end.host();
      auto a = arrival.host();
      double last = 0, sum = 0;
      for (int sm : sms) {
        ends[sm].push_back(double(e[sm]));
        last = std::max(last, double(e[sm]));
        sum += double(e[sm]);
        if (bySm && unroll == 0)
          for (int i = 0; i < std::min(kStamped, stages); ++i) arrivals[sm * 100 + i].push_back(double(a[size_t(sm) * kStamped + i]));
      }
      rate.push_back(double(each) * sms.size() / last);
      mean.push_back(sum / sms.size() / last);
    }
    r.add(name + "_rate", x, unit, rate, "GB/s");
    r.add(name + "_mean_of_last", x, unit, mean, "fraction");
    if (bySm) {
      const std::string s = name + "_" + std::to_string(int(x));
      std::map<size_t, std::vector<double>> bySize;
      for (auto& c : cpc)
        for (int sm : c) bySize[c.size()].push_back(median(ends[sm]));
      for (auto& [size, v] : bySize) r.add(s + "_end", double(size), "SM/CPC", v, "ns", 1980);
      std::map<int, std::vector<double>> byCopy;
      for (auto& [k, v] : arrivals) byCopy[k % 100].push_back(median(v));
      for (auto& [copy, v] : byCopy) r.add(s + "_arrival", copy, "copy", v, "clk", 1980);
    }
  };
  std::vector<int> all(t.sms);
  std::iota(all.begin(), all.end(), 0);
  for (int s : {1, 2, 3, 4, 6, 8, 12, 16, 24}) measure("all_ranges", s * 8, "KiB/SM", all, 2 * MiB, s, false, 0, true);
  for (int s : {2, 4, 8, 16, 24}) measure("all_in_turn", s * 8, "KiB/SM", all, 2 * MiB, s, true, 0, s == 4 || s == 24);
  for (int u : {1, 2, 4}) measure("all_loads", u * 16, "KiB/SM", all, 2 * MiB, 1, false, u, true);
  // Few SMs: one SM, a TPC, a CPC of four or six, two CPCs, a GPC, k SMs of every CPC.
  const int big = int(std::max_element(cpc.begin(), cpc.end(), [](auto& a, auto& b) { return a.size() < b.size(); }) - cpc.begin());
  const int small = int(std::min_element(cpc.begin(), cpc.end(), [](auto& a, auto& b) { return a.size() < b.size(); }) - cpc.begin());
  auto both = [](std::vector<int> a, const std::vector<int>& b) { a.insert(a.end(), b.begin(), b.end()); return a; };
  for (int s : {1, 2, 4, 8, 12, 16, 24}) {
    const double x = s * 8;
    measure("one_sm", x, "KiB/SM", {cpc[big][0]}, 2 * MiB, s, false, 0, false);
    measure("one_tpc", x, "KiB/SM", {cpc[big][0], cpc[big][1]}, 2 * MiB, s, false, 0, false);
    measure("cpc_of_" + std::to_string(cpc[big].size()), x, "KiB/SM", cpc[big], 2 * MiB, s, false, 0, false);
    measure("cpc_of_" + std::to_string(cpc[small].size()), x, "KiB/SM", cpc[small], 2 * MiB, s, false, 0, false);
    measure("two_cpcs_of_a_gpc", x, "KiB/SM", both(cpc[big / 3 * 3], cpc[big / 3 * 3 + 1]), 2 * MiB, s, false, 0, false);
    measure("two_cpcs_of_two_gpcs", x, "KiB/SM", both(cpc[big], cpc[(big + 3) % cpc.size()]), 2 * MiB, s, false, 0, false);
    measure("gpc", x, "KiB/SM", t.members[big / 3], 2 * MiB, s, false, 0, false);
  }
  for (int k = 1; k <= 6; ++k)
    for (int s : {4, 8, 24}) {
      std::vector<int> some;
      for (auto& c : cpc)
        for (int i = 0; i < std::min<int>(k, c.size()); ++i) some.push_back(c[i]);
      measure("of_every_cpc_" + std::to_string(s * 8) + "KiB", k, "SM", some, 2 * MiB, s, false, 0, false);
    }
  // The ranges of half the CPCs, whole: do the others' shares go to them?
  for (int s : {2, 4, 8, 24}) {
    std::vector<int> half;
    for (size_t c = 0; c < cpc.size(); c += 2) half = both(half, cpc[c]);
    measure("half_the_cpcs", s * 8, "KiB/SM", half, 2 * MiB, s, false, 0, false);
    half.clear();
    for (int g = 0; g < t.gpcs; g += 2) half = both(half, t.members[g]);
    measure("half_the_gpcs", s * 8, "KiB/SM", half, 2 * MiB, s, false, 0, false);
  }
  CHECK(cudaFree(data));
  return 0;
}

// How many bytes per clock does the L2 deliver to (and take from) one SM, a TPC, a GPC and all SMs,
// by plain loads, cp.async, bulk copies and tensor tiles, from private and from shared sets, by footprint?
// Loads bypass the L1. The knee of the footprint sweep is the L2's effective capacity.
#include <functional>

#include "touch_script.cuh"

using namespace bench;

enum Set { kPrivate, kShared, kSkewed, kRotate };
const char* const kSetName[] = {"private", "shared", "skewed", "rotate"};
enum Engine { kLdg, kLdgsts, kBulk, kTile, kTilePitch, kStore, kBulkStore };
const char* const kEngineName[] = {"ldg", "cp_async", "bulk", "tile", "tile_pitch8k", "store", "bulk_store"};

constexpr int kChunk = 16 * 1024, kThreads = 1024, kWarps = 3, kStages = 2, kSmem = 8 * kChunk + 1024;
constexpr int kPitchRows = 128, kPitchBytes = 8192;

struct Args {
  Group group;
  Stamp* stamps;
  char* data;
  int set, chunks, warmSteps, steps;  // chunks in a region (private, rotate) or in the whole set (shared, skewed)
  unsigned never;
};

// The order in which one SM visits chunks.
struct Walker {
  int set, chunks, active, pos, region;
  __device__ Walker(const Args& a, int rank) : set(a.set), chunks(a.chunks), active(a.group.active), pos(0), region(0) {
    if (set == kPrivate || set == kRotate) region = rank;
    if (set == kSkewed) pos = int(int64_t(rank) * chunks / active);
  }
  __device__ size_t next() {
    size_t c = size_t(region) * chunks + pos;
    if (++pos == chunks) {
      pos = 0;
      if (set == kRotate && ++region == active) region = 0;
    }
    return c;
  }
};

template <int ENGINE>
__global__ void __launch_bounds__(kThreads, 1) threadKernel(Args a) {
  extern __shared__ __align__(1024) char smem[];
  int rank = enterGroup(a.group);
  if (rank < 0) return;
  Walker w(a, rank);
  uint4 acc = make_uint4(0, 0, 0, 0);
  int slot = 0;  // cp.async: eight slots of 16 KiB, written in turn
  auto step = [&] {
    char* p = a.data + w.next() * kChunk + threadIdx.x * 16;  // one 16-byte access per thread and chunk
    if constexpr (ENGINE == kStore) {
      *reinterpret_cast<uint4*>(p) = make_uint4(rank, rank, rank, rank);
    } else if constexpr (ENGINE == kLdgsts) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smemAddr(smem) + slot * kChunk + threadIdx.x * 16),
                   "l"(p) : "memory");
      slot = (slot + 1) % 8;
    } else {
      uint4 v = loadCg(reinterpret_cast<uint4*>(p));
      acc.x ^= v.x; acc.y ^= v.y; acc.z ^= v.z; acc.w ^= v.w;
    }
  };
  auto run = [&](int steps) {
    for (int i = 0; i < steps; i += 4) {
      if constexpr (ENGINE == kLdg) {
        uint4 v[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) v[j] = loadCg(reinterpret_cast<uint4*>(a.data + w.next() * kChunk + threadIdx.x * 16));
#pragma unroll
        for (int j = 0; j < 4; ++j) { acc.x ^= v[j].x; acc.y ^= v[j].y; acc.z ^= v[j].z; acc.w ^= v[j].w; }
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j) step();
        if constexpr (ENGINE == kLdgsts) asm volatile("cp.async.commit_group; cp.async.wait_group 1;" ::: "memory");
      }
    }
    if constexpr (ENGINE == kLdgsts) asm volatile("cp.async.wait_all;" ::: "memory");
    if constexpr (ENGINE == kStore) __threadfence();
  };
  run(a.warmSteps);
  groupBarrier(a.group, 0);
  Stamp s;
  stampBegin(s);
  run(a.steps);
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) a.stamps[smId()] = s;
  sink(acc, a.never, a.stamps);
}

// Three producer warps, each with one thread and a ring of two 16 KiB stages: 96 KiB in flight, less than
// the smallest set, so that a line is never requested twice at a time by one SM.
template <int ENGINE>
__global__ void __launch_bounds__(kWarps * 32, 1) copyKernel(Args a, const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(1024) char smem[];
  __shared__ __align__(8) uint64_t bars[kWarps * kStages];
  int rank = enterGroup(a.group);
  if (rank < 0) return;
  const int warp = threadIdx.x / 32;
  const bool lead = threadIdx.x % 32 == 0;
  if (lead) {
    for (int s = 0; s < kStages; ++s) mbarInit(smemAddr(&bars[warp * kStages + s]), 1);
    mbarFence();
  }
  Walker w(a, rank);
  for (int i = 0; i < warp; ++i) w.next();
  uint32_t base = (smemAddr(smem) + 1023) / 1024 * 1024 + warp * kStages * kChunk;
  int issued = 0;  // by this warp, over both runs
  auto issue = [&](int stage, uint32_t bar) {
    size_t c = w.next();
    for (int i = 1; i < kWarps; ++i) w.next();
    if constexpr (ENGINE == kBulkStore) {
      bulkStore(a.data + c * kChunk, base + stage * kChunk, kChunk);
    } else {
      mbarExpect(bar, kChunk);
      if constexpr (ENGINE == kBulk) bulkLoad(base + stage * kChunk, a.data + c * kChunk, kChunk, bar);
      if constexpr (ENGINE == kTile) tensorLoad2D(base + stage * kChunk, &map, 0, int(c) * kPitchRows, bar);
      if constexpr (ENGINE == kTilePitch)
        tensorLoad2D(base + stage * kChunk, &map, int(c % 64) * 64, int(c / 64) * kPitchRows, bar);
    }
  };
  auto run = [&](int steps) {
    if (!lead) return;
    int n = steps / kWarps, end = issued + n;
    if constexpr (ENGINE == kBulkStore) {
      for (; issued < end; ++issued) {
        issue(issued % kStages, 0);
        bulkStoreWaitRead<kStages - 1>();
      }
      bulkStoreWait<0>();
    } else {
      // A stage is awaited just before it is filled again, and all of them at the end.
      int first = issued;
      for (; issued < end + kStages; ++issued) {
        int stage = issued % kStages;
        uint32_t bar = smemAddr(&bars[warp * kStages + stage]);
        if (issued - first >= kStages) mbarWait(bar, ((issued / kStages) - 1) & 1);
        if (issued < end) issue(stage, bar);
      }
      issued = end;
    }
  };
  run(a.warmSteps);
  groupBarrier(a.group, 0);
  Stamp s;
  stampBegin(s);
  run(a.steps);
  __syncthreads();
  stampEnd(s);
  if (threadIdx.x == 0) a.stamps[smId()] = s;
}

struct Bench {
  Options o;
  Report report;
  GroupStore groups;
  Buffer<Stamp> stamps;
  Buffer<char> data;
  explicit Bench(const Options& opt)
      : o(opt), report(opt, "l2_bandwidth"), stamps(smCount()), data(size_t(512) * MiB) {}

  // setBytes: private and rotate: bytes of one SM's region; shared and skewed: of the whole set.
  void point(const std::string& series, double x, const char* unit, const std::vector<int>& smids, Engine e, Set set,
             size_t setBytes, size_t perSm, bool perSmRows = false) {
    Args a{};
    a.set = set;
    a.chunks = std::max<int>(4, int(setBytes / kChunk));
    a.data = data.p;
    a.stamps = stamps.p;
    // Whole laps of every stage of every ring keep the barrier phases simple, and threadKernel takes four at a time.
    auto whole = [](size_t n) { return int(std::max<size_t>(1, (n + 11) / 12) * 12); };
    a.warmSteps = whole(size_t(a.chunks) * (set == kRotate ? smids.size() : 1));
    a.steps = std::max(whole(perSm / kChunk), a.warmSteps);
    if (set == kRotate) a.steps = whole(size_t(a.chunks) * smids.size() * 2);
    CUtensorMap map{};
    if (e == kTile) map = tensorMap2D(data.p, 64, data.n / 128, 128, 64, kPitchRows, true);
    if (e == kTilePitch) map = tensorMap2D(data.p, kPitchBytes / 2, data.n / kPitchBytes, kPitchBytes, 64, kPitchRows, true);
    std::vector<double> v, sum, clk;
    std::map<int, std::vector<double>> perSmValue;
    for (int rep = 0; rep < o.reps + 1; ++rep) {
      a.group = groups.use(smids);
      stamps.zero();
      const int n = smCount();
      auto launch = [&](auto kernel, int threads, auto... more) {
        allowSmem(kernel, kSmem);
        kernel<<<n, threads, kSmem>>>(a, more...);
      };
      switch (e) {
        case kLdg: launch(threadKernel<kLdg>, kThreads); break;
        case kLdgsts: launch(threadKernel<kLdgsts>, kThreads); break;
        case kStore: launch(threadKernel<kStore>, kThreads); break;
        case kBulk: launch(copyKernel<kBulk>, kWarps * 32, map); break;
        case kTile: launch(copyKernel<kTile>, kWarps * 32, map); break;
        case kTilePitch: launch(copyKernel<kTilePitch>, kWarps * 32, map); break;
        case kBulkStore: launch(copyKernel<kBulkStore>, kWarps * 32, map); break;
      }
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      if (rep == 0) continue;  // warm-up
      auto st = stamps.host();
      Span s = spanOf(st);
      double bytes = double(a.steps) * kChunk;
      v.push_back(bytes * double(smids.size()) / s.cycles);
      clk.push_back(s.clockMHz);
      double total = 0;
      for (int sm : smids) {
        double rate = bytes / double(st[sm].c1 - st[sm].c0);
        perSmValue[sm].push_back(rate);
        total += rate;
      }
      sum.push_back(total);
    }
    report.add(std::string(kEngineName[e]) + "_" + kSetName[set] + "_" + series, x, unit, v, "B/clk", median(clk));
    // The value above is set by the slowest SM; the sum of all rates shows what the level below delivered.
    report.add(std::string(kEngineName[e]) + "_" + kSetName[set] + "_" + series + "_sum_of_rates", x, unit, sum, "B/clk", median(clk));
    if (perSmRows)
      for (auto& [sm, s] : perSmValue)
        report.add(std::string(kEngineName[e]) + "_" + kSetName[set] + "_per_sm", sm, "smid", s, "B/clk", median(clk));
  }
};

int main(int argc, char** argv) {
  Bench b(parse(argc, argv));
  Topology t = discoverTopology();
  std::vector<int> all(t.sms);
  std::iota(all.begin(), all.end(), 0);
  const auto& g0 = t.members[0];  // holds SM 0
  std::vector<int> onePerTpc, onePerGpc, tpcPerGpc, twoGpcs = g0, halfAll;
  for (int sm : g0) if (sm % 2 == 0) onePerTpc.push_back(sm);
  for (auto& m : t.members) {
    onePerGpc.push_back(m[0]);
    for (int sm : m) if (sm / 2 == m[0] / 2) tpcPerGpc.push_back(sm);
  }
  twoGpcs.insert(twoGpcs.end(), t.members[1].begin(), t.members[1].end());
  for (int sm : all) if (sm % 2 == 0) halfAll.push_back(sm);
  struct Named { const char* name; std::vector<int> smids; };
  std::vector<int> twoOther;
  for (int sm : g0) if (sm / 2 != g0[0] / 2) { twoOther = {g0[0], sm}; break; }
  const Named groups[] = {{"sm", {g0[0]}}, {"tpc", {g0[0], g0[0] + 1}}, {"two_tpcs_of_gpc", twoOther},
                          {"two_sms_of_two_gpcs", {t.members[0][0], t.members[1][0]}},
                          {"sm_per_tpc_of_gpc", onePerTpc}, {"gpc", g0}, {"sm_per_gpc", onePerGpc},
                          {"tpc_per_gpc", tpcPerGpc}, {"two_gpcs", twoGpcs}, {"sm_per_tpc", halfAll}, {"all", all}};
  const size_t perSm = 4 * MiB;
  for (Engine e : {kLdg, kLdgsts, kBulk, kTile, kTilePitch, kStore, kBulkStore})
    for (const Named& g : groups)
      for (Set set : {kPrivate, kShared, kSkewed}) {
        bool write = e == kStore || e == kBulkStore;
        if (write && set != kPrivate) continue;
        size_t bytes = set == kPrivate ? 128 * KiB : 12 * MiB;
        if (set != kPrivate && g.smids.size() == 1) continue;
        bool rows = set == kPrivate && g.smids.size() == all.size() && (e == kLdg || e == kBulk || e == kStore);
        b.point(g.name, double(g.smids.size()), "SM", g.smids, e, set, bytes, set == kPrivate ? perSm : bytes, rows);
      }
  // Growth inside one GPC, and six SMs of one CPC (every third TPC) against six of three CPCs; one side of the L2.
  const auto& g1 = *std::max_element(t.members.begin(), t.members.end(), [](auto& x, auto& y) { return x.size() < y.size(); });
  std::vector<int> side0, side1, sides = discoverSides(t);
  for (int g = 0; g < t.gpcs; ++g) {
    auto& s = sides[g] ? side1 : side0;
    s.insert(s.end(), t.members[g].begin(), t.members[g].end());
  }
  for (Engine e : {kLdg, kBulk, kStore}) {
    for (size_t n : {1, 2, 4, 6, 8, 10, 12, 14, 16, 18})
      if (n <= g1.size()) b.point("in_gpc", double(n), "SM", {g1.begin(), g1.begin() + n}, e, kPrivate, 128 * KiB, perSm);
    b.point("one_cpc", 6, "SM", {g1[0], g1[1], g1[6], g1[7], g1[12], g1[13]}, e, kPrivate, 128 * KiB, perSm);
    b.point("three_cpcs", 6, "SM", {g1[0], g1[1], g1[2], g1[3], g1[4], g1[5]}, e, kPrivate, 128 * KiB, perSm);
    b.point("side0", double(side0.size()), "SM", side0, e, kPrivate, 128 * KiB, perSm);
    b.point("side1", double(side1.size()), "SM", side1, e, kPrivate, 128 * KiB, perSm);
  }
  b.point("side0", double(side0.size()), "SM", side0, kBulk, kShared, 12 * MiB, 12 * MiB);
  b.point("side0", double(side0.size()), "SM", side0, kBulk, kSkewed, 12 * MiB, 12 * MiB);
  // Every GPC on its own: they differ in their number of SMs.
  for (int g = 0; g < t.gpcs; ++g) {
    b.point("each_gpc", g, "gpc", t.members[g], kLdg, kPrivate, 128 * KiB, perSm);
    b.point("each_gpc", g, "gpc", t.members[g], kBulk, kPrivate, 128 * KiB, perSm);
    b.point("each_gpc", g, "gpc", t.members[g], kStore, kPrivate, 128 * KiB, perSm);
  }
  for (int n : {2, 4, 8, 16, 24, 32, 48, 64, 96, 128}) {
    std::vector<int> s;
    for (int i = 0; i < n; ++i) s.push_back(int(int64_t(i) * t.sms / n));
    b.point("spread", n, "SM", s, kBulk, kPrivate, 128 * KiB, perSm);
    b.point("spread", n, "SM", s, kLdg, kPrivate, 128 * KiB, perSm);
  }
  // Footprint of one SM alone and of one GPC with a private set per SM, KiB of the set.
  for (int kib : {64, 128, 256, 512, 1024, 4096, 8192, 16384, 20480, 24576, 28672, 32768, 49152, 65536, 131072})
    for (Engine e : {kLdg, kBulk}) {
      b.point("sm_footprint", kib, "KiB", {g0[0]}, e, kPrivate, kib * KiB, std::max<size_t>(perSm, kib * KiB));
      size_t each = kib * KiB / g0.size() / kChunk * kChunk;
      if (kib >= 4096) b.point("gpc_footprint", kib, "KiB", g0, e, kPrivate, each, std::max(perSm, 2 * each));
    }
  // Footprint of all SMs: total MiB of the set.
  for (int mib : {4, 8, 12, 16, 20, 22, 24, 26, 28, 30, 32, 34, 36, 40, 44, 48, 52, 56, 64, 80, 96, 128, 256}) {
    size_t bytes = size_t(mib) * MiB;
    for (Engine e : {kLdg, kBulk}) {
      b.point("footprint", mib, "MiB", all, e, kPrivate, bytes / t.sms / kChunk * kChunk, 4 * bytes / t.sms);
      if (mib <= 64) b.point("footprint", mib, "MiB", all, e, kShared, bytes, bytes);
      if (mib <= 64) b.point("footprint", mib, "MiB", all, e, kSkewed, bytes, bytes);
      if (mib <= 128) b.point("footprint", mib, "MiB", all, e, kRotate, bytes / t.sms / kChunk * kChunk, 0);
    }
    b.point("footprint", mib, "MiB", all, kStore, kPrivate, bytes / t.sms / kChunk * kChunk, 4 * bytes / t.sms);
  }
  return 0;
}

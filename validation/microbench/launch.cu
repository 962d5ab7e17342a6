// How fast do CTAs start, what lies between the end of one CTA and the start of the next on its SM,
// how long does an empty kernel take, and what do clusters add?
#include "ptx.cuh"

using namespace bench;

struct Cta {
  unsigned long long c0, c1, t0;
  unsigned smid, pad;
};

__global__ void tiny(Cta* out, int work) {
  uint64_t c0 = clockNow(), t0 = nanosNow();
  while (work && clockNow() - c0 < unsigned(work)) {}
  if (threadIdx.x == 0) {
    unsigned cta = blockIdx.x;
    out[cta] = Cta{c0, clockNow(), t0, smId(), 0};
  }
}
// Stores at its start only, so that nothing is outstanding when it ends.
__global__ void quiet(Cta* out, int work) {
  uint64_t c0 = clockNow();
  if (threadIdx.x == 0) out[blockIdx.x] = Cta{c0, c0, 0, smId(), 0};
  while (clockNow() - c0 < unsigned(work)) {}
}
__global__ void empty() {}
__global__ void ends(unsigned long long* t) {
  unsigned long long now = nanosNow();
  if (threadIdx.x == 0) {
    atomicMin(&t[0], now);
    atomicMax(&t[1], nanosNow());
  }
}

struct Bench {
  Options o;
  Report r;
  explicit Bench(const Options& opt) : o(opt), r(opt, "launch") {}

  void ctas(const std::string& name, int grid, int threads, int smem, int cluster, int work) {
    Buffer<Cta> out(grid);
    allowSmem(tiny, smem);
    std::vector<double> rate, span, gap, busy, startRate;
    double mhz = spinClockMHz();
    for (int rep = 0; rep < o.reps + 1; ++rep) {
      if (cluster > 1) launchCluster(tiny, grid, threads, smem, cluster, out.p, work);
      else tiny<<<grid, threads, smem>>>(out.p, work);
      CHECK(cudaGetLastError());
      CHECK(cudaDeviceSynchronize());
      if (rep == 0) continue;
      auto v = out.host();
      unsigned long long first = ~0ull, last = 0;
      std::vector<std::vector<Cta>> bySm(smCount());
      for (auto& c : v) {
        first = std::min(first, c.t0);
        last = std::max(last, c.t0);
        bySm[c.smid].push_back(c);
      }
      span.push_back(double(last - first));
      rate.push_back(double(grid) / (double(last - first) * mhz * 1e-3));
      std::vector<double> gaps, busyClk, starts;
      for (auto& l : bySm) {
        std::sort(l.begin(), l.end(), [](const Cta& a, const Cta& b) { return a.c0 < b.c0; });
        for (size_t i = 1; i < l.size(); ++i) {
          gaps.push_back(double(l[i].c0) - double(l[i - 1].c1));
          starts.push_back(double(l[i].c0 - l[i - 1].c0));
        }
        for (auto& c : l) busyClk.push_back(double(c.c1 - c.c0));
      }
      gap.push_back(median(gaps));
      startRate.push_back(median(starts));
      busy.push_back(median(busyClk));
    }
    r.add(name + "_rate", threads, "threads", rate, "CTA/clk", mhz);
    r.add(name + "_first_to_last_start", threads, "threads", span, "ns", mhz);
    r.add(name + "_end_to_next_start", threads, "threads", gap, "clk", mhz);
    r.add(name + "_start_to_start_on_sm", threads, "threads", startRate, "clk", mhz);
    r.add(name + "_cta_duration", threads, "threads", busy, "clk", mhz);
  }
};

int main(int argc, char** argv) {
  Bench b(parse(argc, argv));
  const int sms = smCount();
  if (b.o.has("--empties")) {  // for counters: one launch each
    for (int grid : {1, 1, 2, 132, 264, 528, 1320, 13200})
      for (int threads : {32, 128, 1024}) {
        empty<<<grid, threads>>>();
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        b.r.add("empty_" + std::to_string(threads) + "_threads", grid, "CTA", {0}, "none", 1);
      }
    return 0;
  }
  for (int threads : {32, 128, 256, 384, 512, 1024}) {
    b.ctas("tiny_10k", 10560, threads, 0, 1, 0);
    b.ctas("one_per_sm_10k", 10560, threads, kWholeSm, 1, 0);
    b.ctas("one_per_sm_long", sms * 8, threads, kWholeSm, 1, 8000);  // wave gap after CTAs of 8000 clk
    b.ctas("first_wave", sms, threads, kWholeSm, 1, 20000);
  }
  // Without a store at the end: start to start on one SM, less the work of 8000 clk.
  for (int threads : {128, 384, 1024})
    for (int smem : {kWholeSm, 120 * 1024}) {
      Buffer<Cta> out(sms * 8);
      std::vector<double> gap;
      allowSmem(quiet, smem);
      for (int rep = 0; rep < b.o.reps; ++rep) {
        quiet<<<sms * 8, threads, smem>>>(out.p, 8000);
        CHECK(cudaGetLastError());
        auto v = out.host();
        std::vector<std::vector<double>> by(sms);
        for (auto& c : v) by[c.smid].push_back(double(c.c0));
        for (auto& l : by) {
          std::sort(l.begin(), l.end());
          for (size_t i = 1; i < l.size(); ++i) gap.push_back(l[i] - l[i - 1] - 8000);
        }
      }
      b.r.add("quiet_gap_smem" + std::to_string(smem / 1024) + "k", threads, "threads", gap, "clk");
    }
  for (int smem : {0, 64 * 1024, 100 * 1024}) b.ctas("smem" + std::to_string(smem / 1024) + "k_long", sms * 16, 128, smem, 1, 8000);
  for (int cluster : {2, 4, 8, 16}) {
    b.ctas("cluster" + std::to_string(cluster) + "_tiny", 10560 / 16 * 16, 128, 0, cluster, 0);
    b.ctas("cluster" + std::to_string(cluster) + "_one_per_sm", 2640 / 16 * 16, 384, kWholeSm, cluster, 0);
    b.ctas("cluster" + std::to_string(cluster) + "_one_per_sm_long", 1056, 384, kWholeSm, cluster, 8000);
  }

  // Empty kernels: host view, back to back in a stream and in a graph.
  cudaEvent_t e0, e1;
  CHECK(cudaEventCreate(&e0));
  CHECK(cudaEventCreate(&e1));
  cudaStream_t st;
  CHECK(cudaStreamCreate(&st));
  for (int grid : {1, 132, 528, 1320, 13200}) {
    const int n = 200;
    std::vector<double> stream, graphNs, single;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < n; ++i) empty<<<grid, 128, 0, st>>>();
    CHECK(cudaStreamEndCapture(st, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int rep = 0; rep < b.o.reps + 1; ++rep) {
      float ms = 0;
      CHECK(cudaEventRecord(e0, st));
      for (int i = 0; i < n; ++i) empty<<<grid, 128, 0, st>>>();
      CHECK(cudaEventRecord(e1, st));
      CHECK(cudaStreamSynchronize(st));
      CHECK(cudaEventElapsedTime(&ms, e0, e1));
      if (rep) stream.push_back(1e6 * ms / n);
      CHECK(cudaEventRecord(e0, st));
      CHECK(cudaGraphLaunch(exec, st));
      CHECK(cudaEventRecord(e1, st));
      CHECK(cudaStreamSynchronize(st));
      CHECK(cudaEventElapsedTime(&ms, e0, e1));
      if (rep) graphNs.push_back(1e6 * ms / n);
      CHECK(cudaEventRecord(e0, st));
      empty<<<grid, 128, 0, st>>>();
      CHECK(cudaEventRecord(e1, st));
      CHECK(cudaStreamSynchronize(st));
      CHECK(cudaEventElapsedTime(&ms, e0, e1));
      if (rep) single.push_back(1e6 * ms);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    b.r.add("empty_in_stream", grid, "CTA", stream, "ns");
    b.r.add("empty_in_graph", grid, "CTA", graphNs, "ns");
    b.r.add("empty_between_events", grid, "CTA", single, "ns");
  }
  // Device view: last CTA of one kernel to the first CTA of the next, in a graph of 32 nodes.
  for (int grid : {1, 132, 1320}) {
    const int n = 32;
    Buffer<unsigned long long> t(2 * n);
    std::vector<unsigned long long> init(2 * n, 0);
    for (int i = 0; i < n; ++i) init[2 * i] = ~0ull;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < n; ++i) ends<<<grid, 128, 0, st>>>(t.p + 2 * i);
    CHECK(cudaStreamEndCapture(st, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    std::vector<double> gap, width;
    for (int rep = 0; rep < b.o.reps; ++rep) {
      t.set(init);
      CHECK(cudaGraphLaunch(exec, st));
      CHECK(cudaStreamSynchronize(st));
      auto v = t.host();
      for (int i = 1; i < n; ++i) {
        gap.push_back(double(v[2 * i]) - double(v[2 * i - 1]));
        width.push_back(double(v[2 * i + 1] - v[2 * i]));
      }
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    b.r.add("graph_node_gap", grid, "CTA", gap, "ns");
    b.r.add("graph_node_first_to_last", grid, "CTA", width, "ns");
  }
  return 0;
}

// On which side of the L2 does an SM sit, where is each address at home, and when is a near copy of a far line made?
// Single loads are issued in a global order by chosen SMs, and the latency of each one is kept.
// A line is fresh (L2 flushed), then touched by SM a, then by SM b: b is slow where the line lives only on a's side.
#include "touch_script.cuh"

using namespace bench;

int main(int argc, char** argv) {
  Options o = parse(argc, argv);
  Report r(o, "l2_partition");
  Topology t = discoverTopology();
  Runner run;
  const int a = 0;
  const unsigned spread = 4096 / 128 * 3 + 1;  // 12 KiB + 128 B: both sides and all slices
  double mhz = spinClockMHz();
  auto column = [](const std::vector<unsigned short>& l, unsigned first, unsigned n, unsigned step) {
    std::vector<double> v;
    for (unsigned i = 0; i < n; ++i) v.push_back(l[first + i * step]);
    return v;
  };

  // 1. SM a touches fresh lines six times: does the second touch of a far line cost less than the first hit?
  for (int rep = 0; rep < 2; ++rep) {
    unsigned f = run.add(a, 0, 6, 1024, spread);
    auto l = run.run(true);
    for (unsigned k = 0; k < 6; ++k)
      r.add("same_sm_touch_" + std::to_string(rep), k + 1, "touch", column(l, f + k, 1024, 6), "clk", mhz);
  }

  // 2. Side of every SM: a touches 64 fresh lines once, then SM b touches each of them three times.
  const unsigned per = 64;
  std::vector<std::vector<double>> byFirst(t.sms), bySecond(t.sms), byThird(t.sms);
  std::vector<double> pool;
  for (int b = 0; b < t.sms; ++b) {
    if (b == a) continue;
    unsigned line = 5 + b * 2;
    unsigned fa = run.add(a, line, 1, per, spread * 5), fb = run.add(b, line, 3, per, spread * 5);
    (void)fa;
    auto l = run.run(true);
    byFirst[b] = column(l, fb, per, 3);
    bySecond[b] = column(l, fb + 1, per, 3);
    byThird[b] = column(l, fb + 2, per, 3);
    pool.insert(pool.end(), byFirst[b].begin(), byFirst[b].end());
  }
  double cut = splitPoint(pool);
  r.add("near_far_cut", 0, "none", {cut}, "clk", mhz);
  std::vector<int> opposite;
  for (int b = 0; b < t.sms; ++b) {
    if (b == a) continue;
    double far = 0;
    for (double x : byFirst[b]) far += cut > 0 && x > cut;
    r.add("touch1_after_sm0", b, "smid", byFirst[b], "clk", mhz);
    r.add("touch2_after_sm0", b, "smid", bySecond[b], "clk", mhz);
    r.add("touch3_after_sm0", b, "smid", byThird[b], "clk", mhz);
    r.add("far_fraction_after_sm0", b, "smid", {far / per}, "fraction", mhz);
    std::vector<double> sorted = byFirst[b];
    std::sort(sorted.begin(), sorted.end());
    r.add("touch1_p25_after_sm0", b, "smid", {sorted[per / 4]}, "clk", mhz);
    r.add("touch1_p75_after_sm0", b, "smid", {sorted[per * 3 / 4]}, "clk", mhz);
    if (far / per > 0.25) opposite.push_back(b);
  }
  int b = -1;
  for (int sm : opposite)
    if (b < 0 || byFirst[sm] > byFirst[b]) b = sm;
  if (b < 0) b = t.sms - 1;
  r.add("partner_sm", 0, "none", {double(b)}, "smid", mhz);

  // 3. Policy between sides: a1 b1 b2 b3 a2 a3 on fresh lines; keep every sequence, so that classes can be told apart.
  {
    const unsigned n = 512;
    unsigned f[6];
    const int who[6] = {a, b, b, b, a, a};
    for (int k = 0; k < 6; ++k) f[k] = run.add(who[k], 7, 1, n, spread);
    auto l = run.run(true);
    const char* name[6] = {"a1", "b1", "b2", "b3", "a2", "a3"};
    for (int k = 0; k < 6; ++k) {
      r.add(std::string("sequence_") + name[k], 0, "all", column(l, f[k], n, 1), "clk", mhz);
      for (unsigned i = 0; i < n; ++i)
        r.add(std::string("sequence_raw_") + name[k], i, "line", {double(l[f[k] + i])}, "clk", mhz);
    }
  }

  // 3b. What a write does to the copies: a1 b1 (both sides hold it), then a or b writes, then both read.
  for (int writer : {0, 1}) {
    const unsigned n = 256, first = 100000 + writer * 31;
    const std::string w = writer ? "b_writes_" : "a_writes_";
    run.add(a, first, 1, n, 1945);
    run.add(b, first, 1, n, 1945);
    unsigned st = run.add(writer ? b : a, first, 1, n, 1945, 1);
    unsigned f[4];
    const int who[4] = {a, b, a, b};
    for (int k = 0; k < 4; ++k) f[k] = run.add(who[k], first, 1, n, 1945);
    auto l = run.run(true);
    r.add("write_" + w + "store_and_fence", 0, "all", column(l, st, n, 1), "clk", mhz);
    const char* name[4] = {"a2", "b2", "a3", "b3"};
    for (int k = 0; k < 4; ++k) {
      auto v = column(l, f[k], n, 1);
      double far = 0;
      for (double x : v) far += x > 365;
      r.add("write_" + w + "then_" + name[k], 0, "all", v, "clk", mhz);
      r.add("write_" + w + "then_" + name[k] + "_far", 0, "all", {far / n}, "fraction", mhz);
    }
  }

  // 4. Home side by address: a1 a2 b1 b2 on every line of 64 KiB, and on one line per 4 KiB over 16 MiB.
  struct Sweep { const char* name; unsigned first, n, stride; };
  for (Sweep s : {Sweep{"line", 0, 512, 1}, Sweep{"block4k", 8192, 4096, 32}}) {
    unsigned a1 = run.add(a, s.first, 1, s.n, s.stride), a2 = run.add(a, s.first, 1, s.n, s.stride);
    unsigned b1 = run.add(b, s.first, 1, s.n, s.stride), b2 = run.add(b, s.first, 1, s.n, s.stride);
    auto l = run.run(true);
    const unsigned f[4] = {a1, a2, b1, b2};
    const char* name[4] = {"a1", "a2", "b1", "b2"};
    for (int k = 0; k < 4; ++k)
      for (unsigned i = 0; i < s.n; ++i)
        r.add(std::string("home_by_") + s.name + "_" + name[k], double(s.first + i * s.stride) * 128, "B",
              {double(l[f[k] + i])}, "clk", mhz);
  }

  // 5. Steady latency of every SM to 256 lines (third touch and later): distance of SM and slice.
  for (int sm = 0; sm < t.sms; ++sm) {
    unsigned f = run.add(sm, 11, 5, 256, spread);
    auto l = run.run(false);
    auto v = column(l, f + 4, 256, 5);
    r.add("steady_by_sm", sm, "smid", v, "clk", mhz);
    if (sm % 11 == 0)
      for (unsigned i = 0; i < 256; ++i) r.add("steady_raw_sm" + std::to_string(sm), i, "line", {v[i]}, "clk", mhz);
  }

  return 0;
}

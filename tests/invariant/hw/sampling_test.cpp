// A sampled launch agrees with the whole one.
#include <catch2/catch.hpp>

#include "sim/app/gpu_option.hpp"
#include "tests/invariant/hw/runs.hpp"
#include "workloads/kernels/catalogue.hpp"
#include "workloads/library/resolve.hpp"

using namespace strata;
using namespace strata::test;

namespace {

void check_agrees(const char* kernel, const KernelOptions& options, double clock_mhz = kClockMhz) {
  for (const KernelSpec& spec : kernel_catalogue()) {
    if (std::string_view(spec.name) != kernel) continue;
    const BuiltKernel built = spec.make(options, app::target_facts(h100()));
    SimulationOptions how{clock_mhz, {}};
    const Result whole = simulate(h100(), *built.source, how);
    how.sample = true;
    const Result sampled = simulate(h100(), *built.source, how);
    INFO(kernel);
    REQUIRE(10 * sampled.events < 7 * whole.events);
    CHECK(sampled.sm_cycles == Approx(whole.sm_cycles).epsilon(0.03));
    CHECK(count(sampled, Counter::kWarpInsts) == Approx(count(whole, Counter::kWarpInsts)).epsilon(0.01));
    CHECK(sampled.dram_read_bytes() == Approx(whole.dram_read_bytes()).epsilon(0.05));
    CHECK(sampled.dram_write_bytes() == Approx(whole.dram_write_bytes()).epsilon(0.02).margin(1e6));
    double stack = 0;
    for (const double part : sampled.cycle_stack) stack += part;
    CHECK(stack == Approx(sampled.sm_cycles).epsilon(0.001));
  }
}

}  // namespace

TEST_CASE("Sampling: plain grids, persistent products and attention agree with whole runs", "[invariant][sampling]") {
  check_agrees("elementwise", {{"rows", "8192"}, {"cols", "8192"}, {"inputs", "1"}, {"dtype", "bf16"}});
  // At the clock that the power limit leaves to products: faster, its CTAs drift apart over the whole launch (ADR
  // 0004).
  check_agrees("gemm", {{"m", "8192"}, {"n", "16384"}, {"k", "1024"}}, 1500);
  check_agrees("flash_attention", {{"batch", "8"}, {"heads", "32"}, {"q-len", "1"}, {"kv-len", "16384"}});
  check_agrees("flash_attention", {{"heads", "160"}, {"q-len", "2048"}, {"kv-len", "2048"}, {"head-dim", "128"}});
}

TEST_CASE("Sampling: operands are read whole, also where CTAs copy several products ahead", "[invariant][sampling]") {
  LaunchRow row;
  row.op = "gemm";
  row.dtype = "bf16";
  row.shape = "8000,64,64,64,TN";  // a shortened run shows 43 % of its time and 31 % of its reads for 20,000
  row.kernel = "nvjet_sm90_tst_64x64_64x13_1x1_v_bz_TNT";
  const BuiltKernel built = resolve_launch(row, app::target_facts(h100()));
  SimulationOptions how{kClockMhz, {}};
  how.sample = true;
  const Result r = simulate(h100(), *built.source, how);
  CHECK(r.dram_read_bytes() >= 0.97 * r.work.compulsory_read_bytes);
}

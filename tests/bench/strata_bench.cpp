/// How fast the simulator is: host seconds, simulated cycles and warp instructions per host second, peak memory.
///
/// Each kernel runs in a process of its own, so that its peak memory is its own. One thread.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "models/hw/system/sampling.hpp"
#include "models/hw/system/simulator.hpp"
#include "sim/app/gpu_option.hpp"
#include "sim/base/error.hpp"
#include "sim/base/huge_pages.hpp"
#include "workloads/kernels/catalogue.hpp"

namespace {

struct Case {
  const char* name;
  const char* kernel;
  strata::KernelOptions options;
};

const std::array<Case, 4>& cases() {
  static const std::array<Case, 4> kCases{{
      {"GEMM 4096^3 bf16", "gemm", {{"m", "4096"}, {"n", "4096"}, {"k", "4096"}, {"dtype", "bf16"}}},
      {"GEMM 8192^3 bf16", "gemm", {{"m", "8192"}, {"n", "8192"}, {"k", "8192"}, {"dtype", "bf16"}}},
      {"FlashAttention 16 x 16384 x 128 bf16",
       "flash_attention",
       {{"batch", "1"},
        {"heads", "16"},
        {"q-len", "16384"},
        {"kv-len", "16384"},
        {"head-dim", "128"},
        {"dtype", "bf16"}}},
      {"elementwise 8192 x 8192, 2 inputs",
       "elementwise",
       {{"rows", "8192"}, {"cols", "8192"}, {"inputs", "2"}, {"dtype", "bf16"}}},
  }};
  return kCases;
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr double kKibPerMib = 1024;
  return static_cast<double>(usage.ru_maxrss) / kKibPerMib;
}

void time_run(const std::string& name, const strata::GpuConfig& gpu, const strata::TraceSource& source, bool sample) {
  strata::SimulationOptions options;
  options.sample = sample;
  const strata::Result result = strata::simulate(gpu, source, options);
  const double seconds = result.host_seconds;
  constexpr double kMega = 1e6;
  fmt::print("{:<46} {:>8.3f} {:>12.0f} {:>12.2f} {:>14.1f} {:>14.2f} {:>10.0f}\n", name, seconds, result.sm_cycles,
             result.sm_cycles / seconds / kMega,
             static_cast<double>(result.counters[strata::Counter::kWarpInsts]) / seconds / kMega,
             static_cast<double>(result.events) / seconds / kMega, peak_mib());
}

void run_case(const Case& c, const strata::GpuConfig& gpu) {
  for (const strata::KernelSpec& spec : strata::kernel_catalogue()) {
    if (std::string_view(spec.name) != c.kernel) {
      continue;
    }
    const strata::BuiltKernel kernel = spec.make(c.options, strata::app::target_facts(gpu));
    if (strata::plan_sampling(gpu, *kernel.source)) {
      time_run(fmt::format("{}, sampled", c.name), gpu, *kernel.source, true);
    }
    time_run(c.name, gpu, *kernel.source, false);
    return;
  }
  fmt::print("{:<46} no kernel of this name\n", c.name);
}

}  // namespace

int main(int argc, char** argv) {
  strata::prefer_huge_pages();
  try {
    strata::app::GpuChoice choice;
    if (argc > 1) {
      choice.gpu = argv[1];
    }
    const strata::GpuConfig gpu = strata::app::load_gpu(choice).config;
    fmt::print("{}, one thread\n{:<46} {:>8} {:>12} {:>12} {:>14} {:>14} {:>10}\n", gpu.chip.name, "kernel", "host s",
               "SM cycles", "Mcycles/s", "M warp inst/s", "M events/s", "peak MiB");
    for (const Case& c : cases()) {
      std::fflush(stdout);
      const pid_t child = fork();
      if (child < 0) {
        throw std::runtime_error("fork failed");
      }
      if (child == 0) {
        run_case(c, gpu);
        std::fflush(stdout);
        _exit(0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (status != 0) {
        fmt::print("{:<46} failed\n", c.name);
      }
    }
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "strata_bench: error: {}\n", e.what());
    return 2;
  }
}

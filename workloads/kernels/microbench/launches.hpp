/// CTAs that do nothing, or spin: how fast they start and follow one another. validation/microbench/launch.cu.
#pragma once

#include <memory>

#include "workloads/kernels/microbench/program.hpp"

namespace strata::microbench {

struct CtaConfig {
  std::uint32_t ctas = 1;
  std::uint32_t threads = 32;
  std::uint32_t smem_bytes = 0;
  std::uint32_t cluster = 1;
  std::uint32_t work = 0;  ///< clocks between the stamps
  bool store_last = true;  ///< one thread stores 32 bytes before the CTA ends
  std::uint32_t registers = 16;
  std::uint32_t alu_latency = kAluLatency;  ///< of the described GPU: the work ends by the clock
};
/// Each CTA stamps its start and its end.
[[nodiscard]] std::unique_ptr<TraceSource> make_ctas(const CtaConfig& config);
/// A kernel without instructions but its exit.
[[nodiscard]] std::unique_ptr<TraceSource> make_empty(std::uint32_t ctas, std::uint32_t threads);
/// CTAs that wait `clocks`, each `apart` longer than the one before it. validation/microbench/cta_ends.cu.
/// @param alu_latency  of the described GPU
[[nodiscard]] std::unique_ptr<TraceSource> make_waits(std::uint32_t ctas, std::uint32_t threads, std::uint32_t clocks,
                                                      std::uint32_t apart, std::uint32_t alu_latency = kAluLatency);
/// Adds up to two inputs of 16 bytes a thread, or stores a constant. The same program.
[[nodiscard]] std::unique_ptr<TraceSource> make_short_ctas(std::uint32_t inputs, std::uint64_t bytes);

}  // namespace strata::microbench

/// The start of a kernel: first touches of lines and pages, straight-line code, and what one SM loads by threads.
/// validation/microbench/first_touch.cu and cold_start.cu.
#pragma once

#include <memory>

#include "workloads/kernels/microbench/program.hpp"

namespace strata::microbench {

/// One warp per CTA reads `words` words, `stride` bytes apart, one after the other by one thread or all at once.
struct FirstTouchConfig {
  std::uint32_t ctas = 1;
  std::uint32_t words = 1;  ///< at most 32 at once
  std::uint64_t stride = 0;
  std::uint64_t per_cta = 0;  ///< bytes between what neighbouring CTAs read
  bool in_turn = false;
};
[[nodiscard]] std::unique_ptr<TraceSource> make_first_touch(const FirstTouchConfig& config);

/// `kib` KiB of dependent FFMA, executed once by one warp per CTA.
[[nodiscard]] std::unique_ptr<TraceSource> make_straight_code(std::uint32_t kib, std::uint32_t ctas);

/// One CTA walks a set in a tight loop of 16-byte loads.
struct OneSmLoadsConfig {
  std::uint32_t threads = 32;
  std::uint32_t unroll = 1;  ///< loads of a thread before it uses their values
  std::uint32_t bytes = 128 * 1024;
  std::uint32_t laps = 4;
  bool resident = true;  ///< a lap before the clock starts
};
[[nodiscard]] std::unique_ptr<TraceSource> make_one_sm_loads(const OneSmLoadsConfig& config);

}  // namespace strata::microbench

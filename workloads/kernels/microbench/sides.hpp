/// Who else reads the same lines: the request coalescer, the copies between the two sides of the L2 and the fabric
/// between them. validation/microbench/lrc.cu, l2_partition.cu and l2_fabric.cu.
#pragma once

#include <memory>

#include "workloads/kernels/microbench/group.hpp"

namespace strata::microbench {

/// A group reads one stream in the same order, each member `skew` clocks after the one before.
struct InStepConfig {
  Group group;
  bool bulk = false;  ///< bulk copies of 8 KiB, eight in flight; else 512 threads that load four such chunks at a time
  std::uint32_t bytes = 4 << 20;
  std::uint32_t skew = 0;
  std::uint32_t alu_latency = kAluLatency;  ///< of the described GPU: the skew is waited by the clock
  bool cold = false;                        ///< lines no one has touched; else some members read them all beforehand:
  std::vector<int> warms;                   ///< by CTA, 1 for those that do; empty: the group's first member
};
[[nodiscard]] std::unique_ptr<TraceSource> make_in_step(const InStepConfig& config);

/// Some members of a group fill a set from memory; then others read it, each its own slice, once or twice.
struct FabricReadConfig {
  Group group;                   ///< all who do something
  std::vector<int> fills;        ///< by CTA: which slice it fills; -1 = none
  std::vector<int> reads;        ///< by CTA: which slice it reads; -1 = none
  std::uint32_t fill_bytes = 0;  ///< of a filler's slice
  std::uint32_t read_bytes = 0;  ///< of a reader's slice
  bool again = false;            ///< the stamps are around the second read
};
[[nodiscard]] std::unique_ptr<TraceSource> make_fabric(const FabricReadConfig& config);

/// Single loads of lines in a global order: turn t belongs to one CTA, which then touches each of `lines` lines
/// `touches` times, one access at a time, with a stamp before the first touch, between any two and after the last.
struct TouchConfig {
  Group group;
  struct Turn {
    std::uint32_t rank = 0;
    std::uint32_t touches = 1;
    bool store = false;
  };
  std::vector<Turn> turns;
  std::uint32_t lines = 64;
  std::uint32_t stride_lines = 97;  ///< 12 KiB + 128 B: both sides and all slices
};
[[nodiscard]] std::unique_ptr<TraceSource> make_touches(const TouchConfig& config);

}  // namespace strata::microbench

#include "workloads/kernels/ladder_attention_counts.hpp"

#include <fmt/format.h>

#include <array>

#include "sim/base/error.hpp"

namespace strata {
namespace {

using Kernel = LadderAttentionKernel;

struct Entry {
  Kernel kernel;
  std::uint32_t head_dim;
  bool causal;
  bool double_buffered;
  std::uint32_t query_rows;
  LadderLoopCounts counts;
};

// `first` of the tiled kernel: what its first warp does beside the others in every block, one softmax row a lane.
constexpr std::array kEntries{
    Entry{Kernel::kTiled, 32, false, false, 32, {184, 674, 256, 328, 277, 0, 0, 63, 58, 2, 1}},
    Entry{Kernel::kTiled, 64, false, false, 32, {206, 1231, 516, 532, 274, 0, 0, 121, 48, 2, 4}},
    Entry{Kernel::kTiled, 128, false, false, 32, {294, 2149, 1024, 832, 274, 0, 0, 185, 80, 6, 11}},
    Entry{Kernel::kFlash, 32, false, false, 64, {127, 1540, 604, 696, 0, 0, 0, 119, 118, 1, 9}},
    Entry{Kernel::kFlash, 32, true, false, 64, {135, 1560, 604, 696, 0, 0, 0, 126, 120, 1, 9}},
    Entry{Kernel::kFlash, 64, false, false, 64, {161, 2683, 1208, 1208, 0, 0, 0, 126, 128, 4, 9}},
    Entry{Kernel::kFlash, 64, true, false, 64, {164, 2702, 1208, 1208, 0, 0, 0, 132, 128, 3, 8}},
    Entry{Kernel::kFlash, 128, false, false, 64, {203, 5030, 2416, 2280, 0, 0, 0, 147, 168, 1, 7}},
    Entry{Kernel::kFlash, 128, true, false, 64, {205, 5051, 2416, 2280, 0, 0, 0, 154, 168, 2, 8}},
    Entry{Kernel::kFlash, 32, false, true, 64, {127, 1526, 608, 696, 30, 42, 0, 119, 118, 2, 10}},
    Entry{Kernel::kFlash, 32, true, true, 64, {132, 1546, 608, 696, 30, 42, 0, 126, 120, 2, 9}},
    Entry{Kernel::kFlash, 64, false, true, 64, {179, 2646, 1216, 1208, 28, 66, 0, 127, 128, 3, 6}},
    Entry{Kernel::kFlash, 64, true, true, 64, {183, 2656, 1216, 1208, 34, 66, 0, 138, 128, 3, 5}},
    Entry{Kernel::kFlash, 128, false, true, 64, {194, 4987, 2432, 2312, 99, 117, 0, 146, 160, 2, 8}},
    Entry{Kernel::kFlash, 128, true, true, 64, {197, 5008, 2432, 2312, 99, 117, 0, 152, 164, 2, 10}},
    Entry{Kernel::kMma, 32, false, false, 64, {201, 281, 0, 0, 0, 20, 63, 136, 80, 0, 0}},
    Entry{Kernel::kMma, 32, true, false, 64, {197, 268, 0, 0, 0, 21, 79, 131, 96, 0, 0}},
    Entry{Kernel::kMma, 64, false, false, 64, {219, 344, 0, 0, 0, 30, 63, 223, 128, 0, 0}},
    Entry{Kernel::kMma, 64, true, false, 64, {238, 346, 0, 0, 0, 30, 79, 224, 128, 0, 0}},
    Entry{Kernel::kMma, 128, false, false, 64, {292, 509, 0, 0, 0, 56, 67, 399, 168, 0, 0}},
    Entry{Kernel::kMma, 128, true, false, 64, {312, 508, 0, 0, 0, 54, 83, 406, 168, 0, 0}},
    Entry{Kernel::kMma, 32, false, false, 128, {233, 480, 0, 0, 0, 18, 95, 252, 162, 0, 0}},
    Entry{Kernel::kMma, 32, true, false, 128, {239, 480, 0, 0, 0, 18, 143, 248, 163, 0, 0}},
    Entry{Kernel::kMma, 64, false, false, 128, {263, 617, 0, 0, 0, 30, 95, 456, 220, 0, 0}},
    Entry{Kernel::kMma, 64, true, false, 128, {281, 617, 0, 0, 0, 30, 146, 456, 227, 0, 0}},
    Entry{Kernel::kMma, 128, false, false, 128, {339, 561, 0, 0, 0, 30, 50, 818, 246, 0, 0}},
    Entry{Kernel::kMma, 128, true, false, 128, {359, 562, 0, 0, 0, 30, 74, 818, 254, 0, 0}},
    Entry{Kernel::kUnfusedScores, 32, false, false, 64, {120, 316, 0, 0, 0, 0, 0, 95, 45, 2, 0}},
    Entry{Kernel::kUnfusedScores, 64, false, false, 64, {121, 316, 0, 0, 0, 0, 0, 94, 45, 2, 0}},
    Entry{Kernel::kUnfusedScores, 128, false, false, 64, {121, 316, 0, 0, 0, 0, 0, 94, 45, 2, 0}},
    Entry{Kernel::kUnfusedValues, 32, false, false, 64, {109, 203, 0, 0, 0, 0, 0, 34, 43, 2, 1}},
    Entry{Kernel::kUnfusedValues, 64, false, false, 64, {113, 333, 0, 0, 0, 0, 0, 34, 53, 2, 1}},
    Entry{Kernel::kUnfusedValues, 128, false, false, 64, {113, 333, 0, 0, 0, 0, 0, 34, 53, 2, 1}},
};

}  // namespace

const LadderLoopCounts& ladder_loop_counts(const LadderAttentionConfig& c) {
  for (const Entry& e : kEntries) {
    if (e.kernel == c.kernel && e.head_dim == c.shape.head_dim && e.causal == c.shape.causal &&
        e.double_buffered == c.double_buffered && e.query_rows == c.query_rows) {
      return e.counts;
    }
  }
  throw UnsupportedError(fmt::format("the ladder has no such kernel for head dim {}{}, {} query rows", c.shape.head_dim,
                                     c.shape.causal ? " with a causal mask" : "", c.query_rows));
}

}  // namespace strata

/// How much of its issue slots a sub-partition uses when several warps issue beside one another.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace strata {

/// A slot is lost when none of the sub-partition's warps has an instruction ready. Each has none for its gap after an
/// instruction, of which the geometric mean counts, and then waits for its turn: a closed queue before one server,
/// whose use follows from that of a queue with one warp less. The more warps there are, the longer each waits and the
/// less often it is not ready.
class IssueQueue {
 public:
  /// Logarithm of a gap in clk, as an integer: adding and taking away leaves nothing.
  [[nodiscard]] static std::int64_t log_of(double gap) {
    return gap <= 0 ? kAlwaysReady : std::max<std::int64_t>(kAlwaysReady, std::llround(std::log(gap) * kLogScale));
  }

  /// Issue time of `units` among `warps` warps, whose gaps' logarithms add up to `log_gaps`.
  /// A pipe of less than one instruction a clock holds up more: warps that are ready gather at its instructions. It is
  /// busy in a share `pipe` of the slots; of simulated warps with random gaps, the oldest first, up to 19 % are lost.
  [[nodiscard]] std::int64_t with_idle_slots(std::int64_t units, std::int64_t log_gaps, std::int32_t warps,
                                             double pipe) {
    // The few mixes of warps that a kernel has come up over and over.
    const auto mixed =
        (static_cast<std::uint64_t>(log_gaps) + static_cast<std::uint64_t>(units) * kOdd) * 0x9e3779b97f4a7c15ULL +
        static_cast<std::uint64_t>(warps);
    Known& known = known_[(mixed ^ mixed >> 32) % known_.size()];
    if (known.log_gaps != log_gaps || known.units != units || known.warps != warps || known.pipe != pipe) {
      constexpr double kLostAtFullPipe = 0.19;
      const double filled = used(log_gaps, warps);
      const double share = filled * (1 - kLostAtFullPipe * pipe * pipe * pipe * filled);
      known = Known{log_gaps, units, pipe, std::llround(static_cast<double>(units) / share), warps};
    }
    return known.time;
  }

  /// Share of all slots that `older` of `warps` such warps leave to `younger` ones.
  [[nodiscard]] static double left_by(std::int64_t log_gaps, std::int32_t warps, std::int32_t older,
                                      std::int32_t younger) {
    const double gap = std::exp(static_cast<double>(log_gaps) / kLogScale / warps);
    double used = 0;
    double by_older = 0;
    double waiting = 0;
    for (std::int32_t n = 1; n <= older + younger; ++n) {
      used = std::min(1.0, n / (gap + 1 + waiting));
      waiting = used * (1 + waiting);
      if (n == older) {
        by_older = used;
      }
    }
    return used - by_older;
  }

 private:
  static constexpr double kLogScale = 1 << 16;
  static constexpr std::int64_t kAlwaysReady = -std::int64_t{16} << 16;  ///< of a warp that always has an instruction
  static constexpr std::uint64_t kOdd = 0x632be59bd9b4e019ULL;           ///< spreads units over the table

  [[nodiscard]] static double used(std::int64_t log_gaps, std::int32_t warps) {
    constexpr double kAllUsed = 0.997;
    constexpr double kHardlyAny = 1.0 / 16;
    const double gap = std::exp(static_cast<double>(log_gaps) / kLogScale / warps);
    if (warps / (gap + 1) < kHardlyAny) {  // each goes by its own gaps, and the slots between are there for any other
      return 1;
    }
    double used = 0;
    double waiting = 0;
    for (std::int32_t n = 1; n <= warps && used < kAllUsed; ++n) {
      used = n / (gap + 1 + waiting);
      waiting = used * (1 + waiting);
    }
    return std::min(used, 1.0);
  }

  struct Known {
    std::int64_t log_gaps = 0;
    std::int64_t units = 0;
    double pipe = 0;
    std::int64_t time = 0;
    std::int32_t warps = 0;  ///< 0 = nothing known
  };
  std::array<Known, 512> known_{};
};

}  // namespace strata

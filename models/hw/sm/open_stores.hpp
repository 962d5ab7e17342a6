/// Stores of parts of sectors that have not left L1 yet and take in later parts of the same sectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/hw/common/chunk.hpp"
#include "sim/base/time.hpp"

namespace strata {

/// Sixteen bytes a lane that a compiler stores as four words make four requests of the same sectors. They leave as one
/// unless a load that misses goes out between two of them: what is open then leaves before it (docs/model/l1.md).
class OpenStores {
 public:
  /// Measured (H200): four warps that each store four lines by words lose nothing, eight warps with five lines each
  /// lose four fifths. Between the two nothing is known.
  static constexpr std::size_t kLines = 32;

  /// A load's lines go out at `at`. Times ascend.
  void miss(Tick at) {
    if (used_ && at > last_miss_) {
      misses_[next_miss_++ % misses_.size()] = at;
      last_miss_ = at;
    }
  }
  /// @return sectors of `stored` that no open store takes in at `now`; they open one.
  [[nodiscard]] std::uint8_t add(const LineAccess& stored, Tick now) {
    close(now);
    used_ = true;
    for (LineAccess& open : lines_) {
      if (open.mask != 0 && open.line == stored.line) {
        const auto rest = static_cast<std::uint8_t>(stored.mask & ~open.mask);
        open.mask = static_cast<std::uint8_t>(open.mask | stored.mask);
        return rest;
      }
    }
    lines_[next_line_++ % lines_.size()] = stored;
    return stored.mask;
  }

 private:
  /// Everything leaves if a load has gone out.
  void close(Tick now) {
    bool missed = false;
    for (Tick& at : misses_) {
      if (at != 0 && at <= now) {
        missed = true;
        at = 0;
      }
    }
    if (missed) {
      lines_.fill(LineAccess{});
    }
  }

  static constexpr std::size_t kMisses = 64;  ///< that may be to come: an SM looks up what it asks for a little later
  std::array<LineAccess, kLines> lines_{};
  std::array<Tick, kMisses> misses_{};  ///< 0 = none
  std::size_t next_line_ = 0;
  std::size_t next_miss_ = 0;
  Tick last_miss_ = 0;
  bool used_ = false;  ///< the SM has had such a store
};

}  // namespace strata

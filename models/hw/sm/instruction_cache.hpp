/// When the code of an operation has come to an SM: the instruction cache that its sub-partitions share, and the wider
/// one behind it. Code comes a line at a time, whoever asks; what follows a branch that jumps back is not fetched
/// ahead.
///
/// An operation's `pc` names its piece of code; a piece is kept or replaced as a whole. Replacement is by age, counted
/// in bytes fetched since the last use.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "models/hw/common/chunk.hpp"
#include "sim/config/gpu_config.hpp"
#include "sim/timing/resource.hpp"
#include "workloads/spec/instruction.hpp"

namespace strata {

class InstructionCache {
 public:
  /// An operation of more instructions is a loop in the code: compilers unroll up to about 1200 (main loops of cuBLAS,
  /// CUTLASS and FlashAttention-2).
  static constexpr std::uint32_t kLongestPiece = 24 << 10;

  InstructionCache() = default;
  /// `code_bytes`: all that the kernel executes; what is named beyond that costs nothing. `cycle`: of the SM, in ticks.
  InstructionCache(const InstructionCacheConfig& config, std::uint32_t code_bytes, Tick cycle)
      : config_(&config), unplaced_(code_bytes), port_(cycle, kLineBytes * kScale) {}

  /// @return when the `instructions` of the piece `pc` have come; at the latest `now` if they are there.
  Tick fetch(Tick now, std::uint16_t pc, std::uint32_t instructions) {
    if (pc >= pieces_.size()) {
      pieces_.resize(pc + 1U);
    }
    Piece& piece = pieces_[pc];
    if (!piece.placed) {
      piece.placed = true;
      piece.bytes = std::min({instructions * kInstructionBytes, kLongestPiece, unplaced_});
      unplaced_ -= piece.bytes;
      load(piece, now, config_->line_cycles);
    } else if (const std::uint64_t age = fetched_ - piece.used + piece.bytes; age > std::uint64_t(config_->bytes)) {
      load(piece, now, age > std::uint64_t(config_->outer_bytes) ? config_->outer_line_cycles : config_->line_cycles);
    }
    piece.used = fetched_;
    return piece.ready;
  }

 private:
  struct Piece {
    Tick ready = 0;
    std::uint64_t used = 0;  ///< `fetched_` when it was last executed
    std::uint32_t bytes = 0;
    bool placed = false;
  };
  static constexpr std::int64_t kScale = 64;

  void load(Piece& piece, Tick now, double line_cycles) {
    fetched_ += piece.bytes;
    piece.ready = port_.reserve(now, std::llround(line_cycles * piece.bytes * kScale));
  }

  const InstructionCacheConfig* config_ = nullptr;
  std::uint32_t unplaced_ = 0;
  Resource port_;
  std::uint64_t fetched_ = 0;  ///< bytes
  std::vector<Piece> pieces_;
};

}  // namespace strata

/// The L2 request coalescer (LRC): requests of neighbouring SMs for the same lines ride on the first one while it is
/// outstanding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/hw/common/context.hpp"
#include "sim/base/prefetch.hpp"
#include "sim/timing/resource.hpp"

namespace strata {

/// One table per group of SMs, direct-mapped by the chunk's first line; chunks merge when they want the same lines. A
/// line is watched for one set of sectors at a time: a request for others, of whichever group, ends the merging of
/// those under way and opens nothing itself (measured: docs/model/noc.md). Atomics and multicast requests do not merge:
/// products whose only shared reads are multicast ask the L2 for exactly as many sectors as they would without it
/// (docs/model/noc.md). Not modelled: merging of chunks that overlap only in part (docs/model/noc.md).
class RequestCoalescer {
 public:
  enum class Outcome : std::uint8_t {
    kNew,    ///< goes to the L2 itself
    kRides,  ///< will be in riders() when the first one's reply passes
    kReady,  ///< rides on a reply that passes at the chunk's `ready`
  };

  /// @param group_of_sm coalescer group of each SM
  RequestCoalescer(Context& context, std::vector<std::uint16_t> group_of_sm);

  /// Brings the chunk's table entry into the host's cache.
  void prefetch(const Chunk& chunk) const { prefetch_line(&table_[slot_of(chunk)]); }
  /// When the coalescer takes the chunk's requests. There is a unit before every slice, which takes a line's request in
  /// a cycle whether it merges or not: requests queue before the coalescer, where they hold no others' window open.
  Tick admit(const Chunk& chunk) {
    const Tick now = context_.now();
    if (!present_) {
      return now;
    }
    Resource& units = intake_[chunk.partition];
    const Tick at = std::max(now, units.next_free());
    units.reserve(at, chunk.count);
    return chunk.oob_rows == 0 && !any_outside_ ? at : std::max(at, serve_outside(chunk));
  }
  Outcome merge(std::uint32_t chunk);
  /// The chunk's reply passes at its `ready`: appends those that ride on it to riders().
  void release(std::uint32_t chunk);
  /// Chunks whose replies pass with those released since the last call, ready as the one they ride on.
  [[nodiscard]] std::vector<std::uint32_t>& riders() { return riders_; }

 private:
  /// When the few units that serve rows outside a tensor are done with the chunk's, and with its share of other lines.
  Tick serve_outside(const Chunk& chunk);

  struct Entry {
    std::uint32_t line = 0xffffffffU;  ///< first line of the open request
    std::uint32_t chunk = kNoHandle;
    std::uint32_t generation = 0;
    std::uint32_t merges = 0;
    std::uint32_t watch = 0;  ///< Watch::number when it was opened
    Tick opened = 0;
  };
  /// What a line is watched for, by all groups.
  struct Watch {
    std::uint32_t line = 0xffffffffU;  ///< none
    std::uint32_t chunk = kNoHandle;   ///< the latest that went on
    std::uint32_t generation = 0;
    std::uint32_t number = 0;  ///< of the watches of this slot: entries of earlier ones are closed
  };
  static constexpr std::uint32_t kEntries = 1024;
  static constexpr std::uint32_t kWatches = 8192;

  [[nodiscard]] std::size_t slot_of(const Chunk& c) const {
    static_assert(kEntries == 1U << (32 - 22));
    return std::size_t{group_of_sm_[c.sm]} * kEntries + ((c.pattern.first * 0x9e3779b1U) >> 22);
  }

  [[nodiscard]] static std::size_t watch_slot(std::uint32_t line) {
    static_assert(kWatches == 1U << (32 - 19));
    return (line * 0x9e3779b1U) >> 19;
  }
  /// Whether what went on is still outstanding below the coalescer.
  [[nodiscard]] bool is_outstanding(std::uint32_t chunk, std::uint32_t generation) const {
    const Chunk& c = context_.chunks[chunk];
    return c.generation == generation && (!c.replied || context_.now() < c.ready);
  }

  Context& context_;
  std::vector<std::uint16_t> group_of_sm_;
  std::vector<Entry> table_;
  std::vector<Watch> watches_;
  std::vector<Resource> intake_;   ///< of each side of the L2, its units together
  std::vector<Resource> outside_;  ///< of each side, those that serve what lies outside a tensor; none = no limit
  std::int64_t side_units_ = 0;
  bool any_outside_ = false;
  std::vector<std::uint32_t> riders_;
  bool present_;
  std::uint32_t merge_limit_;
  Tick window_;
};

}  // namespace strata

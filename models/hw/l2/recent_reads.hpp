/// Memory of recent reads: SMs that work in step ask for the same lines again and again within a few hundred cycles.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/hw/common/line_places.hpp"
#include "sim/base/prefetch.hpp"

namespace strata {

/// A read whose lines are all in the cache, or all on their way there, is remembered for a window of time. Within it,
/// the same read again needs no walk through the tags: it waits for the first one while that is under way, and hits
/// afterwards. A line just used is the last of its set to be replaced, and the window is a fraction of the time in
/// which HBM could replace a whole partition, so the answer is the same; only the LRU order may lag by the window.
class RecentReads {
 public:
  /// @param window ticks for which a read is remembered
  explicit RecentReads(Tick window) : window_(window), table_(kEntries) {}

  struct alignas(64) Entry {
    LinePattern pattern;
    std::uint32_t leader = kNoHandle;  ///< the chunk that walked through the tags
    std::uint32_t generation = 0;      ///< of the leader
    std::uint8_t count = 0;
    std::uint8_t partition = 0;
    Tick seen = 0;
    std::array<std::uint8_t, kChunkLines> slice{};  ///< slice of each line within the partition
  };
  static_assert(sizeof(Entry) == 64);

  void prefetch(const Chunk& c) const { prefetch_line(&table_[slot_of(c)]); }
  /// The read that covers a chunk's lines, or null.
  [[nodiscard]] const Entry* find(const Chunk& c, Tick now) const {
    if (c.list != kNoHandle) {
      return nullptr;
    }
    const Entry& e = table_[slot_of(c)];
    const bool same = e.count == c.count && e.partition == c.partition && e.pattern == c.pattern;
    return same && now - e.seen <= window_ ? &e : nullptr;
  }
  /// The chunk's lines are not as they were for the other partition's reads.
  void forget(const Chunk& c, std::uint32_t partition) {
    Entry& e = table_[slot_of(c.pattern.first, partition)];
    if (e.pattern.first == c.pattern.first && e.partition == partition) {
      e.count = 0;
    }
  }
  void note(std::uint32_t handle, const Chunk& c, const LinePlaces& places, Tick now) {
    if (c.list != kNoHandle) {
      return;
    }
    Entry& e = table_[slot_of(c)];
    e.pattern = c.pattern;
    e.leader = handle;
    e.generation = c.generation;
    e.count = c.count;
    e.partition = c.partition;
    e.seen = now;
    e.slice = places.slice;
  }

 private:
  static constexpr std::uint32_t kEntries = 2048;
  [[nodiscard]] static std::size_t slot_of(std::uint32_t first, std::uint32_t partition) {
    static_assert(kEntries == 1U << (32 - 21));
    return ((first ^ partition << 31) * 0x9e3779b1U) >> 21;
  }
  [[nodiscard]] static std::size_t slot_of(const Chunk& c) { return slot_of(c.pattern.first, c.partition); }
  Tick window_;
  std::vector<Entry> table_;
};

}  // namespace strata

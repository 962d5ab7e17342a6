/// What all units of one simulated GPU share: time, configuration, counters and the pools of travelling things.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "models/hw/common/chunk.hpp"
#include "models/hw/common/events.hpp"
#include "sim/base/slot_pool.hpp"
#include "sim/base/time.hpp"
#include "sim/config/gpu_config.hpp"
#include "sim/event/event_queue.hpp"
#include "sim/observe/observer.hpp"
#include "sim/stats/metrics.hpp"

namespace strata {

/// The masks of a chunk's lines, for loops over them.
class LineMasks {
 public:
  LineMasks(const Chunk& chunk, const SlotPool<LineList>& lists)
      : list_(chunk.list == kNoHandle ? nullptr : &lists[chunk.list]), mask_(chunk.pattern.mask) {}
  [[nodiscard]] bool alike() const { return list_ == nullptr; }
  [[nodiscard]] std::uint8_t operator[](std::uint32_t i) const { return list_ == nullptr ? mask_ : (*list_)[i].mask; }

 private:
  const LineList* list_;
  std::uint8_t mask_;  ///< of all, where they follow a pattern
};

struct Context {
  const GpuConfig* config = nullptr;
  TimeBase time;
  EventQueue events;
  Counters counters;
  std::uint64_t pieces_ended = 0;  ///< operations with `ends_piece`
  Observer observer;
  SlotPool<Chunk> chunks;
  SlotPool<LineList> line_lists;
  SlotPool<LinePlaces> line_places;
  SlotPool<Transfer> transfers;
  SlotPool<WaiterNode> waiters;
  SlotPool<MulticastGroup> multicast_groups;

  [[nodiscard]] Tick now() const { return events.now(); }
  /// From a read's arrival at an idle L2 to its data when they come from HBM.
  [[nodiscard]] Tick idle_l2_miss() const {
    const HbmConfig& h = config->hbm;
    return time.l2 * config->l2.hit_latency_cycles + time.from_ns(h.controller_latency_ns + h.trcd_ns + h.tcl_ns);
  }
  void post(Tick tick, EventKind kind, std::uint32_t unit, std::uint32_t a, std::uint32_t b = 0) {
    events.post(tick, id(kind), static_cast<std::uint16_t>(unit), a, b);
  }
  [[nodiscard]] std::uint32_t line(const Chunk& c, std::uint32_t i) const {
    return c.list == kNoHandle ? c.pattern.line(i) : line_lists[c.list][i].line;
  }
  [[nodiscard]] std::uint8_t mask(const Chunk& c, std::uint32_t i) const {
    return c.list == kNoHandle ? c.pattern.mask : line_lists[c.list][i].mask;
  }
  [[nodiscard]] LineMasks masks(const Chunk& c) const { return {c, line_lists}; }
  /// Gives a new chunk its lines, at most kChunkLines.
  void set_lines(Chunk& c, std::span<const LineAccess> lines) {
    c.count = static_cast<std::uint8_t>(lines.size());
    c.pattern.first = lines[0].line;
    c.pattern.mask = lines[0].mask;
    c.pattern.stride = lines.size() > 1 ? static_cast<std::int32_t>(lines[1].line - lines[0].line) : 1;
    bool regular = true;
    std::uint32_t sectors = 0;
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
      sectors += count_sectors(lines[i].mask);
      regular = regular && lines[i].mask == c.pattern.mask && lines[i].line == c.pattern.line(i);
    }
    c.sectors = static_cast<std::uint16_t>(sectors);
    if (!regular) {
      c.list = line_lists.acquire();
      std::copy(lines.begin(), lines.end(), line_lists[c.list].begin());
    }
  }
  /// Both want the same sectors of the same lines.
  [[nodiscard]] bool same_lines(const Chunk& a, const Chunk& b) const {
    if (a.count != b.count || a.pattern != b.pattern || (a.list == kNoHandle) != (b.list == kNoHandle)) {
      return false;
    }
    for (std::uint32_t i = 0; a.list != kNoHandle && i < a.count; ++i) {
      if (line(a, i) != line(b, i) || mask(a, i) != mask(b, i)) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] std::uint32_t new_chunk() {
    const std::uint32_t h = chunks.acquire();
    const std::uint32_t generation = chunks[h].generation;
    chunks[h] = Chunk{};
    chunks[h].generation = generation;
    return h;
  }
  void free_chunk(std::uint32_t h) {
    ++chunks[h].generation;
    if (chunks[h].list != kNoHandle) {
      line_lists.release(chunks[h].list);
    }
    if (chunks[h].places != kNoHandle) {
      line_places.release(chunks[h].places);
    }
    chunks.release(h);
  }
  [[nodiscard]] std::uint32_t new_transfer() {
    const std::uint32_t h = transfers.acquire();
    transfers[h] = Transfer{};
    return h;
  }
  /// Puts `handle` on the list of those who wait for `on`. False when it already is the newest one there: a chunk
  /// that finds several of its lines in another's care waits once.
  bool add_waiter(Chunk& on, std::uint32_t handle, std::uint8_t partition, bool is_transfer) {
    if (on.waiters != kNoHandle) {
      const WaiterNode& newest = waiters[on.waiters];
      if (newest.handle == handle && newest.partition == partition && newest.is_transfer == is_transfer) {
        return false;
      }
    }
    const std::uint32_t n = waiters.acquire();
    waiters[n] = WaiterNode{on.waiters, handle, partition, is_transfer};
    on.waiters = n;
    return true;
  }
};

}  // namespace strata

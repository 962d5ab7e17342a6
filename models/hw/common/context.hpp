/// What all units of one simulated GPU share: time, configuration, counters and the pools of travelling things.
#pragma once

#include "models/hw/common/chunk.hpp"
#include "models/hw/common/events.hpp"
#include "sim/base/slot_pool.hpp"
#include "sim/base/time.hpp"
#include "sim/config/gpu_config.hpp"
#include "sim/event/event_queue.hpp"
#include "sim/observe/observer.hpp"
#include "sim/stats/metrics.hpp"

namespace strata {

struct Context {
  const GpuConfig* config = nullptr;
  TimeBase time;
  EventQueue events;
  Counters counters;
  Observer observer;
  SlotPool<Chunk> chunks;
  SlotPool<Transfer> transfers;
  SlotPool<WaiterNode> waiters;
  SlotPool<MulticastGroup> multicast_groups;

  [[nodiscard]] Tick now() const { return events.now(); }
  void post(Tick tick, EventKind kind, std::uint32_t unit, std::uint32_t a, std::uint32_t b = 0) {
    events.post(tick, id(kind), static_cast<std::uint16_t>(unit), a, b);
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

#include "models/hw/noc/request_coalescer.hpp"

#include <algorithm>
#include <utility>

namespace strata {

RequestCoalescer::RequestCoalescer(Context& context, std::vector<std::uint16_t> group_of_sm)
    : context_(context), group_of_sm_(std::move(group_of_sm)) {
  const LrcConfig& c = context.config->lrc;
  present_ = c.present != 0;
  merge_limit_ = static_cast<std::uint32_t>(c.merge_limit);
  window_ = context.time.l2 * c.window_cycles;
  std::uint16_t groups = 0;
  for (const std::uint16_t g : group_of_sm_) {
    groups = std::max(groups, static_cast<std::uint16_t>(g + 1));
  }
  const L2Config& l2 = context.config->l2;
  side_units_ = l2.slices / l2.partitions;
  intake_.assign(static_cast<std::size_t>(l2.partitions), Resource(context.time.l2, side_units_));
  if (c.outside_units > 0) {
    outside_.assign(intake_.size(), Resource(context.time.l2, c.outside_units * side_units_));
  }
  table_.resize(std::size_t{groups} * kEntries);
  watches_.resize(kWatches);
}

Tick RequestCoalescer::serve_outside(const Chunk& chunk) {
  if (outside_.empty()) {
    return 0;
  }
  any_outside_ = true;
  // Each line asked for and each sent on to the slice cost a unit a cycle: 1.25 where three of four merge
  // (measured: 1.27 by boxes one after the other), 2 where multicast keeps them from it (measured: 2.0, the rate of the
  // slices' ports). Of the lines inside, these units have their share.
  const std::int64_t cycles = (2 * chunk.oob_rows - chunk.oob_merged + kSectorsPerLine - 1) / kSectorsPerLine;
  return outside_[chunk.partition].reserve(
      context_.now(), cycles * side_units_ + std::int64_t{chunk.count} * context_.config->lrc.outside_units);
}

RequestCoalescer::Outcome RequestCoalescer::merge(std::uint32_t chunk) {
  Chunk& c = context_.chunks[chunk];
  if (!present_ || c.atomic || c.pieces || c.deliveries > 1) {
    return Outcome::kNew;
  }
  const Tick now = context_.now();
  const std::uint32_t line = c.pattern.first;
  Watch& watch = watches_[watch_slot(line)];
  if (watch.line != line) {
    watch = Watch{line, kNoHandle, 0, watch.number + 1};
  } else if (watch.chunk != kNoHandle && is_outstanding(watch.chunk, watch.generation) &&
             context_.mask(context_.chunks[watch.chunk], 0) != context_.mask(c, 0)) {
    watch = Watch{line, kNoHandle, 0, watch.number + 1};
    return Outcome::kNew;
  }
  Entry& e = table_[slot_of(c)];
  if (e.line == line && e.watch == watch.number) {
    Chunk& first = context_.chunks[e.chunk];
    const bool open = is_outstanding(e.chunk, e.generation) && e.merges + 1 < merge_limit_ &&
                      (window_ == 0 || now - e.opened <= window_);
    if (open && context_.same_lines(first, c)) {
      ++e.merges;
      c.merged = true;
      context_.counters.add(Counter::kLrcMergedSectors, c.sectors);
      if (first.replied) {
        c.ready = first.ready;
        c.served = first.served;
        return Outcome::kReady;
      }
      context_.add_waiter(first, chunk, kAtCoalescer, false);
      return Outcome::kRides;
    }
  }
  e = Entry{line, chunk, c.generation, 0, watch.number, now};
  watch.chunk = chunk;
  watch.generation = c.generation;
  return Outcome::kNew;
}

void RequestCoalescer::release(std::uint32_t chunk) {
  Chunk& c = context_.chunks[chunk];
  c.replied = true;
  std::uint32_t node = c.waiters;
  std::uint32_t kept = kNoHandle;
  c.waiters = kNoHandle;
  const std::size_t first_rider = riders_.size();
  while (node != kNoHandle) {
    const WaiterNode w = context_.waiters[node];
    if (w.partition == kAtCoalescer) {
      context_.waiters.release(node);
      prefetch_line(&context_.chunks[w.handle]);
      riders_.push_back(w.handle);
    } else {
      context_.waiters[node].next = kept;
      kept = node;
    }
    node = w.next;
  }
  c.waiters = kept;
  for (std::size_t i = first_rider; i < riders_.size(); ++i) {
    Chunk& rider = context_.chunks[riders_[i]];
    rider.served = c.served;
    rider.ready = std::max(rider.ready, c.ready);
  }
}

}  // namespace strata

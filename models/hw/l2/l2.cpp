#include "models/hw/l2/l2.hpp"

#include <algorithm>
#include <bit>

#include "sim/base/error.hpp"

namespace strata {

L2::L2(Context& context, const AddressMap& map) : context_(context), map_(map) {
  const L2Config& c = context.config->l2;
  const Tick cycle = context.time.l2;
  const auto partitions = static_cast<std::size_t>(c.partitions);
  const std::uint32_t sets = map.sets_per_slice() * map.slices_per_partition();
  for (std::size_t p = 0; p < partitions; ++p) {
    tags_.emplace_back(sets, static_cast<std::uint32_t>(c.ways));
    fabric_.emplace_back(cycle, context.config->fabric.bytes_per_cycle);
  }
  slices_.resize(static_cast<std::size_t>(c.slices));
  for (Slice& s : slices_) {
    s.read = Resource(cycle, c.slice_bytes_per_cycle);
    s.write = Resource(cycle, c.slice_write_bytes_per_cycle);
  }
  dirty_.resize(partitions);
  dirty_limit_lines_ = static_cast<std::int64_t>(c.dirty_limit * static_cast<double>(c.size_bytes) /
                                                 static_cast<double>(c.partitions) / kLineBytes);
  hit_latency_ = cycle * c.hit_latency_cycles;
  fabric_latency_ = cycle * context.config->fabric.latency_cycles;
  near_copy_on_fill_ = c.near_copy == "first_fill";
  near_copy_on_hit_ = c.near_copy == "far_hit";
  store_leaves_copy_ = c.store_leaves_near_copy != 0;
}

std::uint8_t L2::look_up(std::uint32_t chunk, std::uint32_t i, std::uint32_t partition, const LineHome& home,
                         bool allocate, Tick& slice_done) {
  Chunk& c = context_.chunks[chunk];
  const std::uint32_t line = c.line[i];
  const std::uint8_t wanted = c.mask[i];
  const auto sectors = count_sectors(wanted);
  TagArray& tags = tags_[partition];
  const std::uint32_t set = map_.set(line, home.slice);
  slice_done = std::max(
      slice_done, slice(partition, home.slice).read.reserve(context_.now(), std::int64_t{sectors} * kSectorBytes));
  context_.counters.add(Counter::kLtsSectors, sectors);
  context_.counters.add(Counter::kLtsReadSectors, sectors);

  std::uint8_t& way = (partition == c.partition ? c.near_way : c.home_way)[i];
  std::uint32_t index = tags.find(set, line);
  way = static_cast<std::uint8_t>(index % TagArray::kMaxWays);
  if (index != TagArray::kMiss) {
    tags.touch(index);
    const auto missing = static_cast<std::uint8_t>(wanted & ~tags.valid(index));
    if (missing == 0) {
      return 0;
    }
    const std::uint8_t pending = tags.pending(index);
    if ((missing & pending) != 0) {
      if (context_.add_waiter(context_.chunks[tags.filler(index)], chunk, static_cast<std::uint8_t>(partition),
                              false)) {
        ++c.outstanding;
      }
    }
    const auto fetch = static_cast<std::uint8_t>(missing & ~pending);
    if (fetch != 0 && pending == 0) {
      tags.set_pending(index, fetch, chunk);
    }
    return fetch;
  }
  if (allocate) {
    TagArray::Victim victim;
    index = tags.allocate(set, line, victim);
    if (index != TagArray::kMiss) {
      evict(victim, partition);
      way = static_cast<std::uint8_t>(index % TagArray::kMaxWays);
      tags.set_pending(index, wanted, chunk);
    }
  }
  return wanted;
}

void L2::prefetch(const Chunk& chunk, std::uint32_t line_mask, std::uint32_t partition) const {
  for (std::uint32_t m = line_mask & ((1U << chunk.count) - 1); m != 0; m &= m - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(m));
    tags_[partition].prefetch(map_.set(chunk.line[i], map_.home(chunk.line[i]).slice));
  }
}

void L2::read_at_near(std::uint32_t chunk) {
  Chunk& c = context_.chunks[chunk];
  const std::uint32_t partition = c.partition;
  std::uint32_t near_misses = 0;
  std::uint32_t far_misses = 0;
  Tick slice_done = context_.now();
  LineHome homes[kChunkLines];
  for (std::uint32_t i = 0; i < c.count; ++i) {
    homes[i] = map_.home(c.line[i]);
  }
  std::uint32_t hit_sectors = 0;
  for (std::uint32_t i = 0; i < c.count; ++i) {
    const bool is_far = homes[i].partition != partition;
    const bool allocate = !is_far || near_copy_on_fill_;
    const std::uint8_t fetch = look_up(chunk, i, partition, homes[i], allocate, slice_done);
    hit_sectors += count_sectors(c.mask[i]) - count_sectors(fetch);
    if (fetch != 0) {
      (is_far ? far_misses : near_misses) |= 1U << i;
    }
  }
  context_.counters.add(Counter::kLtsFromSmSectors, c.sectors + c.oob_sectors);
  context_.counters.add(Counter::kLtsFromSmHitSectors, hit_sectors + c.oob_sectors);
  context_.counters.add(Counter::kLtsSectors, c.oob_sectors);
  context_.counters.add(Counter::kLtsReadSectors, c.oob_sectors);
  const Tick after_tags = context_.now() + hit_latency_;
  c.ready = std::max(c.ready, slice_done + hit_latency_);
  ++c.outstanding;  // this look-up itself
  if (near_misses != 0) {
    ++c.outstanding;
    c.near_mask = static_cast<std::uint8_t>(near_misses);
    c.served = ServedBy::kHbm;
    context_.post(after_tags, EventKind::kReadAtHbm, 0, chunk, near_misses | (partition << 8));
  }
  if (far_misses != 0) {
    ++c.outstanding;
    c.far_mask = static_cast<std::uint8_t>(far_misses);
    c.served = std::max(c.served, ServedBy::kFabric);
    // The request crosses first; data bandwidth is taken when the reply crosses back.
    context_.post(after_tags + fabric_latency_, EventKind::kReadAtHome, 0, chunk, far_misses);
  }
  piece_done(chunk);
}

void L2::read_at_home(std::uint32_t chunk, std::uint32_t line_mask) {
  Chunk& c = context_.chunks[chunk];
  const std::uint32_t home_partition = c.partition ^ 1U;
  Tick slice_done = context_.now();
  std::uint32_t misses = 0;
  std::uint32_t sectors = 0;
  ++c.outstanding;
  for (std::uint32_t m = line_mask; m != 0; m &= m - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(m));
    sectors += count_sectors(c.mask[i]);
    if (look_up(chunk, i, home_partition, map_.home(c.line[i]), true, slice_done) != 0) {
      misses |= 1U << i;
    }
  }
  context_.counters.add(Counter::kLtsFabricSectors, sectors);
  --c.outstanding;
  const std::uint32_t hits = line_mask & ~misses;
  if (misses != 0) {
    ++c.outstanding;
    c.served = ServedBy::kHbm;
    context_.post(context_.now() + hit_latency_, EventKind::kReadAtHbm, 0, chunk, misses | (home_partition << 8));
  }
  if (hits != 0) {
    std::uint32_t bytes = 0;
    for (std::uint32_t m = hits; m != 0; m &= m - 1) {
      bytes += count_sectors(c.mask[static_cast<std::uint32_t>(std::countr_zero(m))]) * kSectorBytes;
    }
    ++c.outstanding;
    // Lines that another chunk is fetching into the home are counted as hits; they cross once they are there, which
    // the waiter list sees to, so the crossing time below is a lower bound for them.
    const Tick crossed = fabric_[c.partition].reserve(slice_done + hit_latency_, bytes) + fabric_latency_;
    context_.post(crossed, EventKind::kFabricDone, 0, chunk, hits);
  }
  piece_done(chunk);
}

void L2::fill(std::uint32_t chunk, std::uint32_t line_mask, std::uint32_t partition) {
  const Chunk& c = context_.chunks[chunk];
  for (std::uint32_t m = line_mask; m != 0; m &= m - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(m));
    const std::uint32_t set = map_.set(c.line[i], map_.home(c.line[i]).slice);
    const std::uint32_t index = set * TagArray::kMaxWays + (partition == c.partition ? c.near_way : c.home_way)[i];
    if (!tags_[partition].holds(index, c.line[i])) {
      continue;  // read around the cache
    }
    tags_[partition].fill(index, chunk, c.mask[i]);
  }
}

void L2::wake(std::uint32_t chunk, std::uint32_t partition, Tick ready) {
  std::uint32_t node = context_.chunks[chunk].waiters;
  std::uint32_t kept = kNoHandle;
  context_.chunks[chunk].waiters = kNoHandle;
  while (node != kNoHandle) {
    const WaiterNode w = context_.waiters[node];
    if (!w.is_transfer && w.partition == partition) {
      context_.waiters.release(node);
      Chunk& waiting = context_.chunks[w.handle];
      // A line awaited at its home still has to cross to the partition that asked.
      waiting.ready = std::max(waiting.ready, partition == waiting.partition ? ready : ready + fabric_latency_);
      waiting.served = std::max(waiting.served, context_.chunks[chunk].served);
      piece_done(w.handle);
    } else {
      context_.waiters[node].next = kept;
      kept = node;
    }
    node = w.next;
  }
  context_.chunks[chunk].waiters = kept;
}

void L2::hbm_done(std::uint32_t chunk, std::uint32_t line_mask, std::uint32_t partition) {
  Chunk& c = context_.chunks[chunk];
  fill(chunk, line_mask, partition);
  const Tick now = context_.now();
  if (partition == c.partition) {
    c.ready = std::max(c.ready, now);
    c.near_mask = 0;
    if (c.far_mask == 0) {
      wake(chunk, partition, now);
    }
    piece_done(chunk);
    return;
  }
  wake(chunk, partition, now);
  std::uint32_t bytes = 0;
  for (std::uint32_t m = line_mask; m != 0; m &= m - 1) {
    bytes += count_sectors(c.mask[static_cast<std::uint32_t>(std::countr_zero(m))]) * kSectorBytes;
  }
  const Tick crossed = fabric_[c.partition].reserve(now, bytes) + fabric_latency_;
  context_.post(crossed, EventKind::kFabricDone, 0, chunk, line_mask);
}

void L2::fabric_done(std::uint32_t chunk, std::uint32_t line_mask) {
  Chunk& c = context_.chunks[chunk];
  fill(chunk, line_mask, c.partition);
  c.far_mask = static_cast<std::uint8_t>(c.far_mask & ~line_mask);
  c.ready = std::max(c.ready, context_.now());
  // Waiters of this partition wait for near-homed lines and for near copies alike; they are woken once all are there.
  if (c.far_mask == 0 && c.near_mask == 0) {
    wake(chunk, c.partition, context_.now());
  }
  piece_done(chunk);
}

void L2::piece_done(std::uint32_t chunk) {
  Chunk& c = context_.chunks[chunk];
  if (c.outstanding == 0) {
    throw ModelBug("L2: a piece of a chunk came back that was not outstanding");
  }
  if (--c.outstanding == 0) {
    context_.post(std::max(context_.now(), c.ready), EventKind::kReplyAtXbar, 0, chunk);
  }
}

void L2::evict(const TagArray::Victim& victim, std::uint32_t partition) {
  if (victim.line != TagArray::kInvalidTag && victim.dirty != 0) {
    --dirty_[partition].dirty_lines;
    write_backs_.push_back(WriteBack{victim.line, victim.dirty});
  }
}

void L2::mark_dirty(std::uint32_t line, std::uint8_t mask, std::uint32_t partition, std::uint32_t set) {
  TagArray& tags = tags_[partition];
  std::uint32_t index = tags.find(set, line);
  if (index == TagArray::kMiss) {
    TagArray::Victim victim;
    index = tags.allocate(set, line, victim);
    if (index == TagArray::kMiss) {
      write_backs_.push_back(WriteBack{line, mask});  // every way is being filled: write through
      return;
    }
    evict(victim, partition);
  }
  tags.touch(index);
  DirtyQueue& queue = dirty_[partition];
  if (tags.dirty(index) == 0) {
    ++queue.dirty_lines;
    queue.ring.push_back(DirtyEntry{line, set});
  }
  tags.set_dirty(index, tags.dirty(index) | std::uint32_t{mask});
  tags.add_valid(index, mask);
}

void L2::limit_dirty(std::uint32_t partition) {
  DirtyQueue& queue = dirty_[partition];
  while (queue.dirty_lines > dirty_limit_lines_ && queue.head < queue.ring.size()) {
    const DirtyEntry entry = queue.ring[queue.head++];
    const std::uint32_t index = tags_[partition].find(entry.set, entry.line);
    if (index == TagArray::kMiss || tags_[partition].dirty(index) == 0) {
      continue;  // evicted or cleaned meanwhile
    }
    write_backs_.push_back(WriteBack{entry.line, tags_[partition].dirty(index)});
    tags_[partition].set_dirty(index, 0);
    --queue.dirty_lines;
  }
  if (queue.head > 65536 && queue.head * 2 > queue.ring.size()) {
    queue.ring.erase(queue.ring.begin(), queue.ring.begin() + static_cast<std::ptrdiff_t>(queue.head));
    queue.head = 0;
  }
}

void L2::write_at_near(std::uint32_t chunk) {
  Chunk& c = context_.chunks[chunk];
  const std::uint32_t partition = c.partition;
  const Tick now = context_.now();
  std::uint32_t far = 0;
  std::uint32_t far_bytes = 0;
  Tick done = now;
  for (std::uint32_t i = 0; i < c.count; ++i) {
    const LineHome home = map_.home(c.line[i]);
    const auto sectors = count_sectors(c.mask[i]);
    const std::int64_t bytes = std::int64_t{sectors} * kSectorBytes;
    done = std::max(done, slice(partition, home.slice).write.reserve(now, bytes));
    context_.counters.add(Counter::kLtsSectors, sectors);
    context_.counters.add(Counter::kLtsWriteSectors, sectors);
    context_.counters.add(Counter::kLtsFromSmSectors, sectors);
    context_.counters.add(Counter::kLtsFromSmHitSectors, sectors);
    const std::uint32_t set = map_.set(c.line[i], home.slice);
    if (home.partition == partition) {
      mark_dirty(c.line[i], c.mask[i], partition, set);
      continue;
    }
    far |= 1U << i;
    far_bytes += static_cast<std::uint32_t>(bytes);
    TagArray& tags = tags_[partition];
    std::uint32_t index = tags.find(set, c.line[i]);
    if (index != TagArray::kMiss) {
      tags.add_valid(index, static_cast<std::uint32_t>(c.mask[i] & ~tags.pending(index)));
    } else if (store_leaves_copy_) {
      TagArray::Victim victim;
      index = tags.allocate(set, c.line[i], victim);
      if (index != TagArray::kMiss) {
        evict(victim, partition);
        tags.add_valid(index, c.mask[i]);
      }
    }
  }
  limit_dirty(partition);
  c.ready = std::max({c.ready, done + hit_latency_, store_room_});
  if (far != 0) {
    const Tick crossed = fabric_[partition ^ 1U].reserve(now + hit_latency_, far_bytes) + fabric_latency_;
    context_.post(crossed, EventKind::kWriteAtHome, 0, chunk, far);
  } else {
    context_.post(c.ready, EventKind::kReplyAtXbar, 0, chunk);
  }
}

void L2::write_at_home(std::uint32_t chunk, std::uint32_t line_mask) {
  Chunk& c = context_.chunks[chunk];
  const std::uint32_t partition = c.partition ^ 1U;
  Tick done = context_.now();
  std::uint32_t total = 0;
  for (std::uint32_t m = line_mask; m != 0; m &= m - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(m));
    const LineHome home = map_.home(c.line[i]);
    const auto sectors = count_sectors(c.mask[i]);
    total += sectors;
    done = std::max(done,
                    slice(partition, home.slice).write.reserve(context_.now(), std::int64_t{sectors} * kSectorBytes));
    mark_dirty(c.line[i], c.mask[i], partition, map_.set(c.line[i], home.slice));
  }
  context_.counters.add(Counter::kLtsSectors, total);
  context_.counters.add(Counter::kLtsWriteSectors, total);
  context_.counters.add(Counter::kLtsFabricSectors, total);
  limit_dirty(partition);
  context_.post(std::max(c.ready, done + hit_latency_ + fabric_latency_), EventKind::kReplyAtXbar, 0, chunk);
}

Tick L2::slice_busy_ticks() const {
  Tick sum = 0;
  for (const Slice& s : slices_) {
    sum += s.read.busy() + s.write.busy();
  }
  return sum;
}

}  // namespace strata

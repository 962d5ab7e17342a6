#include "models/hw/l2/l2.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/base/error.hpp"

namespace strata {

namespace {
/// HBM replaces at most about 16 lines of a partition in a cycle: a quarter of the time to replace all of them.
constexpr std::int64_t kTurnoverShare = 64;
/// A home slice reads what a partial sector leaves as it was, and writes the sector: three times a whole one. Measured
/// 2.3 and 3.8 times where few slices take all stores (one sector of every 4224 and 4096 B).
constexpr std::int64_t kMergeBytes = 2 * kSectorBytes;
}  // namespace

L2::L2(Context& context, const AddressMap& map)
    : context_(context),
      map_(map),
      places_(context, map),
      recent_(context.time.l2 * context.config->l2.size_bytes / context.config->l2.partitions / kLineBytes /
              kTurnoverShare) {
  const L2Config& c = context.config->l2;
  const Tick cycle = context.time.l2;
  const auto partitions = static_cast<std::size_t>(c.partitions);
  const std::uint32_t sets = map.sets_per_slice() * map.slices_per_partition();
  for (std::size_t p = 0; p < partitions; ++p) {
    tags_.emplace_back(sets, static_cast<std::uint32_t>(c.ways));
    fabric_.emplace_back(cycle, context.config->fabric.bytes_per_cycle);
    read_ports_.emplace_back(map.slices_per_partition(), cycle, c.slice_bytes_per_cycle);
    write_ports_.emplace_back(map.slices_per_partition(), cycle, c.slice_write_bytes_per_cycle);
  }
  dirty_.resize(partitions);
  dirty_limit_lines_ = static_cast<std::int64_t>(c.dirty_limit * static_cast<double>(c.size_bytes) /
                                                 static_cast<double>(c.partitions) / kLineBytes);
  look_up_bytes_ = std::llround(c.slice_bytes_per_cycle / c.slice_tags_per_cycle);
  fetches_pairs_ = c.fetch_bytes >= 2 * static_cast<int>(kSectorBytes);
  hit_latency_ = cycle * c.hit_latency_cycles;
  fabric_latency_ = cycle * context.config->fabric.latency_cycles;
  near_copy_on_fill_ = c.near_copy == "first_fill";
  near_copy_on_hit_ = c.near_copy == "far_hit";
  store_leaves_copy_ = c.store_leaves_near_copy != 0;
}

std::int64_t L2::port_bytes(std::uint8_t mask, std::int64_t extra_bytes, std::uint32_t look_ups) const {
  return std::max(std::int64_t{count_sectors(mask)} * kSectorBytes + extra_bytes, look_up_bytes_ * look_ups);
}

inline std::uint8_t L2::look_up(std::uint32_t chunk, std::uint8_t wanted, std::uint32_t i, std::uint32_t partition,
                                const LinePlaces& places, bool allocate) {
  TagArray& tags = tags_[partition];
  const std::uint32_t index = tags.find(places.set[i], places.tag[i]);
  if (index == TagArray::kMiss) {
    return look_up_absent(chunk, wanted, i, partition, places, allocate);
  }
  tags.touch(index);
  const auto missing = static_cast<std::uint8_t>(wanted & ~tags.valid(index));
  return missing == 0 ? std::uint8_t{0} : look_up_missing(chunk, missing, index, i, partition, places);
}

std::uint8_t L2::look_up_missing(std::uint32_t chunk, std::uint8_t missing, std::uint32_t index, std::uint32_t i,
                                 std::uint32_t partition, const LinePlaces& places) {
  TagArray& tags = tags_[partition];
  const std::uint8_t pending = tags.pending(index);
  if ((missing & pending) != 0) {
    if (context_.add_waiter(context_.chunks[tags.filler(index)], chunk, static_cast<std::uint8_t>(partition), false)) {
      ++context_.chunks[chunk].outstanding;
    }
  }
  const auto fetch = static_cast<std::uint8_t>(missing & ~pending);
  if (fetch != 0) {
    const std::uint32_t unfetched = ~(std::uint32_t{pending} | tags.valid(index));
    tags.set_pending(index, static_cast<std::uint8_t>(filled(fetch, partition, i, places) & unfetched), chunk);
  }
  return fetch;
}

std::uint8_t L2::look_up_absent(std::uint32_t chunk, std::uint8_t wanted, std::uint32_t i, std::uint32_t partition,
                                const LinePlaces& places, bool allocate) {
  if (allocate) {
    TagArray& tags = tags_[partition];
    TagArray::Victim victim;
    const std::uint32_t index = tags.allocate(places.set[i], places.tag[i], victim);
    if (index != TagArray::kMiss) {
      evict(victim, partition, places.set[i]);
      tags.set_pending(index, filled(wanted, partition, i, places), chunk);
      return wanted;
    }
  }
  all_cached_ = false;
  return wanted;
}

std::uint8_t L2::filled(std::uint8_t mask, std::uint32_t partition, std::uint32_t i, const LinePlaces& places) const {
  const bool from_hbm = (places.homes >> i & 1) == partition;
  return static_cast<std::uint8_t>(fetches_pairs_ && from_hbm ? sector_pairs(mask) : mask);
}

void L2::prefetch_tags(const LinePlaces& places, std::uint32_t line_mask, std::uint32_t partition) const {
  const TagArray& tags = tags_[partition];
  for (std::uint32_t m = line_mask; m != 0; m &= m - 1) {
    const std::uint32_t set = places.set[static_cast<std::uint32_t>(std::countr_zero(m))];
    tags.prefetch(set);
    tags.prefetch_rare(set);
  }
}

std::int64_t L2::bytes_of(const Chunk& chunk, std::uint32_t line_mask) const {
  if (chunk.list == kNoHandle) {
    return std::int64_t{std::popcount(line_mask) * static_cast<int>(count_sectors(chunk.pattern.mask))} * kSectorBytes;
  }
  std::uint32_t sectors = 0;
  for (std::uint32_t m = line_mask; m != 0; m &= m - 1) {
    sectors += count_sectors(context_.mask(chunk, static_cast<std::uint32_t>(std::countr_zero(m))));
  }
  return std::int64_t{sectors} * kSectorBytes;
}

std::int64_t L2::crossing_bytes(std::uint32_t chunk, std::uint32_t line_mask) {
  const Chunk& c = context_.chunks[chunk];
  const std::int64_t whole = bytes_of(c, line_mask);
  const LinePlaces& places = places_.of(chunk);
  if (!places.partial) {
    return whole;
  }
  std::uint32_t present = 0;
  for (std::uint32_t m = line_mask; m != 0; m &= m - 1) {
    present += count_sectors(places.near[static_cast<std::uint32_t>(std::countr_zero(m))]);
  }
  return whole - std::int64_t{present} * kSectorBytes;
}

Tick L2::take_ports(const Chunk& c, std::uint32_t line_mask, const std::array<std::uint8_t, kChunkLines>& slice_of,
                    PortBank& ports, std::int64_t extra_bytes) {
  const Tick now = context_.now();
  const LineMasks masks = context_.masks(c);
  if (masks.alike()) {
    return ports.reserve_each(line_mask, slice_of, now,
                              ports.work(port_bytes(c.pattern.mask, extra_bytes, c.pattern.requests)));
  }
  Tick done = now;
  for (std::uint32_t m = line_mask; m != 0; m &= m - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(m));
    const std::int64_t bytes = port_bytes(masks[i], extra_bytes, c.pattern.requests);
    done = std::max(done, ports.reserve(slice_of[i], now, ports.work(bytes)));
  }
  return done;
}

void L2::count_read(std::uint32_t sectors, std::uint32_t hit_sectors) {
  context_.counters.add(Counter::kLtsFromSmSectors, sectors);
  context_.counters.add(Counter::kLtsFromSmHitSectors, hit_sectors);
  context_.counters.add(Counter::kLtsSectors, sectors);
  context_.counters.add(Counter::kLtsReadSectors, sectors);
}

void L2::read_outside(const Chunk& c) {
  const std::uint32_t sectors = c.oob_sectors - c.oob_merged;
  context_.counters.add(Counter::kLrcMergedSectors, c.oob_merged);
  count_read(sectors, sectors);
}

void L2::read_at_near(std::uint32_t chunk) {
  Chunk& c = context_.chunks[chunk];
  const std::uint32_t all = (1U << c.count) - 1;
  if (const RecentReads::Entry* recent = recent_.find(c, context_.now())) {
    const Tick done = take_ports(c, all, recent->slice, read_ports_[c.partition]);
    count_read(c.sectors, c.sectors);
    c.ready = std::max(c.ready, done + hit_latency_);
    Chunk& leader = context_.chunks[recent->leader];
    if (leader.generation == recent->generation && !leader.replied) {
      context_.add_waiter(leader, chunk, kAtCoalescer, false);
    } else {
      replies_.push_back(chunk);
    }
    return;
  }
  const LinePlaces& places = places_.of(chunk);
  const std::uint32_t partition = c.partition;
  prefetch_tags(places, all, partition);
  const std::uint32_t far = partition == 0 ? places.homes : ~places.homes & all;
  std::uint32_t misses = 0;
  std::uint32_t missed_sectors = 0;
  std::array<std::uint8_t, kChunkLines> present{};
  bool partial = false;
  const Tick now = context_.now();
  all_cached_ = true;
  const Tick slice_done = take_ports(c, all, places.slice, read_ports_[partition]);
  const LineMasks wanted = context_.masks(c);
  for (std::uint32_t i = 0, count = c.count; i < count; ++i) {
    const bool is_far = (far >> i & 1) != 0;
    const std::uint8_t fetch = look_up(chunk, wanted[i], i, partition, places, !is_far || near_copy_on_fill_);
    if (fetch != 0) {
      missed_sectors += count_sectors(fetch);
      misses |= 1U << i;
      present[i] = static_cast<std::uint8_t>(wanted[i] & ~fetch);
      partial = partial || fetch != wanted[i];
    }
  }
  count_read(c.sectors, c.sectors - missed_sectors);
  c.ready = std::max(c.ready, slice_done + hit_latency_);
  if (all_cached_) {
    recent_.note(chunk, c, places, now);
  }
  if (misses == 0 && c.outstanding == 0) {
    replies_.push_back(chunk);
    return;
  }
  if (misses != 0) {
    places_.keep(chunk);
    if (partial) {
      LinePlaces& kept = context_.line_places[c.places];
      kept.near = kept.home = present;
      kept.partial = true;
    }
  }
  const Tick after_tags = now + hit_latency_;
  const std::uint32_t near_misses = misses & ~far;
  const std::uint32_t far_misses = misses & far;
  if (near_misses != 0) {
    ++c.outstanding;
    c.near_mask = static_cast<std::uint16_t>(near_misses);
    c.served = ServedBy::kHbm;
    context_.post(after_tags, EventKind::kReadAtHbm, 0, chunk, line_event(near_misses, partition));
  }
  if (far_misses != 0) {
    ++c.outstanding;
    c.far_mask = static_cast<std::uint16_t>(far_misses);
    c.served = std::max(c.served, ServedBy::kFabric);
    // The request crosses first; data bandwidth is taken when the reply crosses back.
    context_.post(after_tags + fabric_latency_, EventKind::kReadAtHome, 0, chunk, far_misses);
  }
}

void L2::read_at_home(std::uint32_t chunk, std::uint32_t line_mask) {
  Chunk& c = context_.chunks[chunk];
  LinePlaces& places = context_.line_places[c.places];
  const std::uint32_t home_partition = c.partition ^ 1U;
  const Tick now = context_.now();
  const Tick slice_done = take_ports(c, line_mask, places.slice, read_ports_[home_partition]);
  std::uint32_t misses = 0;
  ++c.outstanding;
  const LineMasks masks = context_.masks(c);
  for (std::uint32_t m = line_mask; m != 0; m &= m - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(m));
    const std::uint8_t mask = masks[i];
    const auto wanted = static_cast<std::uint8_t>(mask & ~places.near[i]);
    const std::uint8_t fetch = look_up(chunk, wanted, i, home_partition, places, true);
    if (fetch != 0) {
      misses |= 1U << i;
      places.home[i] = static_cast<std::uint8_t>(mask & ~fetch);
      places.partial = places.partial || fetch != mask;
    } else if (near_copy_on_hit_) {
      look_up(chunk, wanted, i, c.partition, places, true);
    }
  }
  const auto sectors = static_cast<std::uint64_t>(crossing_bytes(chunk, line_mask) / kSectorBytes);
  context_.counters.add(Counter::kLtsFabricSectors, sectors);
  context_.counters.add(Counter::kLtsSectors, sectors);
  context_.counters.add(Counter::kLtsReadSectors, sectors);
  --c.outstanding;
  const std::uint32_t hits = line_mask & ~misses;
  if (misses != 0) {
    ++c.outstanding;
    c.served = ServedBy::kHbm;
    context_.post(now + hit_latency_, EventKind::kReadAtHbm, 0, chunk, line_event(misses, home_partition));
  }
  if (hits != 0) {
    ++c.outstanding;
    // Lines that another chunk is fetching into the home are counted as hits; they cross once they are there, which
    // the waiter list sees to, so the crossing time below is a lower bound for them.
    context_.post(slice_done + hit_latency_, EventKind::kCrossFabric, 0, chunk, hits);
  }
  piece_done(chunk);
}

void L2::fill(std::uint32_t chunk, std::uint32_t line_mask, std::uint32_t partition) {
  const Chunk& c = context_.chunks[chunk];
  const LinePlaces& places = places_.of(chunk);
  const LineMasks masks = context_.masks(c);
  TagArray& tags = tags_[partition];
  for (std::uint32_t m = line_mask; m != 0; m &= m - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(m));
    const std::uint32_t index = tags.find(places.set[i], places.tag[i]);
    if (index != TagArray::kMiss) {  // otherwise read around the cache
      tags.fill(index, chunk, filled(masks[i], partition, i, places));
    }
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
  cross_fabric(chunk, line_mask);
}

void L2::cross_fabric(std::uint32_t chunk, std::uint32_t line_mask) {
  Resource& fabric = fabric_[context_.chunks[chunk].partition];
  const Tick crossed = fabric.reserve(context_.now(), crossing_bytes(chunk, line_mask)) + fabric_latency_;
  context_.post(crossed, EventKind::kFabricDone, 0, chunk, line_mask);
}

void L2::fabric_done(std::uint32_t chunk, std::uint32_t line_mask) {
  Chunk& c = context_.chunks[chunk];
  fill(chunk, line_mask, c.partition);
  c.far_mask = static_cast<std::uint16_t>(c.far_mask & ~line_mask);
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
    replies_.push_back(chunk);
  }
}

void L2::evict(const TagArray::Victim& victim, std::uint32_t partition, std::uint32_t set) {
  if (victim.dirty != 0) {
    --dirty_[partition].dirty_lines;
    write_backs_.push_back(WriteBack{map_.line_of({set, victim.tag}), victim.dirty});
  }
}

bool L2::mark_dirty(std::uint32_t tag, std::uint8_t mask, std::uint32_t partition, std::uint32_t set) {
  TagArray& tags = tags_[partition];
  std::uint32_t index = tags.find(set, tag);
  const bool arrives = index == TagArray::kMiss;
  if (arrives) {
    TagArray::Victim victim;
    index = tags.allocate(set, tag, victim);
    if (index == TagArray::kMiss) {
      write_backs_.push_back(WriteBack{map_.line_of({set, tag}), mask});  // every way is being filled: write through
      return true;
    }
    evict(victim, partition, set);
  }
  tags.touch(index);
  DirtyQueue& queue = dirty_[partition];
  if (tags.dirty(index) == 0) {
    ++queue.dirty_lines;
    queue.ring.push_back(DirtyEntry{tag, set});
  }
  tags.set_dirty(index, tags.dirty(index) | std::uint32_t{mask});
  tags.add_valid(index, mask);
  return arrives;
}

void L2::drop_copy(std::uint32_t tag, std::uint8_t mask, std::uint32_t partition, std::uint32_t set) {
  TagArray& tags = tags_[partition];
  if (const std::uint32_t index = tags.find(set, tag); index != TagArray::kMiss) {
    tags.drop(index, mask);
  }
}

void L2::limit_dirty(std::uint32_t partition, std::uint32_t arrivals) {
  // Lines that were there when they were stored to wait for those that need room.
  constexpr std::uint32_t kPerArrival = 2;
  std::uint32_t most = kPerArrival * arrivals;
  DirtyQueue& queue = dirty_[partition];
  if (queue.dirty_lines + kChunkLines > dirty_limit_lines_) {
    for (std::size_t i = queue.head; i < std::min<std::size_t>(queue.ring.size(), queue.head + kChunkLines); ++i) {
      tags_[partition].prefetch(queue.ring[i].set);  // the next chunk will push these out
      tags_[partition].prefetch_rare(queue.ring[i].set);
    }
  }
  while (most > 0 && queue.dirty_lines > dirty_limit_lines_ && queue.head < queue.ring.size()) {
    const DirtyEntry entry = queue.ring[queue.head++];
    const std::uint32_t index = tags_[partition].find(entry.set, entry.tag);
    if (index == TagArray::kMiss || tags_[partition].dirty(index) == 0) {
      continue;  // evicted or cleaned meanwhile
    }
    write_backs_.push_back(WriteBack{map_.line_of({entry.set, entry.tag}), tags_[partition].dirty(index)});
    tags_[partition].set_dirty(index, 0);
    --queue.dirty_lines;
    --most;
  }
  if (queue.head > 65536 && queue.head * 2 > queue.ring.size()) {
    queue.ring.erase(queue.ring.begin(), queue.ring.begin() + static_cast<std::ptrdiff_t>(queue.head));
    queue.head = 0;
  }
}

void L2::write_at_near(std::uint32_t chunk) {
  Chunk& c = context_.chunks[chunk];
  const LinePlaces& places = places_.of(chunk);
  const std::uint32_t partition = c.partition;
  const Tick now = context_.now();
  const std::uint32_t all = (1U << c.count) - 1;
  prefetch_tags(places, all, partition);
  const std::uint32_t homed = (partition == 0 ? ~places.homes : places.homes) & all;
  const std::int64_t merge = c.mask_flits * kMergeBytes / c.count;
  const Tick done = std::max(take_ports(c, homed, places.slice, write_ports_[partition], merge),
                             take_ports(c, all & ~homed, places.slice, write_ports_[partition]));
  std::uint32_t far = 0;
  std::uint32_t arrivals = 0;
  recent_.forget(c, partition ^ 1U);
  for (std::uint32_t i = 0; i < c.count; ++i) {
    const std::uint8_t mask = context_.mask(c, i);
    const std::uint32_t set = places.set[i];
    if ((places.homes >> i & 1) == partition) {
      arrivals += mark_dirty(places.tag[i], mask, partition, set) ? 1 : 0;
      if (tags_.size() > 1) {
        drop_copy(places.tag[i], mask, partition ^ 1U, set);
      }
      continue;
    }
    far |= 1U << i;
    TagArray& tags = tags_[partition];
    std::uint32_t index = tags.find(set, places.tag[i]);
    if (index != TagArray::kMiss) {
      tags.add_stored(index, mask);
    } else if (store_leaves_copy_) {
      TagArray::Victim victim;
      index = tags.allocate(set, places.tag[i], victim);
      if (index != TagArray::kMiss) {
        evict(victim, partition, set);
        tags.add_valid(index, mask);
      }
    }
  }
  context_.counters.add(Counter::kLtsSectors, c.sectors);
  context_.counters.add(Counter::kLtsWriteSectors, c.sectors);
  context_.counters.add(Counter::kLtsFromSmSectors, c.sectors);
  context_.counters.add(Counter::kLtsFromSmHitSectors, c.sectors);
  limit_dirty(partition, arrivals);
  c.ready = std::max({c.ready, done + hit_latency_, store_room_});
  if (far != 0) {
    places_.keep(chunk);
    const std::int64_t masks = std::int64_t{std::popcount(far)} * c.mask_flits / c.count * kSectorBytes;
    const Tick sent = fabric_[partition ^ 1U].reserve(now, bytes_of(c, far) + masks);
    const Tick crossed = std::max(sent, now + hit_latency_) + fabric_latency_;
    context_.post(crossed, EventKind::kWriteAtHome, 0, chunk, far);
  } else {
    replies_.push_back(chunk);
  }
}

void L2::write_at_home(std::uint32_t chunk, std::uint32_t line_mask) {
  Chunk& c = context_.chunks[chunk];
  const LinePlaces& places = places_.of(chunk);
  const std::uint32_t partition = c.partition ^ 1U;
  const Tick done =
      take_ports(c, line_mask, places.slice, write_ports_[partition], c.mask_flits * kMergeBytes / c.count);
  std::uint32_t arrivals = 0;
  for (std::uint32_t m = line_mask; m != 0; m &= m - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(m));
    arrivals += mark_dirty(places.tag[i], context_.mask(c, i), partition, places.set[i]) ? 1 : 0;
  }
  const auto sectors = static_cast<std::uint64_t>(bytes_of(c, line_mask) / kSectorBytes);
  context_.counters.add(Counter::kLtsSectors, sectors);
  context_.counters.add(Counter::kLtsWriteSectors, sectors);
  context_.counters.add(Counter::kLtsFabricSectors, sectors);
  limit_dirty(partition, arrivals);
  c.ready = std::max(c.ready, done + hit_latency_ + fabric_latency_);
  replies_.push_back(chunk);
}

Tick L2::slice_busy_ticks() const {
  Tick reads = 0;
  Tick writes = 0;
  for (std::size_t p = 0; p < read_ports_.size(); ++p) {
    reads += read_ports_[p].busy();
    writes += write_ports_[p].busy();
  }
  return std::max(reads, writes);
}

}  // namespace strata

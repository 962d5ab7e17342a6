// Stores: written through, sector by sector.
#include <algorithm>
#include <span>

#include "models/hw/sm/sm.hpp"

namespace strata {

namespace {
/// Lines that a run of bytes leaves with a sector covered in part: those of its two ends.
std::uint32_t ragged_lines(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  const std::uint32_t first = address % kSectorBytes != 0 ? 1 : 0;
  const std::uint32_t last = end % kSectorBytes != 0 ? 1 : 0;
  return address / kLineBytes == end / kLineBytes ? std::max(first, last) : first + last;
}
}  // namespace

std::size_t Sm::mask_flits(const Operation& op, const Stream& stream, std::size_t sectors) const {
  const MemoryRef& m = op.mem;
  const std::size_t requests = requests_of(op, stream);
  if (m.pattern == Pattern::kTable) {
    return std::size_t{m.lanes} * m.lane_bytes < sectors * kSectorBytes ? lines_.size() : 0;
  }
  if (m.pattern == Pattern::kLanes) {
    if (m.lane_pitch != m.lane_bytes) {
      return std::abs(m.lane_pitch) < m.lane_bytes ? 0 : lines_.size();  // lanes apart: no sector is whole
    }
    return requests * ragged_lines(m.address, std::uint64_t{m.lanes} * m.lane_bytes);
  }
  if (m.lane_pitch > m.lane_bytes) {
    return std::min(sectors, requests * kWarpLanes / lanes_of_row(m));
  }
  const bool one_run = m.rows == 1 || m.row_pitch == static_cast<std::int64_t>(m.row_bytes);
  return one_run ? ragged_lines(m.address, std::uint64_t{m.rows} * m.row_bytes)
                 : m.rows * std::size_t{ragged_lines(m.address, m.row_bytes)};
}

void Sm::keep_stored_lines() {
  prefetch_l1_tags();
  // Written through, and kept: what was stored is valid, the rest of the line is fetched when it is read.
  for (const LineAccess& access : lines_) {
    const L1Place place = l1_place(access.line);
    std::uint32_t index = l1_.find(place.set, place.tag);
    if (index == L1Tags::kMiss) {
      index = l1_.allocate(place.set, place.tag);
    } else {
      l1_.touch(index);
    }
    if (index != L1Tags::kMiss) {
      l1_.add_stored(index, access.mask);
    }
  }
}

void Sm::merge_with_open(Tick now) {
  std::size_t kept = 0;
  for (const LineAccess& access : lines_) {
    if (const std::uint8_t rest = open_stores_.add(access, now); rest != 0) {
      lines_[kept++] = LineAccess{access.line, rest};
    }
  }
  lines_.resize(kept);
}

Tick Sm::start_store(std::uint32_t slot, std::uint32_t stream_index, const Operation& op, Tick issued) {
  const Stream& stream = ctas_[slot].streams[stream_index];
  collect_lines(op, stream);
  const bool bulk = op.kind == OpKind::kTma;
  // One request of one warp: of several the order among other warps' requests is not known.
  const bool pieces = !bulk && op.mem.dir == MemDir::kStore && op.mem.pattern == Pattern::kBox &&
                      op.mem.lane_pitch > op.mem.lane_bytes && stream.num_warps == 1 && requests_of(op, stream) == 1;
  const std::uint32_t transfer = new_transfer(slot, stream_index, op);
  const Tick now = context().now();
  Tick ready = issued;
  std::uint32_t all_sectors = 0;
  for (const LineAccess& a : lines_) {
    all_sectors += count_sectors(a.mask);
  }
  std::int64_t path_bytes = 0;  // of a sector
  if (bulk) {
    const std::int64_t bytes = std::int64_t{all_sectors} * kSectorBytes;
    ready = std::max(ready, smem_read_.reserve(now, bytes)) + cycles(config().tma.store_latency_cycles);
    context().counters.add(Counter::kTmaBytes, static_cast<std::uint64_t>(bytes));
  } else {
    context().counters.add(Counter::kGlobalRequests, requests_of(op, stream));
    ready = std::max(ready, l1_tags_port_.reserve(now, static_cast<std::int64_t>(lines_.size()) * kScale));
    path_bytes = all_sectors > 0 ? data_path_bytes(op, stream, all_sectors) / all_sectors : 0;
    if (op.mem.dir == MemDir::kStore) {
      keep_stored_lines();
    }
  }
  Tick passed = now;  // a warp's next piece follows when this one is on the data path
  if (pieces) {
    passed = smem_read_.reserve(now, path_bytes * all_sectors);
    ready = std::max(ready, passed);
    path_bytes = 0;
    merge_with_open(now);
    all_sectors = 0;
    for (const LineAccess& a : lines_) {
      all_sectors += count_sectors(a.mask);
    }
  }
  Transfer& t = context().transfers[transfer];
  const std::span<const LineAccess> all(lines_);
  const std::size_t masks = !bulk && op.mem.dir == MemDir::kStore
                                ? std::min<std::size_t>(all_sectors, mask_flits(op, stream, all_sectors))
                                : 0;
  for (std::size_t i = 0; i < all.size(); i += kChunkLines) {
    const std::uint32_t handle = context().new_chunk();
    Chunk& c = context().chunks[handle];
    c.sm = index_;
    c.partition = port_->partition;
    c.transfer = transfer;
    c.write = true;
    c.atomic = op.mem.dir == MemDir::kAtomic || op.mem.dir == MemDir::kReduce;
    context().set_lines(c, all.subspan(i, std::min<std::size_t>(kChunkLines, all.size() - i)));
    // Spread evenly over the chunks.
    c.mask_flits = static_cast<std::uint8_t>((i + c.count) * masks / all.size() - i * masks / all.size());
    ++t.remaining;
    ++t.unsent;
    const Tick data = path_bytes > 0 ? smem_read_.reserve(now, path_bytes * c.sectors) : now;
    store_queue_.push(QueuedChunk{handle, std::max(ready, data)});
    ++store_chunks_queued_;
  }
  context().counters.add(Counter::kStoredSectors, all_sectors);
  if (t.remaining == 0) {  // nothing in range, or all of it in stores that are open
    t.done_at = issued;
    t.counts_in_stream = true;
    ++ctas_[slot].outstanding;
    context().post(issued, EventKind::kTransferDone, index_, transfer);
    return passed;
  }
  ++ctas_[slot].outstanding;  // until the last chunk has left the SM
  pump();
  return passed;
}

}  // namespace strata
